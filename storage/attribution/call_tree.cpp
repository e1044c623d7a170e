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

/// The allocations of one stack, or of one origin, and the path that the tree shows of it.
struct PathMemory {
    uint32_t key = 0;                       ///< stack or origin
    uint32_t first = 0, last = 0;           ///< in the list sorted by key
    uint32_t path_begin = 0, path_end = 0;  ///< in the list of steps
    uint64_t bytes = 0;
};

/// A frame or a module.
using Step = uint32_t;

/// Stands for the kind in a path that has no frames or modules.
constexpr Step no_stack_step = UINT32_MAX;
constexpr Step no_frames_step = UINT32_MAX - 1;
constexpr Step no_module_step = UINT32_MAX - 2;

CallNodeKind kind_of_step(Step step, TreePath path) {
    return step == no_stack_step       ? CallNodeKind::no_stack
           : step == no_frames_step    ? CallNodeKind::no_frames
           : step == no_module_step    ? CallNodeKind::no_module
           : path == TreePath::modules ? CallNodeKind::module
                                       : CallNodeKind::frame;
}

/// Sorts the allocations by their keys, all below `key_count`, and sums each key, in linear time.
std::vector<PathMemory> sum_by_key(const Allocations& all, const std::vector<uint32_t>& key_of, size_t key_count,
                                   std::span<const AllocationIndex> allocations, std::vector<AllocationIndex>& by_key) {
    std::vector<uint32_t> place(key_count + 1);
    for (const AllocationIndex a : allocations) {
        ++place[key_of[a] + 1];
    }
    std::partial_sum(place.begin(), place.end(), place.begin());
    by_key.resize(allocations.size());
    for (const AllocationIndex a : allocations) {
        by_key[place[key_of[a]]++] = a;
    }
    std::vector<PathMemory> sums;
    for (uint32_t i = 0; i < by_key.size(); ++i) {
        const AllocationIndex a = by_key[i];
        if (sums.empty() || sums.back().key != key_of[a]) {
            sums.push_back({key_of[a], i, i, 0, 0, 0});
        }
        sums.back().last = i + 1;
        sums.back().bytes += all.block_size[a];
    }
    return sums;
}

/// The paths of a tree, from its root on.
class Paths {
public:
    Paths(const Trace& trace, const CallTreeOptions& options)
        : trace_(trace), stacks_(trace.stacks), options_(options), same_(trace.stacks.frame_count(), unknown) {}

    void add(PathMemory& memory) {
        memory.path_begin = static_cast<uint32_t>(steps_.size());
        if (options_.path == TreePath::modules) {
            add_modules(trace_.origins[memory.key].module);
        } else {
            add_frames(memory);
        }
        memory.path_end = static_cast<uint32_t>(steps_.size());
    }

    std::span<const Step> of(const PathMemory& memory) const {
        return std::span(steps_).subspan(memory.path_begin, memory.path_end - memory.path_begin);
    }
    std::vector<std::string> take_modules() { return std::move(modules_); }

private:
    static constexpr FrameId unknown = UINT32_MAX;

    void add_modules(std::string_view path) {
        if (path.empty()) {
            steps_.push_back(no_module_step);
        }
        while (!path.empty()) {
            const size_t end = std::min(path.find('.'), path.size());
            const auto [entry, is_new] =
                module_ids_.try_emplace(std::string(path.substr(0, end)), static_cast<uint32_t>(modules_.size()));
            if (is_new) {
                modules_.push_back(entry->first);
            }
            steps_.push_back(entry->second);
            path.remove_prefix(std::min(end + 1, path.size()));
        }
    }

    void add_frames(const PathMemory& memory) {
        for (StackId stack = memory.key; stack != 0; stack = stacks_.stack(stack).caller) {
            if (const FrameId frame = stacks_.stack(stack).frame; is_shown(stacks_.role(frame))) {
                steps_.push_back(same(frame));
            }
        }
        if (options_.path == TreePath::top_down) {
            std::reverse(steps_.begin() + memory.path_begin, steps_.end());
        }
        if (steps_.size() == memory.path_begin) {
            steps_.push_back(memory.key == 0 ? no_stack_step : no_frames_step);
        }
    }

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

