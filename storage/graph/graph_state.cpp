// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/graph_state.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "storage/graph/categories.h"

namespace tidemark {
namespace {

/// A tree to which leaves are added. Finds the lowest common ancestor of two vertices in the logarithm of their depth.
/// Each vertex stores its parent and one vertex further up (Myers' skew-binary jump pointers).
class DominatorTree {
public:
    explicit DominatorTree(NodeIndex vertices) : parent_(vertices + 1), jump_(vertices + 1), depth_(vertices + 1, 0) {
        parent_[vertices] = jump_[vertices] = vertices;
    }
    NodeIndex top() const { return static_cast<NodeIndex>(parent_.size() - 1); }
    NodeIndex parent(NodeIndex vertex) const { return parent_[vertex]; }

    void add(NodeIndex vertex, NodeIndex parent) {
        const NodeIndex up = jump_[parent];
        parent_[vertex] = parent;
        depth_[vertex] = depth_[parent] + 1;
        jump_[vertex] = depth_[parent] - depth_[up] == depth_[up] - depth_[jump_[up]] ? jump_[up] : parent;
    }

    NodeIndex common(NodeIndex a, NodeIndex b) const {
        if (depth_[a] < depth_[b]) {
            std::swap(a, b);
        }
        while (depth_[a] > depth_[b]) {
            a = depth_[jump_[a]] >= depth_[b] ? jump_[a] : parent_[a];
        }
        while (a != b) {
            const bool can_jump = jump_[a] != jump_[b];
            a = can_jump ? jump_[a] : parent_[a];
            b = can_jump ? jump_[b] : parent_[b];
        }
        return a;
    }

private:
    std::vector<NodeIndex> parent_, jump_;
    std::vector<uint32_t> depth_;
};

}  // namespace

GraphState::GraphState(const GraphIndex& index, const Categories& categories, int64_t time)
    : index_(index), categories_(categories), time_(time) {
    for (const DeviceHistory& device : index.trace().devices) {
        events_.push_back(device.events_until(time));
    }
    find_alive();
    find_nearest_roots();
    find_dominators();
}

void GraphState::find_alive() {
    const NodeIndex count = index_.tables().nodes.size();
    shallow_.assign(count, -1);
    for (NodeIndex node = 0; node < count; ++node) {
        shallow_[node] = tidemark::is_alive(index_.state(node, time_)) ? 0 : -1;
    }
    std::vector<uint32_t> parents_left(count, 0);
    for (NodeIndex node = 0; node < count; ++node) {
        for (const NodeIndex child : is_alive(node) ? index_.children(node) : std::span<const NodeIndex>()) {
            ++parents_left[child];
        }
    }
    for (NodeIndex node = 0; node < count; ++node) {
        if (is_alive(node) && parents_left[node] == 0) {
            roots_.push_back(node);
        }
    }
    sort_parents_first(std::move(parents_left));
}

void GraphState::sort_parents_first(std::vector<uint32_t> parents_left) {
    constexpr uint32_t placed = UINT32_MAX;
    auto& order = parents_first_;
    const auto place = [&](NodeIndex node) {
        parents_left[node] = placed;
        order.push_back(node);
    };
    std::for_each(roots_.begin(), roots_.end(), place);
    NodeIndex youngest_left = static_cast<NodeIndex>(shallow_.size());
    for (size_t next = 0;; ++next) {
        if (next == order.size()) {
            // The remaining nodes are on or below a cycle.
            while (youngest_left > 0 && (!is_alive(youngest_left - 1) || parents_left[youngest_left - 1] == placed)) {
                --youngest_left;
            }
            if (youngest_left == 0) {
                return;
            }
            place(youngest_left - 1);
        }
        for (const NodeIndex child : index_.children(order[next])) {
            if (is_alive(child) && parents_left[child] != placed && --parents_left[child] == 0) {
                place(child);
            }
        }
    }
}

void GraphState::find_nearest_roots() {
    nearer_.assign(shallow_.size(), no_node);
    nearest_root_.resize(shallow_.size());
    std::iota(nearest_root_.begin(), nearest_root_.end(), NodeIndex{0});
    std::vector<bool> reached(shallow_.size(), false);
    std::vector<NodeIndex> queue = roots_;
    for (const NodeIndex root : roots_) {
        reached[root] = true;
    }
    for (size_t next = 0; next < queue.size(); ++next) {
        for (const NodeIndex child : index_.children(queue[next])) {
            if (is_alive(child) && !reached[child]) {
                reached[child] = true;
                nearer_[child] = queue[next];
                nearest_root_[child] = nearest_root_[queue[next]];
                queue.push_back(child);
            }
        }
    }
}

void GraphState::find_dominators() {
    const auto count = static_cast<NodeIndex>(shallow_.size());
    DominatorTree tree(count);
    std::vector<bool> placed(count, false);
    for (const NodeIndex node : parents_first_) {
        NodeIndex above = no_node;
        for (const NodeIndex parent : index_.parents(node)) {
            if (is_alive(parent) && placed[parent]) {
                above = above == no_node ? parent : tree.common(above, parent);
            }
        }
        tree.add(node, above == no_node ? tree.top() : above);
        placed[node] = true;
    }
    std::vector<int64_t> bytes(size_t{count} + 1, 0);
    for_each_reachable([&](AllocationRef allocation, std::span<const NodeIndex> nodes) {
        const int64_t size = size_of(allocation);
        NodeIndex above = nodes.front();
        for (const NodeIndex node : nodes) {
            shallow_[node] += size;
            above = tree.common(above, node);
        }
        reachable_bytes_ += size;
        bytes[above] += size;
    });
    dominator_.assign(count, no_node);
    for (auto node = parents_first_.rbegin(); node != parents_first_.rend(); ++node) {
        const NodeIndex above = tree.parent(*node);
        bytes[above] += bytes[*node];
        dominator_[*node] = above == tree.top() ? no_node : above;
    }
    bytes.pop_back();
    retained_ = std::move(bytes);
    std::stable_sort(roots_.begin(), roots_.end(),
                     [&](NodeIndex a, NodeIndex b) { return retained_[a] > retained_[b]; });
}

bool GraphState::is_allocated(AllocationRef a) const {
    const Allocations& all = index_.trace().devices[a.device].allocations;
    return all.alloc_event[a.index] < events_[a.device] && events_[a.device] <= all.free_event[a.index];
}

bool GraphState::is_graph_memory(AllocationRef a) const {
    return is_allocated(a) && !is_retained_outside_graph(categories_.at(a, time_));
}

int64_t GraphState::size_of(AllocationRef a) const {
    return static_cast<int64_t>(index_.trace().devices[a.device].allocations.block_size[a.index]);
}

template <class Visit>
void GraphState::for_each_reachable(Visit&& visit) const {
    const auto& devices = index_.trace().devices;
    std::vector<NodeIndex> nodes;
    for (uint32_t d = 0; d < devices.size(); ++d) {
        for (AllocationIndex i = 0; i < devices[d].allocations.size(); ++i) {
            const AllocationRef allocation{d, i};
            const auto saved = index_.saved_in(allocation);
            if (saved.empty() || !is_graph_memory(allocation)) {
                continue;
            }
            nodes.clear();
            for (const uint32_t s : saved) {
                // The saved tensors of a node are adjacent.
                const NodeIndex node = index_.saver(s);
                if (retains(s) && (nodes.empty() || nodes.back() != node)) {
                    nodes.push_back(node);
                }
            }
            if (!nodes.empty()) {
                visit(allocation, std::span<const NodeIndex>(nodes));
            }
        }
    }
}

RootSummary GraphState::summary(NodeIndex root) const {
    RootSummary summary;
    summary.root = root;
    if (!is_alive(root)) {
        return summary;
    }
    const SavedTensors& saved = index_.tables().saved;
    std::vector<bool> reached(shallow_.size(), false);
    std::vector<uint64_t> memory;
    std::vector<NodeIndex> open{root};
    reached[root] = true;
    while (!open.empty()) {
        const NodeIndex node = open.back();
        open.pop_back();
        ++summary.nodes;
        for (uint32_t s = saved.first[node]; s < saved.first[node + 1]; ++s) {
            if (saved.allocation[s] && retains(s) && is_graph_memory(saved.allocation[s])) {
                memory.push_back(memory_key(saved.allocation[s]));
            }
        }
        for (const NodeIndex child : index_.children(node)) {
            if (is_alive(child) && !reached[child]) {
                reached[child] = true;
                open.push_back(child);
            }
        }
    }
    std::sort(memory.begin(), memory.end());
    memory.erase(std::unique(memory.begin(), memory.end()), memory.end());
    for (const uint64_t key : memory) {
        summary.reachable_bytes += size_of(memory_of_key(key));
    }
    summary.retained_bytes = retained_[root];
    summary.was_executed = index_.tables().nodes.executed[root] <= time_;
    return summary;
}

std::vector<NodeIndex> GraphState::path_to(NodeIndex node) const {
    std::vector<NodeIndex> path;
    for (NodeIndex at = node; at != no_node && is_alive(at); at = nearer_[at]) {
        path.push_back(at);
    }
    std::reverse(path.begin(), path.end());
    return path;
}

std::vector<uint32_t> GraphState::retainers(AllocationRef allocation) const {
    const auto saved = index_.saved_in(allocation);
    std::vector<uint32_t> retainers;
    std::copy_if(saved.begin(), saved.end(), std::back_inserter(retainers), [this](uint32_t s) { return retains(s); });
    return retainers;
}

Reachable GraphState::freed_by(NodeIndex node) const {
    Reachable freed;
    if (!is_alive(node)) {
        return freed;
    }
    const SavedTensors& saved = index_.tables().saved;
    std::unordered_map<NodeIndex, int64_t> node_references;
    std::unordered_map<uint64_t, int64_t> memory_references;
    std::vector<NodeIndex> to_destroy{node};
    while (!to_destroy.empty()) {
        const NodeIndex destroyed = to_destroy.back();
        to_destroy.pop_back();
        ++freed.freed_nodes;
        for (uint32_t s = saved.first[destroyed]; s < saved.first[destroyed + 1]; ++s) {
            const AllocationRef memory = saved.allocation[s];
            if (!memory || !retains(s) || !is_graph_memory(memory)) {
                continue;
            }
            const auto [left, is_new] = memory_references.try_emplace(memory_key(memory), 0);
            if (is_new) {
                left->second = static_cast<int64_t>(retainers(memory).size());
            }
            freed.freed_bytes += --left->second == 0 ? size_of(memory) : 0;
        }
        for (const NodeIndex child : index_.children(destroyed)) {
            if (!is_alive(child) || child == node) {
                continue;
            }
            const auto [left, is_new] = node_references.try_emplace(child, 0);
            if (is_new) {
                const auto parents = index_.parents(child);
                left->second = std::count_if(parents.begin(), parents.end(), [&](NodeIndex p) { return is_alive(p); });
            }
            if (--left->second == 0) {
                to_destroy.push_back(child);
            }
        }
    }
    return freed;
}

std::vector<Reachable> GraphState::reachable_from(std::span<const ReferrerTargets> referrers) const {
    constexpr size_t batch = 63;
    std::vector<Reachable> reachable(referrers.size());
    for (size_t from = 0; from < referrers.size(); from += batch) {
        reach_batch(referrers, from, std::span(reachable).subspan(from, std::min(batch, referrers.size() - from)));
    }
    return reachable;
}

/// Assigns one bit to each referrer and the next bit to all other roots. Bits propagate down the graph.
void GraphState::reach_batch(std::span<const ReferrerTargets> all, size_t from, std::span<Reachable> out) const {
    const uint64_t others = uint64_t{1} << out.size();
    std::vector<uint64_t> reached_by(shallow_.size(), 0);
    std::unordered_map<uint64_t, uint64_t> memory_reached_by;
    for (size_t h = 0; h < all.size(); ++h) {
        const uint64_t bit = h >= from && h - from < out.size() ? uint64_t{1} << (h - from) : others;
        for (const NodeIndex node : all[h].nodes) {
            reached_by[node] |= bit;
        }
        for (const AllocationRef allocation : all[h].allocations) {
            if (allocation && is_allocated(allocation)) {
                memory_reached_by[memory_key(allocation)] |= bit;
            }
        }
    }
    const auto count = [&](uint64_t bits, auto&& add) {
        for (size_t h = 0; h < out.size(); ++h) {
            if (bits >> h & 1) {
                add(out[h], bits == uint64_t{1} << h);
            }
        }
    };
    for (const NodeIndex root : roots_) {
        reached_by[root] |= reached_by[root] == 0 ? others : 0;
    }
    for (const NodeIndex node : parents_first_) {
        count(reached_by[node], [](Reachable& reachable, bool alone) {
            ++reachable.nodes;
            reachable.freed_nodes += alone;
        });
        for (const NodeIndex child : index_.children(node)) {
            reached_by[child] |= reached_by[node];
        }
    }
    const auto count_memory = [&](AllocationRef allocation, uint64_t bits) {
        const int64_t size = size_of(allocation);
        const bool outside = is_retained_outside_graph(categories_.at(allocation, time_));
        count(bits, [&](Reachable& reachable, bool alone) {
            reachable.bytes += size;
            reachable.freed_bytes += alone && !outside ? size : 0;
        });
    };
    for_each_reachable([&](AllocationRef allocation, std::span<const NodeIndex> nodes) {
        uint64_t bits = 0;
        for (const NodeIndex node : nodes) {
            bits |= reached_by[node];
        }
        if (const auto direct = memory_reached_by.find(memory_key(allocation)); direct != memory_reached_by.end()) {
            bits |= direct->second;
            memory_reached_by.erase(direct);
        }
        count_memory(allocation, bits);
    });
    for (const auto& [key, bits] : memory_reached_by) {
        count_memory(memory_of_key(key), bits);
    }
}

}  // namespace tidemark
