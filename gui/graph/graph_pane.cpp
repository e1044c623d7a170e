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
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include "gui/graph/fullest_time_point.h"
#include "gui/graph/root_list.h"
#include "gui/graph/why_alive.h"
#include "gui/model/graph_text.h"
#include "gui/model/text.h"
#include "gui/view/tool_button.h"

namespace tidemark::gui {

namespace {
constexpr int scrubbing_pause = 40;  // milliseconds
constexpr int polling_pause = 100;
enum Shown { alive, reachable_from, around, made_in };
}  // namespace

struct GraphPane::Request {
    std::shared_ptr<const Graph> graph;
    std::shared_ptr<const Answer> before;  ///< may be null
    int64_t time = 0;
    GraphRegion region;
    std::optional<std::vector<uint64_t>> opened;
    BoxMetrics metrics;
    bool keep_place = false;
};

GraphPane::GraphPane(QWidget* parent)
    : QWidget(parent),
      task_(this, [this](const std::shared_ptr<const Answer>& answer) { take(answer); }),
      search_task_(this,
                   [this](const std::shared_ptr<const std::vector<NodeIndex>>& nodes) {
                       view_->show_found(*nodes);
                       found_->setText(nodes->empty()
                                           ? tr("nothing found")
                                           : tr("%1 found").arg(nodes_text(static_cast<int64_t>(nodes->size()))));
                   }),
      fullest_task_(this,
                    [this](const std::shared_ptr<const std::optional<int64_t>>& time) {
                        if (*time && session_) {
                            session_->selection().set_time_point(session_->device().events_until(**time));
                        }
                    }),
      view_(new GraphView),
      roots_(new RootList) {
    setAccessibleName(tr("Graph: what keeps memory alive"));
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
    split_->setSizes({290, 640, 330});
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
    connect(view_, &GraphView::open_asked, this, &GraphPane::open_group);
    connect(view_, &GraphView::close_asked, this, &GraphPane::close_group);
    connect(view_, &GraphView::scan_requested, this, &GraphPane::focus_search);
    connect(roots_, &RootList::selected, this, &GraphPane::select_node);
    connect(roots_, &RootList::opened, this, [this](NodeIndex root) {
        set_region({GraphRegion::Kind::reachable_from, root});
    });
    connect(order_, &QComboBox::activated, this,
            [this](int order) { roots_->roots().set_order(static_cast<RootOrder>(order)); });
    set_session(nullptr);
}

QWidget* GraphPane::make_toolbar() {
    auto* bar = new QWidget;
    show_ = new QComboBox;
    show_->addItems({tr("Everything alive"), tr("What the chosen node keeps"), tr("Around the chosen node"),
                     tr("Made in one step")});
    show_->setAccessibleName(tr("Part of the graph"));
    show_->setToolTip(tr("The step is that of the chosen node, or of the largest root"));
    color_by_ = new QComboBox;
    color_by_->addItems({tr("Colour: state"), tr("Colour: kept bytes"), tr("Colour: age")});
    color_by_->setAccessibleName(tr("What colours stand for"));
    search_ = new QLineEdit;
    search_->setPlaceholderText(tr("Find type, module, line, parameter, > 1 MiB"));
    search_->setAccessibleName(tr("Find nodes"));
    search_->setClearButtonEnabled(true);
    search_->setMinimumWidth(fontMetrics().horizontalAdvance(search_->placeholderText()) + 36);
    found_ = new QLabel;
    figures_ = new QLabel;
    figures_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    figures_->setAccessibleName(tr("Figures of the graph at the cursor"));
    const auto button = [&](const QString& text, const QString& tip, auto slot) {
        auto* b = tool_button(text, tip);
        connect(b, &QToolButton::clicked, this, slot);
        return b;
    };
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 4, 8, 0);
    row->addWidget(show_);
    row->addWidget(color_by_);
    row->addWidget(button(QStringLiteral("−"), tr("Zoom out (-)"), [this] { view_->zoom_by(1 / 1.25); }));
    row->addWidget(button(QStringLiteral("+"), tr("Zoom in (+)"), [this] { view_->zoom_by(1.25); }));
    row->addWidget(button(tr("Fit"), tr("Show everything (0)"), [this] { view_->fit(); }));
    row->addWidget(search_);
    row->addWidget(found_);
    row->addStretch(1);
    row->addWidget(figures_);
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
    fullest_ = new QPushButton(tr("Go to the moment when the graph kept most memory"));
    connect(fullest_, &QPushButton::clicked, this, &GraphPane::go_to_fullest);
    auto* column = new QVBoxLayout(page);
    column->addStretch(1);
    auto* row = new QHBoxLayout;
    row->addStretch(1);
    row->addWidget(note_, 3);
    row->addStretch(1);
    column->addLayout(row);
    column->addWidget(progress_, 0, Qt::AlignHCenter);
    column->addWidget(fullest_, 0, Qt::AlignHCenter);
    column->addStretch(2);
    return page;
}

