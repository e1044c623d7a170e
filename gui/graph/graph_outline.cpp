// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_outline.h"

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "gui/graph/outline_divider.h"
#include "gui/graph/retained_memory.h"

namespace tidemark::gui {

namespace {

/// Counts a node by its state, and widens the range of steps by its step.
void add_state(GroupTotals& totals, const GraphIndex& index, const GraphState& time_point, NodeIndex node) {
    const NodeState state = index.state(node, time_point.time());
    totals.never_executed += state == NodeState::never_executed;
    totals.executed += state == NodeState::executed;
    totals.released += state == NodeState::released;
    if (const int32_t step = index.step_of(node); step >= 0) {
        totals.first_step = totals.first_step < 0 ? step : std::min(totals.first_step, step);
        totals.last_step = std::max(totals.last_step, step);
    }
}

}  // namespace

/// Turns a divided region into the flat tables of an outline and adds up its groups.
class OutlineBuilder {
public:
    OutlineBuilder(const GraphIndex& index, const GraphState& time_point, Part whole, const Progress& progress)
        : index_(index),
          tables_(index.tables()),
          time_point_(time_point),
          progress_(progress),
          retained_(index, time_point.time()),
          whole_(std::move(whole)) {}

    /// Returns null if canceled.
    std::shared_ptr<const GraphOutline> build() {
        auto outline = std::make_shared<GraphOutline>();
        outline->position_.assign(tables_.nodes.size(), UINT32_MAX);
        flatten(*outline);
        return add_up(*outline) ? outline : nullptr;
    }

private:
    void flatten(GraphOutline& outline) const {
        std::vector<const Part*> parts{&whole_};
        outline.groups_.push_back(shell(whole_, no_group));
        for (size_t g = 0; g < parts.size(); ++g) {
            outline.groups_[g].first_group = static_cast<GroupIndex>(parts.size());
            outline.groups_[g].group_count = static_cast<uint32_t>(parts[g]->parts.size());
            for (const Part& inner : parts[g]->parts) {
                parts.push_back(&inner);
                outline.groups_.push_back(shell(inner, static_cast<GroupIndex>(g)));
            }
        }
        place_nodes(outline, parts);
        for (GroupIndex g = 0; g < outline.groups_.size(); ++g) {
            outline.by_key_.emplace(outline.groups_[g].key, g);
        }
    }

    static OutlineGroup shell(const Part& part, GroupIndex parent) {
        OutlineGroup group;
        group.kind = part.kind;
        group.key = part.key;
        group.parent = parent;
        group.repeats = part.repeats;
        group.name = part.name;
        group.direct_nodes = static_cast<uint32_t>(part.nodes.size());
        return group;
    }

    /// Children come after their parents in groups(), so counts add up backwards and places forwards.
    static void place_nodes(GraphOutline& outline, const std::vector<const Part*>& parts) {
        auto& groups = outline.groups_;
        for (size_t g = groups.size(); g-- > 0;) {
            groups[g].node_count += groups[g].direct_nodes;
            if (groups[g].parent != no_group) {
                groups[groups[g].parent].node_count += groups[g].node_count;
            }
        }
        outline.order_.resize(groups[0].node_count);
        for (size_t g = 0; g < groups.size(); ++g) {
            std::copy(parts[g]->nodes.begin(), parts[g]->nodes.end(), outline.order_.begin() + groups[g].first_node);
            uint32_t next = groups[g].first_node + groups[g].direct_nodes;
            for (uint32_t i = 0; i < groups[g].group_count; ++i) {
                OutlineGroup& inner = groups[groups[g].first_group + i];
                inner.first_node = next;
                next += inner.node_count;
            }
        }
        for (uint32_t i = 0; i < outline.order_.size(); ++i) {
            outline.position_[outline.order_[i]] = i;
        }
    }

    bool add_up(GraphOutline& outline) {
        std::vector<std::vector<GroupIndex>> counted_in;
        for (const DeviceHistory& device : index_.trace().devices) {
            counted_in.emplace_back(device.allocations.size(), no_group);
        }
        for (GroupIndex g = 0; g < outline.groups_.size(); ++g) {
            if (progress_.canceled) {
                return false;
            }
            add_up(outline, g, counted_in);
        }
        return true;
    }

