// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/sql/sql_pane.h"

#include <QAction>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/model/palette.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "gui/widgets/pane_note.h"
#include "gui/widgets/table_style.h"
#include "gui/widgets/toolbar.h"
#include "storage/query/query_names.h"

namespace tidemark::gui {

namespace {

constexpr int most_remembered = 30;    // queries
constexpr int narrow_pane = 720;       // pixels: below, the rows are under the editor
constexpr int widest_column = 420;     // pixels, at first
constexpr int tick_pause = 100;        // milliseconds
constexpr qsizetype menu_length = 80;  // characters

/// Returns a button that opens a menu, which it owns.
QToolButton* menu_button(const QString& text, const QString& tip, QMenu*& menu) {
    auto* button = tool_button(text, tip, [] {});
    menu = new QMenu(button);
    menu->setToolTipsVisible(true);
    button->setMenu(menu);
    button->setPopupMode(QToolButton::InstantPopup);
    return button;
}

/// Menus take & for a mnemonic.
QString menu_text(const QString& text) {
    QString line = text.simplified();
    if (line.size() > menu_length) {
        line = line.left(menu_length) + QChar(0x2026);
    }
    return line.replace(QLatin1Char('&'), QLatin1String("&&"));
}

}  // namespace

SqlPane::SqlPane(QWidget* parent)
    : QWidget(parent), task_(this, OnNewerRequest::cancel_running, [this](const auto& answer) { take(*answer); }) {
    setAccessibleName(tr("SQL console"));
    editor_ = new SqlEditor;
    editor_->setPlaceholderText(tr("SELECT … FROM allocations"));
    error_ = new QLabel;
    error_->setAccessibleName(tr("Error of the query"));
    error_->setWordWrap(true);
    error_->setTextFormat(Qt::PlainText);
    error_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    error_->setContentsMargins(8, 2, 8, 2);
    auto* input = new QWidget;
    auto* column = new QVBoxLayout(input);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(editor_, 1);
    column->addWidget(error_);
    split_ = new QSplitter(Qt::Horizontal);
    split_->setChildrenCollapsible(false);
    split_->addWidget(input);
    split_->addWidget(make_results());
    split_->setStretchFactor(0, 2);
    split_->setStretchFactor(1, 3);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(make_toolbar());
    layout->addWidget(split_, 1);
    for (const int key : {Qt::Key_Return, Qt::Key_Enter}) {
        auto* shortcut = new QShortcut(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(key)), this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, &SqlPane::run);
    }
    tick_.setInterval(tick_pause);
    connect(&tick_, &QTimer::timeout, this, &SqlPane::show_busy);
    if (!query_examples().empty()) {
        editor_->setPlainText(QString::fromUtf8(query_examples().front().sql));
    }
    set_session(nullptr);
}

QWidget* SqlPane::make_toolbar() {
    run_ = new QPushButton(tr("Run"));
    run_->setToolTip(tr("Run the query (Ctrl+Enter)"));
    run_->setAccessibleName(run_->toolTip());
    connect(run_, &QPushButton::clicked, this, &SqlPane::run);
    cancel_ = tool_button(tr("Cancel"), tr("Cancel the query (Esc)"), [this] { cancel(); });
    QMenu* examples = nullptr;
    QMenu* tables = nullptr;
    auto* bar = new Toolbar;
    bar->add(run_);
    bar->add(cancel_);
    bar->add(menu_button(tr("Examples"), tr("Questions with their SQL"), examples));
    bar->add(menu_button(tr("Tables"), tr("Insert the name of a view, a table or a column"), tables));
    bar->add(menu_button(tr("History"), tr("Queries that ran"), history_menu_));
    fill_tables(*tables);
    // In the language of the moment.
    connect(examples, &QMenu::aboutToShow, this, [this, examples] { fill_examples(*examples); });
    connect(history_menu_, &QMenu::aboutToShow, this, &SqlPane::fill_history);
    return bar;
}

QWidget* SqlPane::make_results() {
    auto* results = new QWidget;
    make_table();
    status_ = new QLabel;
    status_->setAccessibleName(tr("Number of rows and time of the query"));
    status_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    status_->setContentsMargins(8, 0, 8, 4);
    status_->setWordWrap(true);
    note_ = make_pane_note(table_);
    auto* column = new QVBoxLayout(results);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(table_, 1);
    column->addWidget(status_);
    return results;
}

void SqlPane::make_table() {
    model_ = new SqlModel(this);
    table_ = new QTableView;
    table_->setModel(model_);
    table_->setAccessibleName(tr("Rows of the query"));
    set_table_style(table_);
    QHeaderView* header = table_->horizontalHeader();
    header->setStretchLastSection(true);
    header->setSortIndicatorClearable(true);
    header->setSortIndicator(-1, Qt::AscendingOrder);
    table_->setSortingEnabled(true);
    add_copy_actions(table_);
    connect(table_, &QTableView::activated, this, &SqlPane::select_allocation);
}

void SqlPane::set_session(Session* session) {
    task_.abandon();
    session_ = session;
    show_rows(nullptr);
    show_error({});
    show_busy();
}

// --- Menus ------------------------------------------------------------------------------------------------------

void SqlPane::fill_examples(QMenu& menu) {
    menu.clear();
    const Words words = reader_words();
    for (const QueryExample& example : query_examples()) {
        menu.addAction(menu_text(QString::fromStdString(words.translate(example.question))), this, [this, &example] {
            editor_->replace_text(QString::fromUtf8(example.sql));
            run();
        });
    }
}

