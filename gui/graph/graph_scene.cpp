// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_scene.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "gui/graph/layered_layout.h"

namespace tidemark::gui {

namespace {

constexpr double frame_margin = 14;
constexpr double tallest_extra = 2.2;  // lines by which the box with most bytes is taller than an empty one
constexpr uint32_t most_ports = 6;
constexpr double port_room = 15;
constexpr double widest_referrer = 1.7;  // of the width of other boxes
constexpr size_t referrer_seed = 0x72656665;

uint64_t rest_key(uint64_t group) { return group * 0x9e3779b97f4a7c15ull + 0x72657374; }

class SceneMaker {
public:
    SceneMaker(const GraphIndex& index, const GraphState& time_point, const GraphOutline& outline,
               const SceneContent& content, const BoxMetrics& metrics, const Progress& progress)
        : index_(index),
          time_point_(time_point),
          outline_(outline),
          opened_(content.opened.begin(), content.opened.end()),
          shown_(content.shown.begin(), content.shown.end()),
          referrers_(content.referrers),
          metrics_(metrics),
          progress_(progress) {
        for (const NodeIndex node : content.shown) {
            for (GroupIndex g = outline.group_of(node); g != no_group; g = outline.group(g).parent) {
                around_shown_.insert(g);
            }
        }
    }

    std::shared_ptr<const GraphScene> make() {
        scene_ = std::make_shared<GraphScene>();
        add_boxes(0, -1);
        add_referrers();
        for (const GraphBox& box : scene_->boxes) {
            if (!box.open) {
                scene_->most_bytes = std::max(scene_->most_bytes, box.bytes);
            }
        }
        const auto size = place_inside(0, -1);
        if (!size || progress_.canceled) {
            return nullptr;
        }
        scene_->size = *size;
        for (size_t b = 0; b < scene_->boxes.size(); ++b) {
            move_into_frame(scene_->boxes[b].rect, scene_->boxes[b].parent);
            scene_->by_key.emplace(scene_->boxes[b].key, static_cast<int>(b));
            if (scene_->boxes[b].is_node()) {
                scene_->by_node.emplace(scene_->boxes[b].node, static_cast<int>(b));
            }
        }
        for (size_t l = 0; l < scene_->links.size(); ++l) {
            if (const int frame = frame_of_link_[l]; frame >= 0) {
                scene_->links[l].route.translate(scene_->boxes[static_cast<size_t>(frame)].rect.topLeft());
            }
        }
        return scene_;
    }

private:
    bool is_opened(GroupIndex g) const { return g == 0 || opened_.contains(outline_.group(g).key); }
    bool is_open(GroupIndex g) const { return is_opened(g) || around_shown_.contains(g); }
    /// Returns whether only some members of an open group have a box.
    bool has_rest(GroupIndex g) const {
        constexpr uint32_t few = 5;
        return !is_opened(g) && outline_.group(g).group_count + outline_.group(g).direct_nodes > few;
    }

    void add_boxes(GroupIndex g, int frame) {
        const OutlineGroup& group = outline_.group(g);
        const bool some = has_rest(g);
        RestOfGroup rest;
        place_of_member_[frame].clear();  // exists for an empty group, too
        const auto add = [&](int box) {
            place_of_member_[frame].push_back(static_cast<int>(children_[frame].size()));
            children_[frame].push_back(box);
        };
        const auto leave_out = [&](std::span<const NodeIndex> nodes, const GroupTotals& totals) {
            place_of_member_[frame].push_back(-1);
            rest.nodes.insert(rest.nodes.end(), nodes.begin(), nodes.end());
            ++rest.members;
            add_to(rest.totals, totals);
        };
        for (const NodeIndex node : outline_.nodes(group).first(group.direct_nodes)) {
            if (some && !shown_.contains(node)) {
                leave_out(std::span(&node, 1), totals_of(index_, time_point_, node));
            } else {
                add(add_node(node, frame));
            }
        }
        for (GroupIndex inner = group.first_group; inner < group.first_group + group.group_count; ++inner) {
            if (some && !around_shown_.contains(inner)) {
                leave_out(outline_.nodes(outline_.group(inner)), outline_.group(inner).totals);
                continue;
            }
            const int box = add_group(inner, frame);
            add(box);
            if (is_open(inner)) {
                add_boxes(inner, box);
            }
        }
        if (rest.members > 0) {
            add_rest(g, frame, std::move(rest));
        }
    }

