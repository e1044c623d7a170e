// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The content of the graph pane: the region, notes, figures, the retention path, and search results.
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

#include "gui/graph/graph_pane.h"
#include "gui/graph/graph_peak.h"
#include "gui/graph/root_list.h"
#include "gui/graph/why_alive.h"
#include "gui/model/graph_text.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {
constexpr size_t most_shown = 4;  // nodes that retain the selected allocation
}

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
    const auto kind = static_cast<GraphRegion::Kind>(choice);
    if (kind != GraphRegion::Kind::alive && node) {
        const bool of_step = kind == GraphRegion::Kind::created_in;
        region.kind = kind;
        region.node = of_step ? no_node : *node;
        region.step = of_step ? shown_->picture->index().step_of(*node) : -1;
    }
    set_region(region);
}

void GraphPane::set_region(const GraphRegion& region) {
    if (region != region_) {
        region_ = region;
        opened_.reset();
        opened_for_.clear();
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
        const GraphOutline& outline = *shown_->picture->outline;
        std::erase_if(opened_for_, [&](NodeIndex node) {
            GroupIndex g = outline.group_of(node);
            while (g != no_group && outline.group(g).key != key) {
                g = outline.group(g).parent;
            }
            return g != no_group;
        });
        request();
    }
}

QString GraphPane::note_text() const { return pages_->currentIndex() == 0 ? note_->text() : QString(); }

void GraphPane::show_note() {
    using State = GraphSource::State;
    const State state = session_ ? session_->graph_source().state() : State::not_requested;
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
            tr("<b>The program created no autograd graph while it was recorded.</b><br><br>The table and the details "
               "of an allocation show its category and its referrers.");
    } else if (!session_->graph() || !session_->graph()->has_nodes()) {
        note =
            tr("<b>This trace has no autograd graph.</b><br><br><code>tidemark record</code> (File › Record…) records "
               "the graph unless its part <code>graph</code> is off. PyTorch's own memory snapshots have no graph.");
    } else if (nothing_alive) {
        note = region_.kind == GraphRegion::Kind::alive
                   ? tr("<b>No node of the graph is alive at the cursor.</b><br><br>Every graph was destroyed, or none "
                        "was created yet.")
                   : tr("<b>Nothing in this part of the graph is alive at the cursor.</b>");
    }
    note_->setText(note);
    progress_->setVisible(reading);
    peak_button_->setVisible(nothing_alive);
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
    figures_->setText(tr("%1 alive · <b>%2</b> reachable")
                          .arg(nodes_text(time_point.alive_nodes()),
                               bytes_text(static_cast<uint64_t>(time_point.reachable_bytes()))));
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
        } else if (!shown_->roots->empty() && shown_->roots->front().reachable_bytes > 0) {
            reason_ = why_most_is_alive(picture, shown_->roots->front(), device);
            reason_.note(tr("Select a box, a root, or an allocation in any pane to see what retains it."));
        } else {
            reason_.title(tr("Why is it alive?"));
            reason_.note(
                tr("Select a box, a root, or an allocation in any pane. This pane then shows its retention path, from "
                   "the variable that refers to the root down to the block."));
            reason_.note(
                tr("A box is a group of nodes. A double click opens it. Hovering highlights the memory it retains."));
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

void GraphPane::go_to_peak() {
    if (session_ && session_->graph()) {
        peak_task_.start([graph = session_->graph()](Progress&) {
            return std::make_shared<const std::optional<int64_t>>(graph_peak(graph->index));
        });
    }
}

void GraphPane::select_node(NodeIndex node) {
    if (session_) {
        session_->selection().select_node(node);
        reveal_node(node);
    }
}

/// Opens the groups around nodes, until others are shown so. Returns whether the drawing changes.
bool GraphPane::open_around(std::vector<NodeIndex> nodes) {
    const auto& picture = view_->picture();
    if (!picture || std::all_of(nodes.begin(), nodes.end(), [&](NodeIndex node) {
            return !picture->outline->contains(node) || picture->scene->by_node.contains(node);
        })) {
        return false;
    }
    opened_for_ = std::move(nodes);
    request();
    return true;
}

/// Makes the path to an allocation that is selected in any pane visible.
void GraphPane::follow_selection() {
    const bool there = session_ && shown_ && isVisible() && shown_->picture->graph == session_->graph();
    const CategoryLookup lookup = session_ ? session_->categories() : CategoryLookup();
    if (there && !stale_) {
        follows_ = false;
    }
    if (!there || stale_ || session_->selection().state().node ||
        !lookup.knows(session_->selection().state().allocation)) {
        return;
    }
    const std::vector<uint32_t> retainers =
        shown_->picture->time_point->retainers(lookup.ref(session_->selection().state().allocation));
    if (!retainers.empty()) {
        std::vector<NodeIndex> nodes;
        for (size_t i = 0; i < std::min(retainers.size(), most_shown); ++i) {
            nodes.push_back(shown_->picture->index().saver(retainers[i]));
        }
        open_around(std::move(nodes));
        reveals_ = true;
        if (!busy()) {
            reveal_now();
        }
    }
}

void GraphPane::reveal_node(NodeIndex node) {
    if (open_around({node})) {
        reveals_ = true;
        return;
    }
    if (const auto& picture = view_->picture()) {
        if (const int box = picture->scene->box_of(*picture->outline, node); box >= 0) {
            view_->reveal(box);
        }
    }
}

void GraphPane::reveal_selection() {
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
    if (!there) {
        return;
    }
    if (const auto node = session_->selection().state().node) {
        reveal_node(*node);
    } else {
        view_->reveal_marks();
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
    return task_.busy() || search_task_.busy() || peak_task_.busy() || delay_.isActive() ||
           (session_ && session_->graph_source().state() == GraphSource::State::reading);
}

void GraphPane::render_to(QPaintDevice& device, QSize size) {
    const QSize before = this->size();
    view_->show_whole_width(true);
    resize(size);
    view_->fit();
    QPainter painter(&device);
    render(&painter);
    view_->show_whole_width(false);
    resize(before);
}

QByteArray GraphPane::save_state() const {
    QByteArray state;
    QDataStream stream(&state, QIODevice::WriteOnly);
    stream << split_->saveState() << color_by_->currentIndex() << order_->currentIndex() << divided_by_user_;
    return state;
}

void GraphPane::restore_state(const QByteArray& state) {
    QByteArray split;
    int colors = 0, order = 0;
    QDataStream stream(state);
    bool divided = false;
    stream >> split >> colors >> order >> divided;
    if (stream.status() == QDataStream::Ok && !split.isEmpty()) {
        divided_by_user_ = divided;
        if (divided) {
            split_->restoreState(split);
        }
        set_colors(static_cast<GraphColors>(std::clamp(colors, 0, color_by_->count() - 1)));
        order_->setCurrentIndex(std::clamp(order, 0, order_->count() - 1));
        roots_->roots().set_order(static_cast<RootOrder>(order_->currentIndex()));
    }
}

void GraphPane::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    follows_ = true;
    if (stale_) {
        request();
    } else {
        follow_selection();
    }
}

/// A narrow pane takes width from the texts beside the drawing first.
void GraphPane::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (!divided_by_user_) {
        const int roots = std::clamp(width() / 5, 160, 290), why = std::clamp(width() / 4, 190, 330);
        split_->setSizes({roots, width() - roots - why, why});
    }
}

void GraphPane::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        show_reason();
    }
}

}  // namespace tidemark::gui