// ---- the session
// ---------------------------------------------------------------------------------------------------------

void GraphPane::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->graph_source().disconnect(this);
    }
    task_.abandon();
    search_task_.abandon();
    fullest_task_.abandon();
    session_ = session && session->has_device() ? session : nullptr;
    region_ = {};
    opened_.reset();
    shown_.reset();
    reset_place_ = true;
    show_->setCurrentIndex(alive);
    view_->set_session(session_);
    roots_->roots().show({});
    if (session_) {
        connect(&session_->selection(), &Selection::time_point_changed, this, &GraphPane::schedule);
        connect(&session_->selection(), &Selection::selected_changed, this, &GraphPane::show_reason);
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
    return {session_->graph(), shown_, session_->cursor_time(), region_, opened_, view_->metrics(), !reset_place_};
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
    picture->scene =
        make_scene(picture->index(), *picture->time_point, *picture->outline, result->opened, r.metrics, progress);
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
        reveal_now();
    }
}

// ---- what is shown
// ---------------------------------------------------------------------------------------------------------

void GraphPane::set_colors(GraphColors by) {
    color_by_->setCurrentIndex(static_cast<int>(by));
    view_->set_colors(by);
    emit colors_changed();
}

GraphColors GraphPane::colors() const { return static_cast<GraphColors>(color_by_->currentIndex()); }

void GraphPane::select_region(int choice) {
    std::optional<NodeIndex> node = session_ ? session_->selection().state().node : std::nullopt;
    if (!node && shown_ && !shown_->picture->time_point->roots().empty()) {
        node = shown_->picture->time_point->roots().front();
    }
    GraphRegion region;
    if (choice != alive && node) {
        region.kind = choice == reachable_from  ? GraphRegion::Kind::reachable_from
                      : choice == around ? GraphRegion::Kind::around
                                         : GraphRegion::Kind::made_in;
        region.node = choice == made_in ? no_node : *node;
        region.step = choice == made_in ? shown_->picture->index().step_of(*node) : -1;
    }
    set_region(region);
}

void GraphPane::set_region(const GraphRegion& region) {
    if (region != region_) {
        region_ = region;
        opened_.reset();
        reset_place_ = true;
        request();
    }
    show_->setCurrentIndex(static_cast<int>(region.kind));
}

void GraphPane::open_group(uint64_t key) {
    if (shown_) {
        opened_ = with_opened(*shown_->picture->outline, opened_.value_or(shown_->opened), key);
        request();
    }
}

void GraphPane::close_group(uint64_t key) {
    if (shown_) {
        opened_ = opened_.value_or(shown_->opened);
        std::erase(*opened_, key);
        request();
    }
}

QString GraphPane::note_text() const { return pages_->currentIndex() == 0 ? note_->text() : QString(); }

void GraphPane::show_note() {
    using State = GraphSource::State;
    const State state = session_ ? session_->graph_source().state() : State::not_asked;
    const bool reading = state == State::reading && !session_->graph();
    const bool nothing_alive = shown_ && shown_->picture->outline->empty();
    QString note;
    if (!session_) {
        note = tr("No trace with memory events is open.");
    } else if (reading || (state == State::ready && session_->graph()->has_nodes() && !shown_)) {
        note = tr("Reading the graph…");
    } else if (state == State::failed) {
        note = tr("The graph could not be read: %1").arg(session_->graph_source().problem());
    } else if (session_->graph() && !session_->graph()->has_nodes() && !session_->graph()->index.tables().empty()) {
        note =
            tr("<b>The program made no autograd graph while it was recorded.</b><br><br>What its allocations are and "
               "who holds them stands in the table and in the details of each.");
    } else if (!session_->graph() || !session_->graph()->has_nodes()) {
        note =
            tr("<b>No autograd graph is recorded in this trace.</b><br><br>A recording by <code>tidemark record</code> "
               "(File › "
               "Record…) holds it: its part <code>graph</code> is on unless it was switched off. PyTorch's own memory "
               "snapshots do not know the graph.");
    } else if (nothing_alive) {
        note =
            region_.kind == GraphRegion::Kind::alive
                ? tr("<b>No node of the graph is alive at this moment.</b><br><br>Every graph was given back, or none "
                     "was made yet.")
                : tr("<b>Nothing of this part of the graph is alive at this moment.</b>");
    }
    note_->setText(note);
    progress_->setVisible(reading);
    fullest_->setVisible(nothing_alive);
    if (reading) {
        progress_->setValue(static_cast<int>(session_->graph_source().fraction() * 100));
        poll_.start();
    } else {
        poll_.stop();
    }
    pages_->setCurrentIndex(note.isEmpty() ? 1 : 0);
    for (QWidget* control :
         {static_cast<QWidget*>(show_), static_cast<QWidget*>(search_), static_cast<QWidget*>(color_by_)}) {
        control->setEnabled(session_ && session_->graph() && session_->graph()->has_nodes());
    }
}

