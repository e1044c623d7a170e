// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The SQL console: an editor, the rows of its query, and documented questions to begin with.
#pragma once

#include <QElapsedTimer>
#include <QPointer>
#include <QStringList>
#include <QTimer>
#include <QWidget>

#include "gui/model/latest_only.h"
#include "gui/model/session.h"
#include "gui/sql/sql_editor.h"
#include "gui/sql/sql_model.h"

class QLabel;
class QMenu;
class QPushButton;
class QSplitter;
class QTableView;
class QToolButton;

namespace tidemark::gui {

/// Rows or an error.
struct SqlAnswer {
    std::shared_ptr<const QueryRows> rows;  ///< null: the query failed
    std::optional<QueryFailure> failure;
};

/// Thread: GUI. Queries run in a worker on the file of the session's trace, as it is when they begin.
class SqlPane : public QWidget {
    Q_OBJECT
public:
    explicit SqlPane(QWidget* parent = nullptr);

    void set_session(Session* session);
    void run();
    void cancel();
    bool busy() const { return task_.busy(); }
    SqlEditor& editor() { return *editor_; }
    SqlModel& model() { return *model_; }
    QTableView& table() { return *table_; }
    /// Returns what the line below the rows says.
    QString status() const;
    /// Returns the error beside the editor; empty without one.
    QString error() const;

    /// The queries that ran, the newest first.
    QStringList history() const { return history_; }
    void restore(const QString& sql, const QStringList& history);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* make_toolbar();
    QWidget* make_results();
    void make_table();
    void fill_examples(QMenu& menu);
    void fill_tables(QMenu& menu);
    void fill_history();
    void remember(const QString& sql);
    void take(const SqlAnswer& answer);
    void show_rows(const std::shared_ptr<const QueryRows>& rows);
    void show_error(const QString& text);
    void show_busy();
    void show_note();
    void select_allocation(const QModelIndex& index);

    QPointer<Session> session_;
    LatestOnly<SqlAnswer> task_;
    QElapsedTimer clock_;
    QTimer tick_;
    QStringList history_;
    SqlEditor* editor_;
    SqlModel* model_;
    QPushButton* run_;
    QToolButton* cancel_;
    QMenu* history_menu_;
    QLabel* error_;
    QLabel* status_;
    QLabel* note_;
    QTableView* table_;
    QSplitter* split_;
};

}  // namespace tidemark::gui
