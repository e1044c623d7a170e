// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory as a tree of calls, or of the model's modules: which of them lead to the allocations, and how many bytes each
// of them accounts for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

/// What leads to an allocation.
enum class TreePath : uint8_t {
    top_down,   ///< its stack, from the program's entry down to the allocating frame
    bottom_up,  ///< its stack, from the allocating frame up to its callers
    modules,    ///< the module whose forward or backward allocated it, from the model down
};

struct CallTreeOptions {
    TreePath path = TreePath::top_down;
    bool own_code_only = false;  ///< of stacks: leaves out the frames that are not is_own_code
};

/// Returns whether a frame is code of the user: Python code outside of packages, or native code of the program itself.
bool is_own_code(FrameRole role);

enum class CallNodeKind : uint8_t {
    root,
    frame,
    module,
    no_module,  ///< the allocations outside of modules
    no_stack,   ///< the allocations without a stack
    no_frames,  ///< the allocations whose stacks have only frames that the tree leaves out
};

/// A place in the tree: a frame or module together with all others on the path from the root.
struct CallNode {
    CallNodeKind kind = CallNodeKind::frame;
    FrameId frame = 0;    ///< 0 if the kind is not `frame`
    uint32_t module = 0;  ///< for CallTree::module(); 0 if the kind is not `module`
    uint32_t parent = 0;
    uint32_t end = 0;         ///< one behind the last descendant; node + 1 if there are no children
    uint32_t depth = 0;       ///< 0: the root
    uint64_t total = 0;       ///< bytes of the node and its descendants
    uint64_t self = 0;        ///< bytes of the paths that end here
    uint32_t first = 0;       ///< its allocations and those of its descendants in CallTree::allocations()
    uint32_t last = 0;        ///< one behind the last of them
    uint32_t self_count = 0;  ///< allocations of paths that end here

    uint32_t count() const { return last - first; }
};

/// Immutable. Node 0 is the root; a node's descendants follow it, so they are the numbers node + 1 to CallNode::end.
/// Children are in the order of their bytes, largest first; equal ones are in the order of their frames' or modules'
/// ids.
///
/// Leaves out the frames of FrameRole::plumbing, which are below every native stack. Keeps recursion: a function that
/// calls itself is below itself. Entries of one native function that differ only in their offset are one frame.
class CallTree {
public:
    static constexpr uint32_t root = 0;

    /// The tree of nothing.
    CallTree();
    /// Sums the block bytes of `allocations` of `device`. Walks each distinct stack or origin once. Keeps no reference.
    CallTree(const Trace& trace, const DeviceHistory& device, std::span<const AllocationIndex> allocations,
             const CallTreeOptions& options = {});

    std::span<const CallNode> nodes() const { return nodes_; }
    const CallNode& node(uint32_t n) const { return nodes_[n]; }
    bool is_empty() const { return nodes_.size() == 1; }
    /// Returns the name of a module within the one that contains it: "attn" of "h.0.attn".
    const std::string& module(uint32_t id) const { return modules_[id]; }
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
    std::vector<std::string> modules_{""};
    std::vector<AllocationIndex> allocations_;  ///< of one node after another
};

}  // namespace tidemark