void GraphPane::show_figures() {
    const GraphState& time_point = *shown_->picture->time_point;
    figures_->setText(
        tr("%1 alive keep <b>%2</b>")
            .arg(nodes_text(time_point.alive_nodes()), bytes_text(static_cast<uint64_t>(time_point.reachable_bytes()))));
}

void GraphPane::show_reason() {
    reason_ = {};
    if (session_ && shown_ && shown_->picture->graph == session_->graph()) {
        const SelectionState& selected = session_->selection().state();
        const auto device = static_cast<uint32_t>(selected.device);
        const GraphPicture& picture = *shown_->picture;
        const CategoryLookup lookup = session_->categories();
        if (selected.node && *selected.node < picture.index().tables().nodes.size()) {
            reason_ = why_node_is_alive(picture, *selected.node, device);
        } else if (lookup.knows(selected.allocation)) {
            reason_ = why_allocation_is_alive(picture, lookup.ref(selected.allocation));
        } else if (!shown_->roots->empty()) {
            reason_ = why_most_is_alive(picture, shown_->roots->front(), device);
            reason_.note(tr("Choose a box, a root, or an allocation in any pane to see what keeps that alive."));
        } else {
            reason_.title(tr("Why is it alive?"));
            reason_.note(
                tr("Choose a box, a root, or an allocation in any pane: here stands what keeps it alive, from the "
                   "variable that holds the root down to the block."));
            reason_.note(
                tr("A box is a group of nodes; a double click opens it. Hovering lights the memory it keeps."));
        }
    }
    why_->setHtml(
        reason_.html(Theme::current(), why_->font(), QFontDatabase::systemFont(QFontDatabase::FixedFont).family()));
}

void GraphPane::search() {
    const GraphQuery query = parse_graph_query(search_->text());
    roots_->roots().set_query(query);
    if (query.empty() || !shown_) {
        search_task_.abandon();
        found_->clear();
        view_->show_found({});
        return;
    }
    search_task_.start([picture = shown_->picture, query](Progress& progress) {
        return find_nodes(picture->index(), *picture->time_point, query, progress);
    });
}

void GraphPane::focus_search() {
    search_->setFocus();
    search_->selectAll();
}

void GraphPane::go_to_fullest() {
    if (session_ && session_->graph()) {
        fullest_task_.start([graph = session_->graph()](Progress&) {
            return std::make_shared<const std::optional<int64_t>>(fullest_time_point(graph->index));
        });
    }
}

void GraphPane::select_node(NodeIndex node) {
    if (session_) {
        session_->selection().select_node(node);
        reveal_node(node);
    }
}

void GraphPane::reveal_node(NodeIndex node) {
    if (const auto& picture = view_->picture()) {
        if (const int box = picture->scene->box_of(*picture->outline, node); box >= 0) {
            view_->reveal(box);
        }
    }
}

void GraphPane::reveal_choice() {
    if (region_.kind != GraphRegion::Kind::alive) {
        set_region({});
    }
    reveals_ = true;
    if (!busy() && !stale_) {
        reveal_now();
    }
}

void GraphPane::reveal_now() {
    const bool there =
        std::exchange(reveals_, false) && session_ && shown_ && shown_->picture->graph == session_->graph();
    if (there && session_->selection().state().node) {
        reveal_node(*session_->selection().state().node);
    }
}

void GraphPane::follow(const QString& link) {
    if (link.startsWith(QStringLiteral("node:"))) {
        select_node(link.section(u':', 1).toUInt());
    } else {
        emit link_activated(link);
    }
}

bool GraphPane::busy() const {
    return task_.busy() || search_task_.busy() || fullest_task_.busy() || delay_.isActive() ||
           (session_ && session_->graph_source().state() == GraphSource::State::reading);
}

void GraphPane::render_to(QPaintDevice& device, QSize size) {
    const QSize before = this->size();
    resize(size);
    view_->fit();
    QPainter painter(&device);
    render(&painter);
    resize(before);
}

QByteArray GraphPane::save_state() const {
    QByteArray state;
    QDataStream stream(&state, QIODevice::WriteOnly);
    stream << split_->saveState() << color_by_->currentIndex() << order_->currentIndex();
    return state;
}

void GraphPane::restore_state(const QByteArray& state) {
    QByteArray split;
    int colors = 0, order = 0;
    QDataStream stream(state);
    stream >> split >> colors >> order;
    if (stream.status() == QDataStream::Ok && !split.isEmpty()) {
        split_->restoreState(split);
        set_colors(static_cast<GraphColors>(std::clamp(colors, 0, color_by_->count() - 1)));
        order_->setCurrentIndex(std::clamp(order, 0, order_->count() - 1));
        roots_->roots().set_order(static_cast<RootOrder>(order_->currentIndex()));
    }
}

void GraphPane::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) {
        request();
    }
}

void GraphPane::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        show_reason();
    }
}

}  // namespace tidemark::gui
