// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/source/source_pane.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QShortcut>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/model/evidence_place.h"
#include "gui/model/text.h"
#include "gui/widgets/pane_note.h"
#include "gui/widgets/table_style.h"
#include "gui/widgets/toolbar.h"
#include "storage/replay/repeated_step.h"
#include "storage/timeline/time_point.h"

namespace tidemark::gui {

namespace {

constexpr int source_pause = 60;        // milliseconds: several moves of the cursor cause one request
constexpr int source_live_pause = 250;  // a growing run moves the cursor all the time

struct SourceRequest {
    std::shared_ptr<const Analysis> analysis;
    TimePoint point;
    std::optional<std::pair<EventNumber, EventNumber>> range;
    std::vector<AllocationIndex> leaked;
    StringId file = 0;
    SourcePlaces places;
    std::shared_ptr<const ShownSource> before;
};

/// Returns the text of the file, read again only if another file or place is meant.
std::shared_ptr<const SourceFile> text_of(const SourceRequest& request, StringId file, const std::string& path) {
    const ShownSource* before = request.before.get();
    if (before != nullptr && before->trace == request.analysis->shared_trace() && before->file == file &&
        before->path == path) {
        return before->text;
    }
    const Trace& trace = request.analysis->trace();
    return std::make_shared<const SourceFile>(read_source(trace, trace.stacks.string(file), path));
}

std::shared_ptr<const ShownSource> make_source(const SourceRequest& request) {
    const Analysis& analysis = *request.analysis;
    const Trace& trace = analysis.trace();
    ShownSource shown{analysis.shared_trace(), {}, request.file, {}, std::make_shared<const SourceFile>()};
    shown.memory = memory_by_line(
        trace, analysis.device(), analysis.live(),
        {request.point, peak_time_point(trace, analysis.device(), analysis.curves()), request.range, request.leaked});
    if (shown.file == 0 && !shown.memory.files.empty()) {
        shown.file = shown.memory.files.front().file;
    }
    if (shown.file != 0) {
        shown.path = request.places.path_of(trace.stacks.string(shown.file));
        shown.text = text_of(request, shown.file, shown.path);
    }
    return std::make_shared<const ShownSource>(std::move(shown));
}

/// Returns the allocations of all leaks, also if the run has grown since it was explained.
std::vector<AllocationIndex> leaked_now(const Session& session) {
    std::vector<AllocationIndex> leaked;
    const auto explained = session.explanation_source().explained();
    for (const Finding& finding : explained ? explained->explanation.findings : std::vector<Finding>()) {
        const auto memory = finding.severity == Severity::leak ? selection_of_memory(session, explained, finding)
                                                               : std::optional<SelectionState>();
        if (memory && memory->memory) {
            leaked.insert(leaked.end(), memory->memory->begin(), memory->memory->end());
        }
    }
    std::sort(leaked.begin(), leaked.end());
    leaked.erase(std::unique(leaked.begin(), leaked.end()), leaked.end());
    return leaked;
}

/// Returns the line of the user's own code that a selection is about; 0: none.
FrameId selected_line(const Session& session) {
    const SelectionState& state = session.selection().state();
    const StackTable& stacks = session.trace().stacks;
    if (state.allocation != no_allocation) {
        return own_line(stacks, session.device().allocations.stack[state.allocation]);
    }
    if (state.memory) {
        return own_line(session.trace(), session.device(), *state.memory);
    }
    return state.stack ? own_line(stacks, *state.stack) : 0;
}

QString short_file_name(const std::string& file) { return name_text(file.substr(file.find_last_of('/') + 1)); }

}  // namespace

SourcePane::SourcePane(QWidget* parent)
    : QWidget(parent),
      task_(this, OnNewerRequest::finish_running,
            [this](std::shared_ptr<const ShownSource> shown) { take(std::move(shown)); }),
      model_(new SourceModel(this)) {
    setAccessibleName(tr("Source with the bytes of each line"));
    make_table();
    origin_ = new QLabel(this);
    origin_->setObjectName(QStringLiteral("origin"));
    origin_->setAccessibleName(tr("Origin of the text"));
    origin_->setTextFormat(Qt::PlainText);
    origin_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    origin_->setContentsMargins(6, 0, 6, 0);
    note_ = make_pane_note(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(make_toolbar());
    column->addWidget(origin_);
    column->addWidget(table_, 1);
    delay_.setSingleShot(true);
    connect(&delay_, &QTimer::timeout, this, &SourcePane::request);
    set_session(nullptr);
}

QWidget* SourcePane::make_toolbar() {
    files_ = new QComboBox;
    files_->setAccessibleName(tr("Source file"));
    files_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    files_->setMaximumWidth(360);
    connect(files_, &QComboBox::activated, this, [this](int) {
        wanted_file_ = files_->currentData().toUInt();
        wanted_line_ = 0;
        request();
    });
    auto* before = tool_button(tr("▲ Hot line"), tr("Go to the line with memory of its own above (Shift+F8)"),
                               [this] { go_to_hot_line(-1); });
    auto* after = tool_button(tr("▼ Hot line"), tr("Go to the line with memory of its own below (F8)"),
                              [this] { go_to_hot_line(1); });
    search_ = input_field(tr("Find in the code"), tr("Find in the code"));
    search_->setMaximumWidth(180);
    connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
        delegate_->set_search(text.trimmed());
        table_->viewport()->update();
    });
    connect(search_, &QLineEdit::returnPressed, this, &SourcePane::find_next);
    find_folder_ = new QPushButton(tr("Find the folder…"));
    find_folder_->setToolTip(tr("Shows where the folder of this file is on this machine"));
    connect(find_folder_, &QPushButton::clicked, this, &SourcePane::ask_folder);
    open_ = tool_button(tr("Open in editor"), {}, [this] { open_editor(); });
    open_->setPopupMode(QToolButton::MenuButtonPopup);
    auto* menu = new QMenu(open_);
    menu->addAction(tr("Set the editor's command…"), this, &SourcePane::ask_editor);
    open_->setMenu(menu);
    auto* bar = new Toolbar(this);
    for (QWidget* control : std::initializer_list<QWidget*>{files_, before, after, search_, open_, find_folder_}) {
        bar->add(control);
    }
    for (const auto& [keys, direction] : {std::pair("F8", 1), std::pair("Shift+F8", -1)}) {
        auto* shortcut = new QShortcut(QKeySequence(QLatin1String(keys)), this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, [this, to = direction] { go_to_hot_line(to); });
    }
    return bar;
}

