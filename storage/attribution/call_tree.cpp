// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/attribution/call_tree.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

namespace tidemark {
namespace {

/// The allocations of one stack, and the path that the tree shows of it.
struct StackMemory {
    StackId stack = 0;
    uint32_t first = 0, last = 0;           ///< in the list sorted by stack
    uint32_t path_begin = 0, path_end = 0;  ///< in the list of frames
    uint64_t bytes = 0;
};

/// Stands for the kind in a path that has no frames.
constexpr FrameId no_stack_step = UINT32_MAX;
constexpr FrameId no_frames_step = UINT32_MAX - 1;

CallNodeKind kind_of_step(FrameId step) {
    return step == no_stack_step    ? CallNodeKind::no_stack
           : step == no_frames_step ? CallNodeKind::no_frames
                                    : CallNodeKind::frame;
}

/// Sorts the allocations by stack and sums each stack, in linear time.
std::vector<StackMemory> sum_by_stack(const Trace& trace, const Allocations& all,
                                      std::span<const AllocationIndex> allocations,
                                      std::vector<AllocationIndex>& by_stack) {
    std::vector<uint32_t> place(size_t{trace.stacks.stack_count()} + 1);
    for (const AllocationIndex a : allocations) {
        ++place[all.stack[a] + 1];
    }
    std::partial_sum(place.begin(), place.end(), place.begin());
    by_stack.resize(allocations.size());
    for (const AllocationIndex a : allocations) {
        by_stack[place[all.stack[a]]++] = a;
    }
    std::vector<StackMemory> stacks;
    for (uint32_t i = 0; i < by_stack.size(); ++i) {
        const AllocationIndex a = by_stack[i];
        if (stacks.empty() || stacks.back().stack != all.stack[a]) {
            stacks.push_back({all.stack[a], i, i, 0, 0, 0});
        }
        stacks.back().last = i + 1;
        stacks.back().bytes += all.block_size[a];
    }
    return stacks;
}

/// The paths of a tree, from its root on.
class Paths {
public:
    Paths(const StackTable& stacks, const CallTreeOptions& options)
        : stacks_(stacks), options_(options), same_(stacks.frame_count(), unknown) {}

    void add(StackMemory& memory) {
        memory.path_begin = static_cast<uint32_t>(steps_.size());
        for (StackId stack = memory.stack; stack != 0; stack = stacks_.stack(stack).caller) {
            if (const FrameId frame = stacks_.stack(stack).frame; is_shown(stacks_.role(frame))) {
                steps_.push_back(same(frame));
            }
        }
        if (options_.direction == CallDirection::top_down) {
            std::reverse(steps_.begin() + memory.path_begin, steps_.end());
        }
        if (steps_.size() == memory.path_begin) {
            steps_.push_back(memory.stack == 0 ? no_stack_step : no_frames_step);
        }
        memory.path_end = static_cast<uint32_t>(steps_.size());
    }

    std::span<const FrameId> of(const StackMemory& memory) const {
        return std::span(steps_).subspan(memory.path_begin, memory.path_end - memory.path_begin);
    }

private:
    static constexpr FrameId unknown = UINT32_MAX;

    bool is_shown(FrameRole role) const {
        return options_.own_code_only ? is_own_code(role) : role != FrameRole::plumbing;
    }

    /// Returns the frame that stands for all of one native function: only their offsets differ.
    FrameId same(FrameId frame) {
        if (is_located(stacks_.role(frame))) {
            return frame;
        }
        if (same_[frame] == unknown) {
            const std::string& function = stacks_.string(stacks_.frame(frame).function);
            same_[frame] = natives_.try_emplace(native_name(function), frame).first->second;
        }
        return same_[frame];
    }

