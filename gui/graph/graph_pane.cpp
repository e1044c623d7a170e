// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_pane.h"

#include <QComboBox>
#include <QDataStream>
#include <QEvent>
#include <QFontDatabase>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

#include "gui/graph/graph_peak.h"
#include "gui/graph/root_list.h"
#include "gui/graph/why_alive.h"
#include "gui/model/graph_text.h"
#include "gui/model/text.h"
#include "gui/widgets/toolbar.h"

namespace tidemark::gui {

namespace {
constexpr int scrubbing_pause = 40;  // milliseconds
constexpr int polling_pause = 100;
}  // namespace

struct GraphPane::Request {
    std::shared_ptr<const Graph> graph;
    std::shared_ptr<const Answer> before;  ///< may be null
    int64_t time = 0;
    GraphRegion region;
    std::optional<std::vector<uint64_t>> opened;
    std::vector<NodeIndex> opened_for;
    BoxMetrics metrics;
    bool keep_place = false;
};

GraphPane::GraphPane(QWidget* parent)
    : QWidget(parent),
      task_(this, OnNewerRequest::cancel_running,
            [this](const std::shared_ptr<const Answer>& answer) { take(answer); }),
      search_task_(this, OnNewerRequest::cancel_running,
                   [this](const std::shared_ptr<const std::vector<NodeIndex>>& nodes) {
                       view_->show_found(*nodes);
                       found_->setText(nodes->empty()
                                           ? tr("nothing found")
                                           : tr("%1 found").arg(nodes_text(static_cast<int64_t>(nodes->size()))));
                   }),
      peak_task_(this, OnNewerRequest::cancel_running,
                 [this](const std::shared_ptr<const std::optional<int64_t>>& time) {
                     if (*time && session_) {
                         session_->selection().set_time_point(session_->device().events_until(**time));
                     }
                 }),
      view_(new GraphView),
      roots_(new RootList) {
    setAccessibleName(tr("Graph: what retains memory"));
    why_ = new QTextBrowser;
    why_->setOpenLinks(false);
    why_->setFrameShape(QFrame::NoFrame);
    why_->setMinimumWidth(180);
    why_->setAccessibleName(tr("Why is it alive"));
    connect(why_, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& url) { follow(url.toString(QUrl::FullyEncoded)); });

    order_ = new QComboBox;
    order_->addItems({tr("Roots by bytes"), tr("Roots by number"), tr("Roots by age"), tr("Roots by name")});
    order_->setAccessibleName(tr("Order of roots"));
    auto* left = new QWidget;
    auto* left_column = new QVBoxLayout(left);
    left_column->setContentsMargins(4, 0, 0, 0);
    left_column->setSpacing(2);
    left_column->addWidget(order_);
    left_column->addWidget(roots_, 1);

    split_ = new QSplitter(Qt::Horizontal);
    split_->addWidget(left);
    split_->addWidget(view_);
    split_->addWidget(why_);
    split_->setChildrenCollapsible(false);
    split_->setHandleWidth(5);
    split_->setStretchFactor(0, 0);
    split_->setStretchFactor(1, 1);
    split_->setStretchFactor(2, 0);
    connect(split_, &QSplitter::splitterMoved, this, [this] { divided_by_user_ = true; });
    pages_ = new QStackedWidget;
    pages_->addWidget(make_note());
    pages_->addWidget(split_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(make_toolbar());
    column->addWidget(pages_, 1);

    delay_.setSingleShot(true);
    delay_.setInterval(scrubbing_pause);
    poll_.setInterval(polling_pause);
    connect(&delay_, &QTimer::timeout, this, &GraphPane::request);
    connect(&poll_, &QTimer::timeout, this, &GraphPane::show_note);
    connect(view_, &GraphView::open_requested, this, &GraphPane::open_group);
    connect(view_, &GraphView::close_requested, this, &GraphPane::close_group);
    connect(view_, &GraphView::search_requested, this, &GraphPane::focus_search);
    connect(roots_, &RootList::selected, this, &GraphPane::select_node);
    connect(roots_, &RootList::opened, this, [this](NodeIndex root) {
        set_region({GraphRegion::Kind::reachable_from, root});
    });
    connect(order_, &QComboBox::activated, this,
            [this](int order) { roots_->roots().set_order(static_cast<RootOrder>(order)); });
    set_session(nullptr);
}

QWidget* GraphPane::make_toolbar() {
    show_ = new QComboBox;
    show_->addItems({tr("Everything alive"), tr("Reachable from the selected node"), tr("Around the selected node"),
                     tr("Created in one step")});
    show_->setAccessibleName(tr("Part of the graph"));
    show_->setToolTip(tr("The step of the selected node, or of the largest root"));
    color_by_ = new QComboBox;
    color_by_->addItems({tr("Color: state"), tr("Color: shallow size"), tr("Color: age")});
    color_by_->setAccessibleName(tr("Meaning of the colors"));
    search_ = input_field(tr("Find type, module, line, parameter, > 1 MiB"), tr("Find nodes"));
    search_->setMinimumWidth(fontMetrics().horizontalAdvance(search_->placeholderText()) + 36);
    found_ = new QLabel;
    figures_ = new QLabel;
    figures_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    figures_->setAccessibleName(tr("Figures of the graph at the cursor"));
    auto* bar = new Toolbar;
    bar->add(show_);
    bar->add(color_by_);
    bar->add_zoom([this](double factor) { view_->zoom_by(factor); }, [this] { view_->fit(); });
    bar->add(search_);
    bar->add(found_);
    bar->add_right(figures_);
    connect(show_, &QComboBox::activated, this, &GraphPane::select_region);
    connect(color_by_, &QComboBox::activated, this, [this](int by) { set_colors(static_cast<GraphColors>(by)); });
    connect(search_, &QLineEdit::textChanged, this, &GraphPane::search);
    connect(search_, &QLineEdit::returnPressed, view_, qOverload<>(&QWidget::setFocus));
    return bar;
}

QWidget* GraphPane::make_note() {
    auto* page = new QWidget;
    note_ = new QLabel;
    note_->setWordWrap(true);
    note_->setAlignment(Qt::AlignCenter);
    note_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    note_->setAccessibleName(tr("Why there is no drawing"));
    progress_ = new QProgressBar;
    progress_->setRange(0, 100);
    progress_->setMaximumWidth(260);
    peak_button_ = new QPushButton(tr("Go to the peak of the graph"));
    connect(peak_button_, &QPushButton::clicked, this, &GraphPane::go_to_peak);
    auto* column = new QVBoxLayout(page);
    column->addStretch(1);
    auto* row = new QHBoxLayout;
    row->addStretch(1);
    row->addWidget(note_, 3);
    row->addStretch(1);
    column->addLayout(row);
    column->addWidget(progress_, 0, Qt::AlignHCenter);
    column->addWidget(peak_button_, 0, Qt::AlignHCenter);
    column->addStretch(2);
    return page;
}

// ---- the session -----------------------------------------------------------------------------------------------

void GraphPane::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->graph_source().disconnect(this);
    }
    task_.abandon();
    search_task_.abandon();
    peak_task_.abandon();
    session_ = session && session->has_device() ? session : nullptr;
    region_ = {};
    opened_.reset();
    opened_for_.clear();
    shown_.reset();
    reset_place_ = true;
    show_->setCurrentIndex(static_cast<int>(GraphRegion::Kind::alive));
    view_->set_session(session_);
    roots_->roots().show({});
    if (session_) {
        connect(&session_->selection(), &Selection::time_point_changed, this, &GraphPane::schedule);
        connect(&session_->selection(), &Selection::selected_changed, this, &GraphPane::show_reason);
        connect(&session_->selection(), &Selection::selected_changed, this, &GraphPane::follow_selection);
        connect(&session_->graph_source(), &GraphSource::changed, this, &GraphPane::follow_graph);
        connect(&session_->graph_source(), &GraphSource::state_changed, this, &GraphPane::show_note);
    }
    follow_graph();
}