void SourcePane::make_table() {
    table_ = new QTableView(this);
    table_->setModel(model_);
    table_->setAccessibleName(tr("Lines of the source"));
    set_table_style(table_);
    table_->setAlternatingRowColors(false);
    delegate_ = new SourceDelegate(*model_, table_);
    table_->setItemDelegate(delegate_);
    table_->horizontalHeader()->setSectionResizeMode(SourceModel::code, QHeaderView::Stretch);
    for (int column = SourceModel::active; column < SourceModel::line; ++column) {
        const QString title = model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        const int bytes = fontMetrics().horizontalAdvance(QStringLiteral("1,023 MiB"));
        table_->setColumnWidth(column, std::max(fontMetrics().horizontalAdvance(title), bytes) + 22);
    }
    connect(table_->horizontalHeader(), &QHeaderView::sectionResized, this, [this](int column) {
        if (column == SourceModel::code) {
            fit_notes();
        }
    });
    table_->setColumnWidth(SourceModel::line, fontMetrics().horizontalAdvance(QStringLiteral("88888")) + 16);
    add_copy_actions(table_);
    table_->installEventFilter(this);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) { select_row(current.row()); });
    // A click on the row that the pane moved to changes no current row.
    connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) { select_row(index.row()); });
}

void SourcePane::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->explanation_source().disconnect(this);
    }
    task_.abandon();
    delay_.stop();
    session_ = session != nullptr && session->has_device() ? session : nullptr;
    shown_ = nullptr;
    wanted_file_ = 0;
    wanted_line_ = 0;
    model_->show({});
    files_->clear();
    if (session_) {
        connect(&session_->selection(), &Selection::time_point_changed, this, &SourcePane::schedule);
        connect(&session_->selection(), &Selection::selected_changed, this, &SourcePane::follow_selection);
        connect(&session_->selection(), &Selection::device_changed, this, &SourcePane::schedule);
        connect(session_, &Session::grown, this, &SourcePane::schedule);
        connect(&session_->explanation_source(), &ExplanationSource::changed, this, &SourcePane::schedule);
    }
    follow_selection();
    show_origin();
    show_note();
}

