// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// One window, one trace.
#pragma once

#include <QMainWindow>
#include <QStackedWidget>

#include "gui/app/actions.h"
#include "gui/app/application.h"
#include "gui/app/export.h"
#include "gui/app/loader.h"
#include "gui/app/record_dialog.h"
#include "gui/app/start_page.h"
#include "gui/app/status_line.h"
#include "gui/app/trace_page.h"

namespace tidemark::gui {

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(Application& application);
    ~MainWindow() override;

    void open(const QString& path);  ///< opens in the background; in a new window if this one shows a trace
    void show_session(std::shared_ptr<Session> session, const QString& file);
    void close_trace();
    /// Takes the content and place of another window (change of language).
    void take_over(MainWindow& other);
    void refresh_now() { page_->refresh_now(); }

    TracePage& page() { return *page_; }
    const Actions& actions() const { return *actions_; }
    const MessageBar& message() const { return *message_; }
    bool loading() const { return loader_.busy(); }

signals:
    void trace_shown();
    void trace_failed(const QString& sentence);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

private:
    struct Shown {
        std::shared_ptr<Session> session;
        QString file;
    };
    struct Exportable {
        QString id, name;
        QWidget* widget;
        PaintOn paint;
    };

    void make_actions();
    void make_file_menu();
    void make_view_menu();
    void make_axis_menus();
    void make_go_menu();
    void make_compare_menu();
    void make_help_menu();
    void fill_recent_menu();
    void follow_session();
    void update_actions();
    void update_status();

    void ask_for_file();
    QString folder_to_open_from() const;
    void ask_for_job();
    void swap_compared();
    void stop_comparing();
    void show_record_dialog();
    void remember_summary();
    void reload();
    std::vector<Exportable> exportables();
    void export_picture(const Exportable& what);
    void copy_picture(const Exportable& what);
    void export_table(const QString& name, const std::function<void(const QString& path)>& write);
    void show_export(const QString& path, const QString& error);
    void save_explanation();
    void show_share_dialog();
    void show_result(const Status& status, const QString& success);
    void show_about();

    Application& application_;
    Loader loader_;
    QStackedWidget* stack_;
    StartPage* start_;
    LoadingPage* loading_;
    TracePage* page_;
    MessageBar* message_;
    Actions* actions_;
    QMenu* recent_menu_ = nullptr;
    RecordDialog* record_ = nullptr;  ///< made on first use
    QString file_;                    ///< the path the user opened
    Shown before_swap_;               ///< what the user opened; no session: A and B have not changed places
    QString pending_;                 ///< the path being opened
    std::unique_ptr<StatusLine> status_;
};

}  // namespace tidemark::gui