    const Trace& trace_;
    const StackTable& stacks_;
    CallTreeOptions options_;
    std::vector<FrameId> same_;  ///< by frame
    std::unordered_map<std::string, FrameId> natives_;
    std::vector<std::string> modules_{""};
    std::unordered_map<std::string, uint32_t> module_ids_;
    std::vector<Step> steps_;
};

/// The nodes of a tree, each followed by its descendants, and their allocations in the same order.
struct FlatTree {
    std::vector<CallNode> nodes{1};
    std::vector<AllocationIndex> allocations;
};

void add_node(FlatTree& flat, CallNodeKind kind, Step step, uint32_t parent) {
    CallNode& node = flat.nodes.emplace_back();
    node.kind = kind;
    node.frame = kind == CallNodeKind::frame ? step : 0;
    node.module = kind == CallNodeKind::module ? step : 0;
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
FlatTree join(const Paths& paths, TreePath kind, std::vector<PathMemory> sums,
              std::span<const AllocationIndex> by_key) {
    std::stable_sort(sums.begin(), sums.end(), [&](const PathMemory& a, const PathMemory& b) {
        return std::ranges::lexicographical_compare(paths.of(a), paths.of(b));
    });
    FlatTree flat;
    flat.nodes.front().kind = CallNodeKind::root;
    std::vector<uint32_t> open{CallTree::root};  // the nodes of the path before, from the root on
    std::span<const Step> before;
    for (const PathMemory& memory : sums) {
        const std::span<const Step> path = paths.of(memory);
        const auto differs = std::ranges::mismatch(path, before).in1;
        open.resize(static_cast<size_t>(differs - path.begin()) + 1);
        for (auto step = differs; step != path.end(); ++step) {
            add_node(flat, kind_of_step(*step, kind), *step, open.back());
            open.push_back(static_cast<uint32_t>(flat.nodes.size()) - 1);
        }
        const auto own = by_key.subspan(memory.first, memory.last - memory.first);
        flat.allocations.insert(flat.allocations.end(), own.begin(), own.end());
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
    struct Move {
        uint32_t from;    ///< in `tree`
        uint32_t parent;  ///< in `sorted`
    };
    // A list instead of recursion: a path may be deeper than the stack of a thread.
    std::vector<Move> moves{{CallTree::root, CallTree::root}};
    while (!moves.empty()) {
        const auto [from, parent] = moves.back();
        moves.pop_back();
        const auto to = static_cast<uint32_t>(sorted.nodes.size());
        CallNode& node = sorted.nodes.emplace_back(tree.nodes[from]);
        const auto own = std::span(tree.allocations).subspan(node.first, node.self_count);
        node.parent = parent;
        node.end = to + (node.end - from);
        node.last = static_cast<uint32_t>(sorted.allocations.size()) + node.count();
        node.first = static_cast<uint32_t>(sorted.allocations.size());
        sorted.allocations.insert(sorted.allocations.end(), own.begin(), own.end());
        const size_t begin = moves.size();
        for (uint32_t child = from + 1; child < tree.nodes[from].end; child = tree.nodes[child].end) {
            moves.push_back({child, to});
        }
        // The last one is the next, so the largest child comes last.
        std::sort(moves.begin() + static_cast<ptrdiff_t>(begin), moves.end(), [&](const Move& a, const Move& b) {
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
    const bool by_modules = options.path == TreePath::modules;
    const Allocations& all = device.allocations;
    std::vector<AllocationIndex> by_key;
    std::vector<PathMemory> sums =
        sum_by_key(all, by_modules ? all.origin : all.stack,
                   by_modules ? trace.origins.size() : size_t{trace.stacks.stack_count()}, allocations, by_key);
    Paths paths(trace, options);
    for (PathMemory& memory : sums) {
        paths.add(memory);
    }
    FlatTree flat = largest_first(join(paths, options.path, std::move(sums), by_key));
    modules_ = paths.take_modules();
    nodes_ = std::move(flat.nodes);
    allocations_ = std::move(flat.allocations);
}

std::span<const AllocationIndex> CallTree::allocations(uint32_t n) const {
    return std::span(allocations_).subspan(nodes_[n].first, nodes_[n].count());
}

}  // namespace tidemark