    void add_rest(GroupIndex g, int frame, RestOfGroup rest) {
        GraphBox box;
        box.group = g;
        box.node = rest.nodes.front();
        box.key = rest_key(outline_.group(g).key);
        box.parent = frame;
        box.rest = static_cast<int>(scene_->rests.size());
        // Memory that several members saved counts for each of them, but not for more than the group has.
        rest.totals.shallow_bytes = std::min(rest.totals.shallow_bytes, outline_.group(g).totals.shallow_bytes);
        rest.totals.retained_bytes = retained_bytes(rest.nodes);
        box.bytes = rest.totals.shallow_bytes;
        std::vector<int>& places = place_of_member_[frame];
        std::replace(places.begin(), places.end(), -1, static_cast<int>(children_[frame].size()));
        children_[frame].push_back(static_cast<int>(scene_->boxes.size()));
        scene_->boxes.push_back(box);
        scene_->rests.push_back(std::move(rest));
    }

    /// Returns what would be freed with all these nodes.
    int64_t retained_bytes(const std::vector<NodeIndex>& nodes) const {
        std::vector<bool> inside(index_.tables().nodes.size());
        for (const NodeIndex node : nodes) {
            inside[node] = true;
        }
        int64_t bytes = 0;
        for (const NodeIndex node : nodes) {
            const NodeIndex dominator = time_point_.dominator(node);
            bytes += dominator == no_node || !inside[dominator] ? time_point_.retained_bytes(node) : 0;
        }
        return bytes;
    }

    /// Adds up everything but retained sizes, which contain each other.
    static void add_to(GroupTotals& sum, const GroupTotals& totals) {
        sum.shallow_bytes += totals.shallow_bytes;
        sum.never_executed += totals.never_executed;
        sum.executed += totals.executed;
        sum.released += totals.released;
        sum.saved_alive += totals.saved_alive;
        sum.saved_released += totals.saved_released;
        if (totals.first_step >= 0) {
            sum.first_step = sum.first_step < 0 ? totals.first_step : std::min(sum.first_step, totals.first_step);
            sum.last_step = std::max(sum.last_step, totals.last_step);
        }
    }

    void add_referrers() {
        for (const RootReferrer& referrer : referrers_) {
            RootReferrer here = referrer;
            std::erase_if(here.roots, [&](NodeIndex root) { return !outline_.contains(root); });
            if (here.roots.empty()) {
                continue;
            }
            GraphBox box;
            box.referrer = static_cast<int>(scene_->referrers.size());
            box.node = here.roots.front();
            box.key = qHash(here.text, referrer_seed);
            const int b = static_cast<int>(scene_->boxes.size());
            for (const NodeIndex root : here.roots) {
                scene_->by_root.emplace(root, b);
            }
            children_[-1].push_back(b);
            scene_->boxes.push_back(box);
            scene_->referrers.push_back(std::move(here));
        }
    }

    int add_node(NodeIndex node, int frame) {
        GraphBox box;
        box.node = node;
        box.key = node_key(index_.tables(), node);
        box.parent = frame;
        box.bytes = time_point_.shallow_bytes(node);
        box.saved = index_.tables().saved.first[node + 1] - index_.tables().saved.first[node];
        scene_->boxes.push_back(box);
        return static_cast<int>(scene_->boxes.size()) - 1;
    }

    int add_group(GroupIndex g, int frame) {
        const OutlineGroup& group = outline_.group(g);
        GraphBox box;
        box.group = g;
        box.node = group.representative;
        box.key = group.key;
        box.parent = frame;
        box.open = is_open(g);
        box.bytes = group.totals.shallow_bytes;
        scene_->boxes.push_back(box);
        return static_cast<int>(scene_->boxes.size()) - 1;
    }