void GraphPane::follow_graph() {
    if (session_) {
        roots_->set_trace(session_->graph()
                              ? std::shared_ptr<const Trace>(session_->graph(), &session_->graph()->index.trace())
                              : nullptr);
        request();
    }
    show_note();
    show_reason();
}

void GraphPane::schedule() {
    if (!delay_.isActive()) {
        delay_.start();
    }
}

GraphPane::Request GraphPane::make_request() const {
    return {session_->graph(), shown_,      session_->cursor_time(), region_,
            opened_,           opened_for_, view_->metrics(),        !reset_place_};
}

void GraphPane::request() {
    stale_ = !isVisible();
    const bool there = session_ && session_->graph() && session_->graph()->has_nodes();
    if (there && !stale_) {
        task_.start([request = make_request()](Progress& progress) { return answer(request, progress); });
    }
}

std::shared_ptr<const GraphPane::Answer> GraphPane::answer(const Request& r, Progress& progress) {
    auto picture = std::make_shared<GraphPicture>();
    picture->graph = r.graph;
    picture->region = r.region;
    auto result = std::make_shared<Answer>();
    const GraphPicture* before = r.before && r.before->picture->graph == r.graph ? r.before->picture.get() : nullptr;
    const bool same_time_point = before != nullptr && before->time_point->time() == r.time;
    if (same_time_point) {
        picture->time_point = before->time_point;
        picture->referrers = before->referrers;
        result->roots = r.before->roots;
    } else {
        picture->time_point = std::make_shared<const GraphState>(r.graph->index, r.graph->categories, r.time);
        picture->referrers = std::make_shared<const ReferrerIndex>(r.graph->index, r.time);
        result->roots = std::make_shared<const std::vector<RootGroup>>(
            root_groups(picture->index(), *picture->time_point, *picture->referrers));
    }
    picture->outline = same_time_point && before->region == r.region
                           ? before->outline
                           : GraphOutline::make(picture->index(), *picture->time_point, r.region, progress);
    if (!picture->outline) {
        return nullptr;
    }
    result->opened = r.opened ? *r.opened : picture->outline->opened_at_first();
    picture->scene = make_scene(picture->index(), *picture->time_point, *picture->outline,
                                {result->opened, r.opened_for, root_referrers(*result->roots)}, r.metrics, progress);
    if (!picture->scene) {
        return nullptr;
    }
    result->picture = std::move(picture);
    result->keep_place = r.keep_place;
    return result;
}

void GraphPane::take(const std::shared_ptr<const Answer>& answer) {
    const bool new_roots = !shown_ || shown_->roots != answer->roots;
    shown_ = answer;
    reset_place_ = false;
    view_->set_picture(answer->picture, answer->keep_place);
    if (new_roots) {
        roots_->roots().show(*answer->roots);
    }
    if (!search_->text().isEmpty()) {
        search();
    }
    show_figures();
    show_note();
    show_reason();
    if (!task_.busy() && !delay_.isActive()) {
        if (follows_) {
            follow_selection();
        }
        reveal_now();
    }
}

}  // namespace tidemark::gui