QString SourcePane::file() const {
    return shown_ && shown_->file != 0 ? to_qstring(shown_->trace->stacks.string(shown_->file)) : QString();
}

QString SourcePane::origin_text() const { return origin_->text(); }

void SourcePane::restore(const QStringList& moved_folders, const QString& editor) {
    places_.set_moved_folders(moved_folders);
    editor_ = editor;
}

// --- What to show -------------------------------------------------------------------------------------------------

void SourcePane::schedule() {
    if (session_ && !delay_.isActive()) {
        delay_.start(session_->is_live() ? source_live_pause : source_pause);
    }
}

/// Shows the line of the user's own code that the selection is about.
void SourcePane::follow_selection() {
    if (!session_ || is_selecting_) {
        return;
    }
    if (const FrameId line = selected_line(*session_); line != 0) {
        wanted_file_ = session_->trace().stacks.frame(line).file;
        wanted_line_ = session_->trace().stacks.frame(line).line;
    }
    schedule();
}

/// Shows the line of the first finding about a leak, a failure or waste, unless something is selected.
void SourcePane::begin_with_finding() {
    const auto explained = session_->explanation_source().explained();
    if (!explained || explained->explanation.findings.empty() || wanted_file_ != 0) {
        return;
    }
    const Finding& first = explained->explanation.findings.front();
    const StackTable& stacks = session_->trace().stacks;
    const FrameId line = first.severity <= Severity::waste && first.stack != 0 ? own_line(stacks, first.stack) : 0;
    if (line != 0) {
        wanted_file_ = stacks.frame(line).file;
        wanted_line_ = stacks.frame(line).line;
    }
}

void SourcePane::request() {
    stale_ = !isVisible();
    if (!session_ || stale_) {
        return;
    }
    if (!shown_) {
        begin_with_finding();
    }
    const SelectionState& state = session_->selection().state();
    SourceRequest request{
        session_->shared_analysis(), state.time_point, {}, leaked_now(*session_), wanted_file_, places_, shown_};
    if (state.range) {
        const TimeView& view = session_->time_view();
        request.range = {last_state(session_->device(), view.point_at(state.range->first)),
                         last_state(session_->device(), view.point_at(state.range->second))};
    }
    task_.start([request = std::move(request)](Progress&) { return make_source(request); });
}

void SourcePane::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    show_note();
    if (stale_ || !shown_) {
        request();
    }
}

void SourcePane::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    note_->setGeometry(table_->geometry());
}

// --- Results ------------------------------------------------------------------------------------------------------

void SourcePane::take(std::shared_ptr<const ShownSource> shown) {
    const bool is_other_file = !shown_ || shown_->file != shown->file || shown_->text != shown->text;
    const bool goes_to_hottest_line = is_other_file && wanted_line_ == 0;
    shown_ = std::move(shown);
    fill_files();
    fill_rows();
    if (goes_to_hottest_line) {
        show_row(model_->hottest_row());
    }
    show_origin();
    show_note();
}

void SourcePane::fill_files() {
    files_->clear();
    bool had_own = false, had_library = false;
    for (const FileMemory& file : shown_->memory.files) {
        if (!file.is_own_code && had_own && !had_library) {
            files_->insertSeparator(files_->count());
        }
        (file.is_own_code ? had_own : had_library) = true;
        const std::string& name = shown_->trace->stacks.string(file.file);
        files_->addItem(tr("%1 · %2 active").arg(short_file_name(name), bytes_text(file.total.active)), file.file);
        files_->setItemData(files_->count() - 1, tip_text(to_qstring(name)), Qt::ToolTipRole);
    }
    files_->setCurrentIndex(files_->findData(shown_->file));
    files_->setToolTip(tip_text(file()));
}

