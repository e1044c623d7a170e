// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane with the program's source and the bytes of each line.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>
#include <optional>

#include "gui/model/latest_only.h"
#include "gui/model/session.h"
#include "gui/source/source_model.h"
#include "gui/source/source_places.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;
class QToolButton;

namespace tidemark::gui {

/// The memory of all files, and the text of one of them.
struct ShownSource {
    std::shared_ptr<const Trace> trace;
    SourceMemory memory;
    StringId file = 0;  ///< 0: none has memory
    std::string path;   ///< where it was looked for
    std::shared_ptr<const SourceFile> text;
};

/// Follows the cursor and the selection while it is visible. Thread: GUI; a worker adds up memory and reads files.
class SourcePane : public QWidget {
    Q_OBJECT
public:
    explicit SourcePane(QWidget* parent = nullptr);

    void set_session(Session* session);
    SourceModel& model() { return *model_; }
    /// Returns the file that is shown as stacks name it; empty: none.
    QString file() const;
    /// Returns the sentence about where the text is from.
    QString origin_text() const;
    /// Looks for the shown file in a folder of this machine. Returns false if it is not there.
    bool find_in_folder(const QString& folder);
    void go_to_hot_line(int direction);
    bool busy() const { return task_.busy() || delay_.isActive(); }

    QStringList moved_folders() const { return places_.moved_folders(); }
    QString editor() const { return editor_; }
    void restore(const QStringList& moved_folders, const QString& editor);

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* make_toolbar();
    void make_table();
    void schedule();
    void follow_selection();
    void begin_with_finding();
    void request();
    void take(std::shared_ptr<const ShownSource> shown);
    void fill_files();
    void fill_rows();
    void fit_notes();
    void show_row(int row);
    void show_origin();
    void show_note();
    void select_row(int row);
    void find_next();
    void ask_folder();
    void ask_editor();
    void open_editor();

    QPointer<Session> session_;
    std::shared_ptr<const ShownSource> shown_;
    SourcePlaces places_;
    QString editor_;
    bool stale_ = false, is_selecting_ = false, is_showing_ = false;
    StringId wanted_file_ = 0;  ///< 0: the first
    int32_t wanted_line_ = 0;   ///< to show when the file is there; 0: none
    LatestOnly<ShownSource> task_;
    QTimer delay_;
    SourceModel* model_;
    SourceDelegate* delegate_;
    QComboBox* files_;
    QToolButton* open_;
    QPushButton* find_folder_;
    QLineEdit* search_;
    QLabel* origin_;
    QLabel* note_;
    QTableView* table_;
};

}  // namespace tidemark::gui
