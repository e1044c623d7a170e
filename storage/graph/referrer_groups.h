// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What refers to the tensors that keep graphs alive, as the latest heap scan found it. Paths that differ only in an
// index are one group: "list `outputs` (variable of main, s01.py:31), elements 0 to 99".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/graph/graph_state.h"

namespace tidemark {

/// Whether the scan found only C++ behind it: no path from a Python name leads there.
bool is_native(const Referrer& referrer);

/// The referrers that one heap scan found, by node and by memory. Keeps a reference to the index. Immutable, thread:
/// any.
class ReferrerIndex {
public:
    /// Takes the last scan at or before `time`, or, where there was none, the first one after it.
    ReferrerIndex(const GraphIndex& index, int64_t time);

    /// nullptr: the heap was never scanned.
    const HeapScan* scan() const;
    /// Returns the referrer of the tensor that a node made: the node's own, or that of its output's memory. nullptr:
    /// none was found.
    const Referrer* of(NodeIndex node) const;
    const Referrer* of(AllocationRef allocation) const;
    /// The same, but nullptr for what only C++ refers to.
    const Referrer* in_python(NodeIndex node) const { return unless_native(of(node)); }
    const Referrer* in_python(AllocationRef allocation) const { return unless_native(of(allocation)); }
    /// All of that scan; positions in GraphTables::referrers.
    const std::vector<uint32_t>& referrers() const { return referrers_; }

private:
    static const Referrer* unless_native(const Referrer* referrer) {
        return referrer && !is_native(*referrer) ? referrer : nullptr;
    }

    const GraphIndex& index_;
    std::optional<uint32_t> scan_;
    std::vector<uint32_t> referrers_;
    std::unordered_map<NodeIndex, uint32_t> by_node_;
    std::unordered_map<uint64_t, uint32_t> by_memory_;
};

/// Referrers whose retention paths differ only in indices.
struct ReferrerGroup {
    std::vector<PathLink> links;    ///< of its first referrer
    std::optional<size_t> varying;  ///< the link whose index goes from first_index to last_index; none: no index at all
    int64_t first_index = 0, last_index = 0;
    int64_t count = 0;                ///< tensors
    std::vector<uint32_t> referrers;  ///< positions in GraphTables::referrers
    int64_t nodes = 0;                ///< of the graph, kept alive through them
    int64_t allocations = 0;          ///< the tensors' own memory
    int64_t reachable_bytes = 0;      ///< of the tensors and of what their graphs saved, each allocation once
    int64_t freed_bytes = 0;          ///< of them what nothing else keeps alive
};

/// Returns the groups, most reachable bytes first; of more than 252 groups those with most tensors. Tensors that only
/// nodes refer to, because they saved them, are left out: the graph does not retain itself.
std::vector<ReferrerGroup> referrer_groups(const GraphState& state, const ReferrerIndex& referrers);

/// Appends a link as code writes it: ".attribute", "[\"key\"]", "[7]", or a name where there is none yet. Returns
/// false, and appends nothing, for other links.
bool append_link(std::string& text, const GraphTables& tables, const PathLink& link);

/// Links and index of one referrer alone; nothing else of it is filled.
ReferrerGroup group_of(const GraphTables& tables, const Referrer& referrer);

}  // namespace tidemark
