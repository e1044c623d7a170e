// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory as a tree of calls: which callers lead to the allocations, and how many bytes each of them accounts for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

enum class CallDirection : uint8_t {
    top_down,   ///< from the program's entry down to the allocating frames
    bottom_up,  ///< from the allocating frames up to their callers
};

struct CallTreeOptions {
    CallDirection direction = CallDirection::top_down;
    bool own_code_only = false;  ///< leaves out the frames that are not is_own_code
};

/// Returns whether a frame is code of the user: Python code outside of packages, or native code of the program itself.
bool is_own_code(FrameRole role);

enum class CallNodeKind : uint8_t {
    root,
    frame,
    no_stack,   ///< the allocations without a stack
    no_frames,  ///< the allocations whose stacks have only frames that the tree leaves out
};

/// A place in the tree: a frame together with all frames on the path from the root.
struct CallNode {
    CallNodeKind kind = CallNodeKind::frame;
    FrameId frame = 0;  ///< 0 if the kind is not `frame`
    uint32_t parent = 0;
    uint32_t end = 0;         ///< one behind the last descendant; node + 1 if there are no children
    uint32_t depth = 0;       ///< 0: the root
    uint64_t total = 0;       ///< bytes of the node and its descendants
    uint64_t self = 0;        ///< bytes of the stacks that end here, on the way from the root
    uint32_t first = 0;       ///< its allocations and those of its descendants in CallTree::allocations()
    uint32_t last = 0;        ///< one behind the last of them
    uint32_t self_count = 0;  ///< allocations of stacks that end here

    uint32_t count() const { return last - first; }
};

/// Immutable. Node 0 is the root; a node's descendants follow it, so they are the numbers node + 1 to CallNode::end.
/// Children are in the order of their bytes, largest first; equal ones are in the order of their frames' ids.
///
/// Leaves out the frames of FrameRole::plumbing, which are below every native stack. Keeps recursion: a function that
/// calls itself is below itself. Entries of one native function that differ only in their offset are one frame.
class CallTree {
public:
    static constexpr uint32_t root = 0;

    /// The tree of nothing.
    CallTree();
    /// Sums the block bytes of `allocations` of `device`. Walks each distinct stack once. Keeps no reference.
    CallTree(const Trace& trace, const DeviceHistory& device, std::span<const AllocationIndex> allocations,
             const CallTreeOptions& options = {});

    std::span<const CallNode> nodes() const { return nodes_; }
    const CallNode& node(uint32_t n) const { return nodes_[n]; }
    bool is_empty() const { return nodes_.size() == 1; }
    /// Returns the allocations of a node and its descendants, in no particular order.
    std::span<const AllocationIndex> allocations(uint32_t n) const;

    /// Calls visit(node) for each child, largest first.
    template <class Visit>
    void for_each_child(uint32_t n, Visit&& visit) const {
        for (uint32_t child = n + 1; child < nodes_[n].end; child = nodes_[child].end) {
            visit(child);
        }
    }

private:
    std::vector<CallNode> nodes_;
    std::vector<AllocationIndex> allocations_;  ///< of one node after another
};

}  // namespace tidemark
