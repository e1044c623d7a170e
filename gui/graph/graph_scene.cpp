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

class SceneMaker {
public:
    SceneMaker(const GraphIndex& index, const GraphState& time_point, const GraphOutline& outline,
               const std::vector<uint64_t>& opened, const std::vector<RootReferrer>& referrers,
               const BoxMetrics& metrics, const Progress& progress)
        : index_(index),
          time_point_(time_point),
          outline_(outline),
          opened_(opened.begin(), opened.end()),
          referrers_(referrers),
          metrics_(metrics),
          progress_(progress) {}

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
    bool is_open(GroupIndex g) const { return g == 0 || opened_.contains(outline_.group(g).key); }

    void add_boxes(GroupIndex g, int frame) {
        const OutlineGroup& group = outline_.group(g);
        std::vector<int>& children = children_[frame];
        for (uint32_t i = 0; i < group.direct_nodes; ++i) {
            children.push_back(add_node(outline_.order()[group.first_node + i], frame));
        }
        for (uint32_t i = 0; i < group.group_count; ++i) {
            const GroupIndex inner = group.first_group + i;
            const int box = add_group(inner, frame);
            children_[frame].push_back(box);
            if (is_open(inner)) {
                add_boxes(inner, box);
            }
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
        const auto child_at = [&](uint32_t place) {
            const uint32_t offset = place - group.first_node;
            if (offset < group.direct_nodes) {
                return static_cast<int>(offset);
            }
            const auto after = std::upper_bound(starts.begin(), starts.end(), place);
            return static_cast<int>(group.direct_nodes + (after - starts.begin()) - 1);
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
            const int from = frame >= 0 ? -1 : static_cast<int>(group.direct_nodes + group.group_count + r);
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
    const std::vector<RootReferrer>& referrers_;
    const BoxMetrics& metrics_;
    const Progress& progress_;
    std::shared_ptr<GraphScene> scene_;
    std::map<int, std::vector<int>> children_;  ///< boxes of each frame
    std::vector<int> frame_of_link_;
};

/// Returns the open groups all of whose frames are open as well.
std::vector<GroupIndex> shown_open(const GraphOutline& outline, const std::vector<uint64_t>& opened) {
    const std::unordered_set<uint64_t> keys(opened.begin(), opened.end());
    std::vector<GroupIndex> shown{0};
    for (size_t i = 0; i < shown.size(); ++i) {
        const OutlineGroup& group = outline.group(shown[i]);
        for (GroupIndex g = group.first_group; g < group.first_group + group.group_count; ++g) {
            if (keys.contains(outline.group(g).key)) {
                shown.push_back(g);
            }
        }
    }
    return shown;
}

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
    }
    return -1;
}

std::shared_ptr<const GraphScene> make_scene(const GraphIndex& index, const GraphState& time_point,
                                             const GraphOutline& outline, const std::vector<uint64_t>& opened,
                                             const std::vector<RootReferrer>& referrers, const BoxMetrics& metrics,
                                             const Progress& progress) {
    return SceneMaker(index, time_point, outline, opened, referrers, metrics, progress).make();
}

uint32_t count_boxes(const GraphOutline& outline, const std::vector<uint64_t>& opened) {
    uint32_t boxes = 0;
    for (const GroupIndex g : shown_open(outline, opened)) {
        boxes += outline.group(g).group_count + outline.group(g).direct_nodes;
    }
    return boxes;
}

std::vector<uint64_t> with_opened(const GraphOutline& outline, std::vector<uint64_t> opened, uint64_t key) {
    opened.push_back(key);
    std::unordered_set<uint64_t> needed;
    for (GroupIndex g = outline.find(key); g != no_group; g = outline.group(g).parent) {
        needed.insert(outline.group(g).key);
    }
    for (auto oldest = opened.begin(); oldest != opened.end() && count_boxes(outline, opened) > most_boxes;) {
        oldest = needed.contains(*oldest) ? oldest + 1 : opened.erase(oldest);
    }
    return opened;
}

}  // namespace tidemark::gui
