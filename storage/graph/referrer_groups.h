// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Referrers of the tensors that retain graphs, from the latest heap scan. Paths that differ only in an index form one
// group: "list `outputs` (variable of main, s01.py:31), elements 0 to 99".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/graph/graph_state.h"

namespace tidemark {

/// Returns whether the scan found only C++ referrers: no path starts at a Python name.
bool is_native(const Referrer& referrer);
/// Returns whether the path starts in a reference cycle to which no variable leads.
bool is_cycle(const Referrer& referrer);
/// Returns the link of the hook on a cycle to which only C++ refers; nullptr if there is none.
const PathLink* hook_on_cycle(const Referrer& referrer);
/// Returns whether the path starts at a variable of the program.
bool has_name(const Referrer& referrer);
/// Returns whether the referrer is a variable whose value is the tensor itself.
bool is_variable(const Referrer& referrer);
/// Returns whether the path leads to a view of a storage, of any size.
bool is_view(const Referrer& referrer);
/// Returns whether the path leads through the traceback of an exception.
bool leads_through_exception(const Referrer& referrer);

/// The referrers found by the last complete heap scan and by all scans with limits, by node and by memory. A scan at
/// the end of a program comes too late for variables of functions that have returned: for what it missed, or reached
/// only from C++ or through a reference cycle, what an earlier scan found counts. Keeps a reference to the index.
/// Immutable. Thread: any.
class ReferrerIndex {
public:
    /// Uses the last complete scan that began at or before `time`, and what scans with limits up to then found instead
    /// or in addition; if there is none, the first scan after it.
    ReferrerIndex(const GraphIndex& index, int64_t time);

    /// Returns the latest of these scans; nullptr if the heap was never scanned.
    const HeapScan* scan() const;
    /// Returns the referrer of the tensor that a node produced: the node's own referrer, or that of its output's
    /// memory. Returns nullptr if none was found.
    const Referrer* of(NodeIndex node) const;
    const Referrer* of(AllocationRef allocation) const;
    /// Like of(), but returns nullptr if only C++ refers to the tensor.
    const Referrer* in_python(NodeIndex node) const { return unless_native(of(node)); }
    const Referrer* in_python(AllocationRef allocation) const { return unless_native(of(allocation)); }
    /// Returns all these referrers, as positions in GraphTables::referrers.
    const std::vector<uint32_t>& referrers() const { return referrers_; }

private:
    static const Referrer* unless_native(const Referrer* referrer) {
        return referrer && !is_native(*referrer) ? referrer : nullptr;
    }

    void use(uint32_t referrer);
    bool counts_if_missed(const Referrer& referrer) const;
    bool is_alive(const Referrer& referrer, int64_t time) const;

    const GraphIndex& index_;
    std::optional<uint32_t> scan_;
    std::vector<uint32_t> referrers_;
    std::unordered_map<NodeIndex, uint32_t> by_node_;
    std::unordered_map<uint64_t, uint32_t> by_memory_;
};

/// Referrers whose retention paths differ only in indices.
struct ReferrerGroup {
    std::vector<PathLink> links;    ///< of the first referrer in the group
    std::optional<size_t> varying;  ///< position of the link whose index varies; none: no index
    int64_t first_index = 0, last_index = 0;
    bool is_growth = false;           ///< of memory that grows: `varying` leads into the container that fills, if known
    int64_t count = 0;                ///< tensors
    std::vector<uint32_t> referrers;  ///< positions in GraphTables::referrers
    int64_t nodes = 0;                ///< of the graph, retained through these tensors
    int64_t allocations = 0;          ///< memory of the tensors themselves
    int64_t reachable_bytes = 0;      ///< of the tensors and their graphs, each allocation once
    int64_t freed_bytes = 0;          ///< part of reachable_bytes that nothing else retains
};

/// Returns the groups, most reachable bytes first; at most the 252 groups with most tensors. Omits tensors to which
/// only the nodes that saved them refer: the graph does not retain itself.
std::vector<ReferrerGroup> referrer_groups(const GraphState& state, const ReferrerIndex& referrers);

/// Appends a link as source code: ".attribute", "[\"key\"]", "[7]", or a name if the text is empty. Returns false and
/// appends nothing for other links.
bool append_link(std::string& text, const GraphTables& tables, const PathLink& link);

/// Returns a group of one referrer. Sets only links and index.
ReferrerGroup group_of(const GraphTables& tables, const Referrer& referrer);

/// Returns the paths to memory that grows as one group. by_age: the paths, which differ only in elements and keys, by
/// the age of the memory. `varying` is the outermost element or key that differs between old and new memory: there the
/// container fills. Of `conversations["a"].layers[3]` that is `conversations`, although each has several layers. If no
/// place differs, hooks of one tensor or module may: then it is the link of the hook.
ReferrerGroup growth_group(const GraphTables& tables, std::span<const Referrer* const> by_age);

}  // namespace tidemark