    const StackTable& stacks_;
    CallTreeOptions options_;
    std::vector<FrameId> same_;  ///< by frame
    std::unordered_map<std::string, FrameId> natives_;
    std::vector<FrameId> steps_;
};

/// The nodes of a tree, each followed by its descendants, and their allocations in the same order.
struct FlatTree {
    std::vector<CallNode> nodes{1};
    std::vector<AllocationIndex> allocations;
};

void add_node(FlatTree& flat, CallNodeKind kind, FrameId frame, uint32_t parent) {
    CallNode& node = flat.nodes.emplace_back();
    node.kind = kind;
    node.frame = kind == CallNodeKind::frame ? frame : 0;
    node.parent = parent;
    node.depth = flat.nodes[parent].depth + 1;
    node.first = node.last = static_cast<uint32_t>(flat.allocations.size());
}

/// Adds the sums of the descendants to every node. Requires nodes with sums of their own.
void sum_descendants(std::vector<CallNode>& nodes) {
    for (auto n = static_cast<uint32_t>(nodes.size()); n-- > 0;) {
        CallNode& node = nodes[n];
        node.end = std::max(node.end, n + 1);
        node.total += node.self;
        if (n > 0) {
            CallNode& parent = nodes[node.parent];
            parent.end = std::max(parent.end, node.end);
            parent.last = std::max(parent.last, node.last);
            parent.total += node.total;
        }
    }
}

/// Joins the paths where they begin alike. Sorted, each one continues the one before it or leaves it for good.
FlatTree join(const Paths& paths, std::vector<StackMemory> stacks, std::span<const AllocationIndex> by_stack) {
    std::stable_sort(stacks.begin(), stacks.end(), [&](const StackMemory& a, const StackMemory& b) {
        return std::ranges::lexicographical_compare(paths.of(a), paths.of(b));
    });
    FlatTree flat;
    flat.nodes.front().kind = CallNodeKind::root;
    std::vector<uint32_t> open{CallTree::root};  // the nodes of the path before, from the root on
    std::span<const FrameId> before;
    for (const StackMemory& memory : stacks) {
        const std::span<const FrameId> path = paths.of(memory);
        const auto differs = std::ranges::mismatch(path, before).in1;
        open.resize(static_cast<size_t>(differs - path.begin()) + 1);
        for (auto step = differs; step != path.end(); ++step) {
            add_node(flat, kind_of_step(*step), *step, open.back());
            open.push_back(static_cast<uint32_t>(flat.nodes.size()) - 1);
        }
        const auto of_stack = by_stack.subspan(memory.first, memory.last - memory.first);
        flat.allocations.insert(flat.allocations.end(), of_stack.begin(), of_stack.end());
        CallNode& node = flat.nodes[open.back()];
        node.last = static_cast<uint32_t>(flat.allocations.size());
        node.self_count += memory.last - memory.first;
        node.self += memory.bytes;
        before = path;
    }
    sum_descendants(flat.nodes);
    return flat;
}

/// Returns the tree with the children of every node in the order of their bytes.
FlatTree largest_first(const FlatTree& tree) {
    FlatTree sorted;
    sorted.nodes.clear();
    sorted.nodes.reserve(tree.nodes.size());
    sorted.allocations.reserve(tree.allocations.size());
    struct Step {
        uint32_t from;    ///< in `tree`
        uint32_t parent;  ///< in `sorted`
    };
    // A list instead of recursion: a path may be deeper than the stack of a thread.
    std::vector<Step> steps{{CallTree::root, CallTree::root}};
    while (!steps.empty()) {
        const auto [from, parent] = steps.back();
        steps.pop_back();
        const auto to = static_cast<uint32_t>(sorted.nodes.size());
        CallNode& node = sorted.nodes.emplace_back(tree.nodes[from]);
        const auto own = std::span(tree.allocations).subspan(node.first, node.self_count);
        node.parent = parent;
        node.end = to + (node.end - from);
        node.last = static_cast<uint32_t>(sorted.allocations.size()) + node.count();
        node.first = static_cast<uint32_t>(sorted.allocations.size());
        sorted.allocations.insert(sorted.allocations.end(), own.begin(), own.end());
        const size_t begin = steps.size();
        for (uint32_t child = from + 1; child < tree.nodes[from].end; child = tree.nodes[child].end) {
            steps.push_back({child, to});
        }
        // The last step is the next one, so the largest child comes last.
        std::sort(steps.begin() + static_cast<ptrdiff_t>(begin), steps.end(), [&](const Step& a, const Step& b) {
            const uint64_t bytes_a = tree.nodes[a.from].total, bytes_b = tree.nodes[b.from].total;
            return bytes_a != bytes_b ? bytes_a < bytes_b : a.from > b.from;
        });
    }
    return sorted;
}

}  // namespace

bool is_own_code(FrameRole role) {
    return role == FrameRole::user || role == FrameRole::console || role == FrameRole::program;
}

CallTree::CallTree() : nodes_(1) {
    nodes_[root].kind = CallNodeKind::root;
    nodes_[root].end = 1;
}

CallTree::CallTree(const Trace& trace, const DeviceHistory& device, std::span<const AllocationIndex> allocations,
                   const CallTreeOptions& options) {
    std::vector<AllocationIndex> by_stack;
    std::vector<StackMemory> stacks = sum_by_stack(trace, device.allocations, allocations, by_stack);
    Paths paths(trace.stacks, options);
    for (StackMemory& memory : stacks) {
        paths.add(memory);
    }
    FlatTree flat = largest_first(join(paths, std::move(stacks), by_stack));
    nodes_ = std::move(flat.nodes);
    allocations_ = std::move(flat.allocations);
}

std::span<const AllocationIndex> CallTree::allocations(uint32_t n) const {
    return std::span(allocations_).subspan(nodes_[n].first, nodes_[n].count());
}

}  // namespace tidemark