    /// Lays out the content of a frame, relative to the frame's origin; returns the frame's size.
    std::optional<QSizeF> place_inside(GroupIndex g, int frame) {
        const std::vector<int>& children = children_[frame];
        std::vector<QSizeF> sizes;
        for (const int box : children) {
            const auto size = size_of(box);
            if (!size) {
                return std::nullopt;
            }
            sizes.push_back(*size);
        }
        const Edges edges = edges_inside(g, frame);
        // Edges enter and leave through boxes without size at the top and at the bottom.
        int entry = -1, exit = -1;
        std::vector<LayoutEdge> layout_edges;
        for (const auto& [ends, number] : edges) {
            if (ends.first < 0 && entry < 0) {
                entry = static_cast<int>(sizes.size());
                sizes.emplace_back(0, 0);
            }
            if (ends.second < 0 && exit < 0) {
                exit = static_cast<int>(sizes.size());
                sizes.emplace_back(0, 0);
            }
            layout_edges.push_back({ends.first < 0 ? entry : ends.first, ends.second < 0 ? exit : ends.second});
        }
        LayoutSpacing spacing;
        spacing.between_layers = metrics_.line * 1.7;
        const auto layout = lay_out(sizes, layout_edges, spacing, progress_, entry, exit);
        if (!layout) {
            return std::nullopt;
        }
        return put(*layout, children, edges, frame, entry >= 0, exit >= 0);
    }

    using Edges = std::map<std::pair<int, int>, uint32_t>;  ///< between positions in children_[frame]; -1: outside

    QSizeF put(const LayeredLayout& layout, const std::vector<int>& children, const Edges& edges, int frame,
               bool has_entry, bool has_exit) {
        // The layers of these boxes leave enough room beside the title and above the lower edge.
        const double above = frame < 0 ? frame_margin : metrics_.title() + (has_entry ? 0 : frame_margin / 2);
        const double below = has_exit ? 0 : frame_margin;
        const QPointF shift(frame_margin, above);
        for (size_t i = 0; i < children.size(); ++i) {
            GraphBox& box = scene_->boxes[static_cast<size_t>(children[i])];
            box.rect.moveTopLeft(layout.top_left[i] + shift + QPointF(room_beside(box), 0));
        }
        const QSizeF size(layout.size.width() + 2 * frame_margin, layout.size.height() + above + below);
        size_t e = 0;
        for (const auto& [ends, number] : edges) {
            GraphLink link;
            link.from = ends.first < 0 ? -1 : children[static_cast<size_t>(ends.first)];
            link.to = ends.second < 0 ? -1 : children[static_cast<size_t>(ends.second)];
            link.edges = number;
            link.upward = layout.upward[e];
            link.route = layout.routes[e++].translated(shift);
            if (link.to < 0) {
                link.route.back().setY(size.height());
            }
            scene_->links.push_back(std::move(link));
            frame_of_link_.push_back(frame);
        }
        return size;
    }

    /// Room for saved tensors, on both sides so that links meet the middle of the box.
    static double room_beside(const GraphBox& box) {
        return box.is_node() ? std::min(box.saved, most_ports) * port_room : 0;
    }

    /// Returns the size with what is drawn beside the box; sets the size of its rect.
    std::optional<QSizeF> size_of(int b) {
        GraphBox& box = scene_->boxes[static_cast<size_t>(b)];
        if (box.open) {
            const auto size = place_inside(box.group, b);
            if (size) {
                const QSizeF with_title(std::max(size->width(), metrics_.width * 0.9), size->height());
                scene_->boxes[static_cast<size_t>(b)].rect.setSize(with_title);
                return with_title;
            }
            return std::nullopt;
        }
        const double share = scene_->most_bytes > 0
                                 ? std::sqrt(static_cast<double>(box.bytes) / static_cast<double>(scene_->most_bytes))
                                 : 0;
        const bool of_graphs = box.is_group() && outline_.group(box.group).kind == GroupKind::graphs;
        const double lines = of_graphs ? 3.8 : 2.75;
        box.rect.setSize({metrics_.width * (box.referrer < 0 ? 1 : widest_referrer),
                          metrics_.line * (lines + tallest_extra * share)});
        return QSizeF(box.rect.width() + 2 * room_beside(box), box.rect.height());
    }

