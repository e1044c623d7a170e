// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/tree/tree_pane.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "gui/widgets/toolbar.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

namespace {
constexpr int moving_pause = 40;  // milliseconds: several moves of the cursor cause one request
constexpr int live_pause = 250;   // a growing run moves the cursor all the time
}  // namespace

TreePane::TreePane(QWidget* parent)
    : QWidget(parent),
      // A tree for each place of a fast cursor: the picture follows instead of waiting for a pause.
      task_(this, OnNewerRequest::finish_running,
            [this](std::shared_ptr<const ShownTree> shown) { take(std::move(shown)); }) {
    setAccessibleName(tr("Call tree"));
    view_ = new TreeView(this);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(make_toolbar());
    layout->addWidget(view_, 1);
    setTabOrder(search_, view_);
    delay_.setSingleShot(true);
    connect(&delay_, &QTimer::timeout, this, &TreePane::request);
    connect(view_, &TreeView::zoom_changed, this, [this] { whole_->setEnabled(view_->zoomed() != CallTree::root); });
    connect(view_, &TreeView::search_requested, search_, qOverload<>(&QWidget::setFocus));
    set_session(nullptr);
}

QWidget* TreePane::make_toolbar() {
    memory_ = new QComboBox;
    memory_->addItem(tr("At the cursor"), static_cast<int>(TreeMemory::at_cursor));
    memory_->addItem(tr("The finding's memory"), static_cast<int>(TreeMemory::of_finding));
    memory_->addItem(tr("Grown in the range"), static_cast<int>(TreeMemory::grown_in_range));
    memory_->setItemData(1, tr("Select a finding that is about allocations"), Qt::ToolTipRole);
    memory_->setItemData(2, tr("Drag a range in a plot. Shown is what was allocated in it and exists at its end"),
                         Qt::ToolTipRole);
    memory_->setAccessibleName(tr("Memory of the call tree"));
    path_ = new QComboBox;
    path_->addItem(tr("Top-down"), static_cast<int>(TreePath::top_down));
    path_->addItem(tr("Bottom-up"), static_cast<int>(TreePath::bottom_up));
    path_->setItemData(0, tr("From the start of the program down to the lines that allocate"), Qt::ToolTipRole);
    path_->setItemData(1, tr("From the lines that allocate down to their callers"), Qt::ToolTipRole);
    path_->addItem(tr("By module"), static_cast<int>(TreePath::modules));
    path_->setItemData(2, tr("From the model down to the modules whose forward or backward allocated"),
                       Qt::ToolTipRole);
    path_->setAccessibleName(tr("What the call tree follows"));
    shape_ = new QComboBox;
    shape_->addItem(tr("Icicle"), static_cast<int>(TreeShape::icicle));
    shape_->addItem(tr("Treemap"), static_cast<int>(TreeShape::treemap));
    shape_->setItemData(0, tr("A row per level, each box as wide as its bytes"), Qt::ToolTipRole);
    shape_->setItemData(1, tr("Each box as large as its bytes, inside of its caller or module"), Qt::ToolTipRole);
    shape_->setAccessibleName(tr("Shape of the call tree"));
    own_code_ = new QCheckBox(tr("Own code only"));
    own_code_->setToolTip(tr("Leaves out the frames of libraries"));
    search_ = input_field(tr("Find a function, file or module"), tr("Find frames and modules"));
    search_->setMaximumWidth(200);
    found_ = new QLabel;
    found_->setTextFormat(Qt::PlainText);
    found_->setAccessibleName(tr("Search result"));
    whole_ = tool_button(tr("Whole"), tr("Show the whole call tree (Home)"), [this] { view_->show_whole(); });
    time_ = new QLabel;
    time_->setAccessibleName(tr("Time of the call tree"));
    auto* bar = new Toolbar(this);
    for (QWidget* control :
         std::initializer_list<QWidget*>{memory_, path_, shape_, own_code_, whole_, search_, found_}) {
        bar->add(control);
    }
    bar->add_right(time_);
    connect(memory_, &QComboBox::currentIndexChanged, this, &TreePane::request);
    connect(path_, &QComboBox::currentIndexChanged, this, [this] {
        own_code_->setEnabled(path() != TreePath::modules);
        request();
    });
    connect(shape_, &QComboBox::currentIndexChanged, this,
            [this] { view_->set_shape(static_cast<TreeShape>(shape_->currentData().toInt())); });
    connect(own_code_, &QCheckBox::toggled, this, &TreePane::request);
    connect(search_, &QLineEdit::returnPressed, view_, &TreeView::focus_next_found);
    connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
        view_->set_search(text.trimmed());
        show_search_result();
    });
    return bar;
}

void TreePane::set_session(Session* session) {
    if (session_) {
        session_->selection().disconnect(this);
    }
    task_.abandon();
    delay_.stop();
    empty_trace_ = session && !session->has_device();
    session_ = session && session->has_device() ? session : nullptr;
    view_->set_session(session_);
    time_->clear();
    if (session_) {
        const Selection& selection = session_->selection();
        // Growth alone changes nothing of past times. A cursor at the end of a growing run moves.
        connect(&selection, &Selection::time_point_changed, this, &TreePane::schedule);
        connect(&selection, &Selection::selected_changed, this, &TreePane::follow_selection);
        connect(&selection, &Selection::range_moved, this, &TreePane::follow_selection);
        connect(&selection, &Selection::device_changed, this, [this] {
            task_.abandon();
            view_->set_session(session_);
            follow_selection();
        });
    }
    follow_selection();
    request();
}