    void add_up(GraphOutline& outline, GroupIndex g, std::vector<std::vector<GroupIndex>>& counted_in) const {
        OutlineGroup& group = outline.groups_[g];
        GroupTotals& totals = group.totals;
        const auto within = [&](NodeIndex node) {
            return outline.contains(node) && outline.position_[node] - group.first_node < group.node_count;
        };
        for (const NodeIndex node : outline.nodes(group)) {
            const bool is_retained = retained_.retains(node);
            retained_.for_each_saved(node, [&](uint32_t s) {
                const AllocationRef memory = tables_.saved.allocation[s];
                ++(is_retained ? totals.saved_alive : totals.saved_released);
                if (is_retained && memory && time_point_.is_graph_memory(memory) &&
                    counted_in[memory.device][memory.index] != g) {
                    counted_in[memory.device][memory.index] = g;
                    totals.shallow_bytes += static_cast<int64_t>(retained_.bytes(memory));
                }
            });
            const NodeIndex dominator = time_point_.dominator(node);
            if (dominator == no_node || !within(dominator)) {
                totals.retained_bytes += time_point_.retained_bytes(node);
            }
            add_state(totals, index_, time_point_, node);
            const auto parents = index_.parents(node);
            if (std::none_of(parents.begin(), parents.end(), within) &&
                (group.representative == no_node ||
                 time_point_.retained_bytes(node) > time_point_.retained_bytes(group.representative))) {
                group.representative = node;
            }
        }
        if (group.representative == no_node && group.node_count > 0) {
            group.representative = outline.order_[group.first_node];
        }
    }

    const GraphIndex& index_;
    const GraphTables& tables_;
    const GraphState& time_point_;
    const Progress& progress_;
    const RetainedMemory retained_;
    const Part whole_;
};

GroupTotals totals_of(const GraphIndex& index, const GraphState& time_point, NodeIndex node) {
    GroupTotals totals;
    totals.shallow_bytes = time_point.shallow_bytes(node);
    totals.retained_bytes = time_point.retained_bytes(node);
    add_state(totals, index, time_point, node);
    const auto& first = index.tables().saved.first;
    (holds_saved(index.state(node, time_point.time())) ? totals.saved_alive : totals.saved_released) =
        first[node + 1] - first[node];
    return totals;
}

std::shared_ptr<const GraphOutline> GraphOutline::make(const GraphIndex& index, const GraphState& time_point,
                                                       const GraphRegion& region, const Progress& progress) {
    Part whole = OutlineDivider(index, time_point, region, progress).divide();
    return progress.canceled ? nullptr : OutlineBuilder(index, time_point, std::move(whole), progress).build();
}

GroupIndex GraphOutline::group_of(NodeIndex node) const {
    if (!contains(node)) {
        return no_group;
    }
    const uint32_t place = position_[node];
    for (GroupIndex g = 0;;) {
        const OutlineGroup& group = groups_[g];
        if (place < group.first_node + group.direct_nodes) {
            return g;
        }
        const auto inner = groups_.begin() + group.first_group;
        const auto after = std::upper_bound(inner, inner + group.group_count, place,
                                            [](uint32_t p, const OutlineGroup& of) { return p < of.first_node; });
        g = static_cast<GroupIndex>(after - groups_.begin() - 1);
    }
}

GroupIndex GraphOutline::find(uint64_t key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? no_group : found->second;
}

std::vector<uint64_t> GraphOutline::opened_at_first() const {
    constexpr uint32_t comfortable = 36;  // boxes; only the first opened group may have more inside
    std::vector<uint64_t> opened;
    std::deque<GroupIndex> closed{0};
    uint32_t boxes = 1;
    while (!closed.empty() && opened.size() < comfortable) {
        const OutlineGroup& group = groups_[closed.front()];
        closed.pop_front();
        const uint32_t inside = group.group_count + group.direct_nodes;
        const bool repeats = group.repeats > 1 || group.kind == GroupKind::parameters;
        const uint32_t room = opened.empty() ? static_cast<uint32_t>(most_boxes_at_first) : comfortable;
        if (repeats || boxes + inside > room) {
            continue;
        }
        boxes += inside;
        opened.push_back(group.key);
        for (uint32_t i = 0; i < group.group_count; ++i) {
            closed.push_back(group.first_group + i);
        }
    }
    return opened;
}

namespace {

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