    /// Collects the edges between the children of a group, and between them and other nodes of the region.
    Edges edges_inside(GroupIndex g, int frame) const {
        const OutlineGroup& group = outline_.group(g);
        std::vector<uint32_t> starts;
        for (uint32_t i = 0; i < group.group_count; ++i) {
            starts.push_back(outline_.group(group.first_group + i).first_node);
        }
        const std::vector<int>& place_of_member = place_of_member_.at(frame);
        const auto child_at = [&](uint32_t place) {
            const uint32_t offset = place - group.first_node;
            if (offset < group.direct_nodes) {
                return place_of_member[offset];
            }
            const auto after = std::upper_bound(starts.begin(), starts.end(), place);
            return place_of_member[group.direct_nodes + static_cast<size_t>(after - starts.begin()) - 1];
        };
        const auto within = [&](uint32_t place) { return place - group.first_node < group.node_count; };
        Edges edges;
        for (uint32_t i = 0; i < group.node_count; ++i) {
            const uint32_t place = group.first_node + i;
            const NodeIndex node = outline_.order()[place];
            const int from = child_at(place);
            for (const NodeIndex child : index_.children(node)) {
                if (!outline_.contains(child)) {
                    continue;
                }
                const uint32_t there = outline_.position(child);
                const int to = within(there) ? child_at(there) : -1;
                if (from != to && (to >= 0 || frame >= 0)) {
                    ++edges[{from, to}];
                }
            }
            for (const NodeIndex parent : index_.parents(node)) {
                if (frame >= 0 && outline_.contains(parent) && !within(outline_.position(parent))) {
                    ++edges[{-1, from}];
                }
            }
        }
        for (size_t r = 0; r < scene_->referrers.size(); ++r) {
            const int from = frame >= 0 ? -1 : static_cast<int>(place_of_member.size() + r);
            for (const NodeIndex root : scene_->referrers[r].roots) {
                if (within(outline_.position(root))) {
                    ++edges[{from, child_at(outline_.position(root))}];
                }
            }
        }
        return edges;
    }

    /// Frames come before their content, so the frame of a box is already in place.
    void move_into_frame(QRectF& rect, int frame) const {
        if (frame >= 0) {
            rect.translate(scene_->boxes[static_cast<size_t>(frame)].rect.topLeft());
        }
    }

    const GraphIndex& index_;
    const GraphState& time_point_;
    const GraphOutline& outline_;
    const std::unordered_set<uint64_t> opened_;
    const std::unordered_set<NodeIndex> shown_;
    std::unordered_set<GroupIndex> around_shown_;
    const std::vector<RootReferrer>& referrers_;
    const BoxMetrics& metrics_;
    const Progress& progress_;
    std::shared_ptr<GraphScene> scene_;
    std::map<int, std::vector<int>> children_;         ///< boxes of each frame
    std::map<int, std::vector<int>> place_of_member_;  ///< in children_, of each direct node and then each group
    std::vector<int> frame_of_link_;
};

}  // namespace

uint64_t node_key(const GraphTables& tables, NodeIndex node) {
    constexpr uint64_t of_nodes = 0x6e6f6465ull << 32;
    return (static_cast<uint64_t>(tables.nodes.id[node]) + of_nodes) * 0x9e3779b97f4a7c15ull;
}

int GraphScene::find(uint64_t key) const {
    const auto found = by_key.find(key);
    return found == by_key.end() ? -1 : found->second;
}

int GraphScene::box_at(QPointF point) const {
    for (size_t b = boxes.size(); b-- > 0;) {
        if (boxes[b].rect.contains(point)) {
            return static_cast<int>(b);
        }
    }
    return -1;
}

int GraphScene::box_of(const GraphOutline& outline, NodeIndex node) const {
    if (!outline.contains(node)) {
        return -1;
    }
    if (const auto found = by_node.find(node); found != by_node.end()) {
        return found->second;
    }
    for (GroupIndex g = outline.group_of(node); g != no_group; g = outline.group(g).parent) {
        const int box = find(outline.group(g).key);
        if (box >= 0 && !boxes[static_cast<size_t>(box)].open) {
            return box;
        }
        if (const int rest = find(rest_key(outline.group(g).key)); rest >= 0) {
            return rest;
        }
    }
    return -1;
}

std::shared_ptr<const GraphScene> make_scene(const GraphIndex& index, const GraphState& time_point,
                                             const GraphOutline& outline, const SceneContent& content,
                                             const BoxMetrics& metrics, const Progress& progress) {
    return SceneMaker(index, time_point, outline, content, metrics, progress).make();
}

}  // namespace tidemark::gui