void SqlPane::fill_tables(QMenu& menu) {
    bool was_view = false;
    for (const QueryTable& table : query_tables()) {
        if (was_view && !table.is_view) {
            menu.addSeparator();
        }
        was_view = table.is_view;
        const QString name = QString::fromStdString(table.name);
        QMenu* columns = menu.addMenu(name);
        columns->addAction(name, this, [this, name] { editor_->insert_name(name); });
        columns->addSeparator();
        for (const std::string& column : table.columns) {
            const QString inserted = QString::fromStdString(column);
            columns->addAction(inserted, this, [this, inserted] { editor_->insert_name(inserted); });
        }
    }
}

void SqlPane::fill_history() {
    history_menu_->clear();
    for (const QString& sql : history_) {
        QAction* action = history_menu_->addAction(menu_text(sql), this, [this, sql] { editor_->replace_text(sql); });
        action->setToolTip(tip_text(sql));
    }
    if (history_.isEmpty()) {
        history_menu_->addAction(tr("No query has run yet"))->setEnabled(false);
    }
}

void SqlPane::remember(const QString& sql) {
    history_.removeAll(sql);
    history_.prepend(sql);
    history_ = history_.mid(0, most_remembered);
}

void SqlPane::restore(const QString& sql, const QStringList& history) {
    history_ = history.mid(0, most_remembered);
    if (!sql.trimmed().isEmpty()) {
        editor_->setPlainText(sql);
    }
}

// --- Running ----------------------------------------------------------------------------------------------------

void SqlPane::run() {
    if (!session_) {
        return;
    }
    const QString sql = editor_->toPlainText();
    remember(sql);
    show_rows(nullptr);
    show_error({});
    clock_.start();
    task_.start([trace = session_->shared_trace(), text = sql.toStdString()](Progress& progress) {
        auto answer = std::make_shared<SqlAnswer>();
        auto outcome = query_trace(*trace, text, {}, progress);
        if (outcome) {
            answer->rows = std::make_shared<const QueryRows>(*std::move(outcome));
        } else {
            answer->failure = std::move(outcome.error());
        }
        return std::shared_ptr<const SqlAnswer>(std::move(answer));
    });
    tick_.start();
    show_busy();
}

void SqlPane::cancel() {
    if (task_.busy()) {
        task_.abandon();
        show_busy();
        status_->setText(tr("Canceled."));
    }
}

void SqlPane::take(const SqlAnswer& answer) {
    show_busy();
    show_rows(answer.rows);
    if (!answer.rows) {
        show_error(QStringLiteral("⚠ ") + error_text(answer.failure->error));
        editor_->mark_error(answer.failure->offset);
    }
}

void SqlPane::show_rows(const std::shared_ptr<const QueryRows>& rows) {
    table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    model_->show(rows);
    status_->clear();
    if (rows) {
        table_->resizeColumnsToContents();
        for (int column = 0; column < model_->columnCount(); ++column) {
            table_->setColumnWidth(column, std::min(table_->columnWidth(column), widest_column));
        }
        const auto count = static_cast<int64_t>(rows->row_count());
        const QString time = duration_text(rows->duration);
        status_->setText(rows->cut == QueryCut::none
                             ? tr("%1 row(s) in %2", nullptr, plural(count)).arg(count_text(count), time)
                             : tr("The first %1 row(s) in %2. The query has more: add WHERE, GROUP BY or LIMIT.",
                                  nullptr, plural(count))
                                   .arg(count_text(count), time));
    }
    show_note();
}

void SqlPane::show_error(const QString& text) {
    error_->setText(text);
    error_->setVisible(!text.isEmpty());
    editor_->mark_error(std::nullopt);
    show_note();
}

void SqlPane::show_busy() {
    const bool is_busy = task_.busy();
    run_->setEnabled(session_ && !is_busy);
    cancel_->setVisible(is_busy);
    if (is_busy) {
        status_->setText(tr("Running for %1").arg(duration_text(clock_.nsecsElapsed())));
    } else {
        tick_.stop();
    }
    show_note();
}

void SqlPane::show_note() {
    const QString note = task_.busy() || model_->rowCount() > 0 || !error_->text().isEmpty() ? QString()
                         : model_->columnCount() > 0
                             ? tr("The query has no rows.")
                             : tr("Ctrl+Enter runs the query. Examples has questions to begin with.");
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
    note_->setGeometry(table_->rect());
    note_->raise();
}

QString SqlPane::status() const { return status_->text(); }
QString SqlPane::error() const { return error_->text(); }

// --- Selection --------------------------------------------------------------------------------------------------

void SqlPane::select_allocation(const QModelIndex& index) {
    const auto id = model_->allocation_of(index);
    if (!session_ || !id) {
        return;
    }
    const auto& devices = session_->trace().devices;
    for (size_t position = 0; position < devices.size(); ++position) {
        if (const auto allocation = devices[position].find_allocation(*id)) {
            Selection& selection = session_->selection();
            if (selection.state().device != static_cast<int>(position)) {
                selection.select_device(static_cast<int>(position));
            }
            selection.select_allocation(*allocation);
            return;
        }
    }
    status_->setText(tr("The window does not show allocation %1 yet.").arg(*id));
}

void SqlPane::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && task_.busy()) {
        cancel();
        return;
    }
    QWidget::keyPressEvent(event);
}

void SqlPane::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    split_->setOrientation(width() < narrow_pane ? Qt::Vertical : Qt::Horizontal);
    note_->setGeometry(table_->rect());
}

}  // namespace tidemark::gui