void SourcePane::fill_rows() {
    const int line_before = table_->currentIndex().isValid() ? model_->row_at(table_->currentIndex().row()).line : 0;
    const QPoint scrolled(table_->horizontalScrollBar()->value(), table_->verticalScrollBar()->value());
    const auto explained = session_->explanation_source().explained();
    const std::vector<LineNote> notes =
        explained && shown_->file != 0 ? notes_of(*explained, shown_->file) : std::vector<LineNote>();
    model_->show(source_rows_of(*shown_->trace, shown_->memory.find(shown_->file), *shown_->text, notes));
    fit_notes();
    table_->verticalScrollBar()->setValue(scrolled.y());
    if (wanted_line_ != 0) {
        show_row(model_->row_of(std::exchange(wanted_line_, 0)));
    } else if (const int row = model_->row_of(line_before); row >= 0 && line_before != 0) {
        is_showing_ = true;
        table_->selectionModel()->setCurrentIndex(model_->index(row, SourceModel::code),
                                                  QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        is_showing_ = false;
        table_->verticalScrollBar()->setValue(scrolled.y());
    }
}

/// Breaks notes into lines: their end is the fix.
void SourcePane::fit_notes() {
    for (int row = 0; row < model_->rowCount(); ++row) {
        if (model_->row_at(row).kind == SourceRow::Kind::note) {
            const int width = table_->columnWidth(SourceModel::code);
            table_->setRowHeight(row, delegate_->note_height(row, width, table_->font()));
        }
    }
}

/// Moves to a row without selecting its memory.
void SourcePane::show_row(int row) {
    if (row < 0) {
        return;
    }
    is_showing_ = true;
    table_->setCurrentIndex(model_->index(row, SourceModel::code));
    table_->scrollTo(model_->index(row, SourceModel::code), QAbstractItemView::PositionAtCenter);
    is_showing_ = false;
}

void SourcePane::show_origin() {
    const bool has_file = shown_ && shown_->file != 0;
    const SourceFile& text = has_file ? *shown_->text : SourceFile();
    const QString path = to_qstring(text.path);
    QString sentence;
    switch (text.origin) {
        case SourceOrigin::nowhere:
            sentence = tr("The text of %1 is neither in the trace nor on this machine.").arg(file());
            break;
        case SourceOrigin::trace:
            sentence = text.disagrees
                           ? tr("⚠ Text from the trace: %1 has changed since the recording.").arg(path)
                           : tr("Text from the trace, which has the lines around those that it names. %1").arg(file());
            break;
        case SourceOrigin::checked_file:
            sentence = tr("Text from %1, which agrees with the lines in the trace.").arg(path);
            break;
        case SourceOrigin::file:
            sentence =
                text.is_newer
                    ? tr("⚠ Text from %1, which was changed after the recording began: lines may have moved.").arg(path)
                    : tr("Text from %1; the trace has no lines of it.").arg(path);
            break;
    }
    origin_->setText(has_file ? sentence : QString());
    origin_->setToolTip(tip_text(origin_->text()));
    find_folder_->setVisible(has_file && text.path.empty());
    open_->setEnabled(has_file);
    open_->setToolTip(!has_file           ? tr("No file is shown")
                      : text.path.empty() ? tr("This file does not exist on this machine: copies file:line")
                                          : tip_text(tr("Opens %1").arg(path)));
}

void SourcePane::show_note() {
    const bool has_lines = model_->rowCount() > 0;
    const QString note = has_lines   ? QString()
                         : !session_ ? tr("No trace is open. Open one to see the memory of its source.")
                         : !shown_   ? tr("Adding up the memory of each line…")
                                     : tr("No stack of this trace has a line of a source file.");
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
    note_->setGeometry(table_->geometry());
    note_->raise();
}

}  // namespace tidemark::gui