// --- What to show -----------------------------------------------------------------------------------------------

bool TreePane::has_memory(TreeMemory memory) const {
    if (!session_) {
        return memory == TreeMemory::at_cursor;
    }
    const SelectionState& state = session_->selection().state();
    switch (memory) {
        case TreeMemory::at_cursor: return true;
        case TreeMemory::of_finding: return state.memory != nullptr;
        case TreeMemory::grown_in_range: return state.range.has_value();
    }
    return false;
}

TreePath TreePane::path() const { return static_cast<TreePath>(path_->currentData().toInt()); }
TreeMemory TreePane::memory() const { return static_cast<TreeMemory>(memory_->currentData().toInt()); }

void TreePane::set_memory(TreeMemory memory) { memory_->setCurrentIndex(memory_->findData(static_cast<int>(memory))); }

void TreePane::set_options(const CallTreeOptions& options) {
    path_->setCurrentIndex(path_->findData(static_cast<int>(options.path)));
    own_code_->setChecked(options.own_code_only);
}

/// Offers what is selected. Without it, the pane shows the cursor's memory again.
void TreePane::follow_selection() {
    const auto* items = static_cast<QStandardItemModel*>(memory_->model());
    for (int i = 0; i < memory_->count(); ++i) {
        items->item(i)->setEnabled(has_memory(static_cast<TreeMemory>(memory_->itemData(i).toInt())));
    }
    if (!has_memory(memory())) {
        set_memory(TreeMemory::at_cursor);
    } else if (session_ && memory() != TreeMemory::at_cursor) {
        schedule();
    }
}

void TreePane::schedule() {
    if (session_ && !delay_.isActive()) {
        delay_.start(session_->is_live() ? live_pause : moving_pause);
    }
}

TreeRequest TreePane::current_request() const {
    const SelectionState& state = session_->selection().state();
    TreeRequest request{session_->shared_analysis(), memory(), state.time_point, state.memory, std::nullopt, {}};
    if (state.range) {
        const TimeView& view = session_->time_view();
        request.range = {view.point_at(state.range->first), view.point_at(state.range->second)};
    }
    request.options = {path(), own_code_->isChecked()};
    return request;
}

void TreePane::request() {
    stale_ = !isVisible();
    if (session_ && !stale_) {
        const TreeRequest request = current_request();
        show_time(request);
        task_.start([request](Progress&) { return std::make_shared<const ShownTree>(make_tree(request)); });
    }
    show_note();
}

void TreePane::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) {
        request();
    }
}

// --- Results ----------------------------------------------------------------------------------------------------

void TreePane::take(std::shared_ptr<const ShownTree> shown) {
    view_->set_tree(std::move(shown));
    show_note();
    show_search_result();
}

void TreePane::show_time(const TreeRequest& request) {
    const auto time = [&](const TimePoint& point) { return time_point_text(time_of(session_->device(), point)); };
    time_->setText(request.memory == TreeMemory::grown_in_range
                       ? tr("%1 to %2").arg(time(request.range->first), time(request.range->second))
                       : time(request.cursor));
}

void TreePane::show_note() {
    QString note;
    if (!session_) {
        note = empty_trace_ ? tr("This trace has no memory events of any device.")
                            : tr("No trace is open. Open one to see which calls allocated its memory.");
    } else if (!view_->shown()) {
        note = tr("Computing the call tree…");
    } else {
        switch (view_->shown()->request.memory) {
            case TreeMemory::at_cursor: note = tr("Nothing is allocated at the cursor."); break;
            case TreeMemory::of_finding:
                note =
                    tr("None of the finding's memory is allocated at the cursor. Move the cursor to a point in time "
                       "at which the finding's plot is above zero.");
                break;
            case TreeMemory::grown_in_range:
                note = tr("Nothing that was allocated in the range is still allocated at its end.");
                break;
        }
    }
    view_->set_note(note);
}

void TreePane::set_shape(TreeShape shape) { shape_->setCurrentIndex(shape_->findData(static_cast<int>(shape))); }

void TreePane::search(const QString& text) { search_->setText(text); }
QString TreePane::search_result() const { return found_->text(); }

void TreePane::show_search_result() {
    const FoundFrames& found = view_->found();
    if (found.is_found.empty()) {
        found_->clear();
        return;
    }
    const uint64_t whole = view_->shown()->tree.node(CallTree::root).total;
    found_->setText(found.count == 0
                        ? tr("Nothing contains this.")
                        : tr("%1 (%2) in %3 place(s)", nullptr, plural(found.count))
                              .arg(bytes_text(found.bytes),
                                   percent_text(static_cast<double>(found.bytes), static_cast<double>(whole)),
                                   count_text(found.count)));
}

}  // namespace tidemark::gui
