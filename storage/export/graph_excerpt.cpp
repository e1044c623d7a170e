// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/graph_excerpt.h"

#include <algorithm>
#include <unordered_set>

#include "storage/graph/categories.h"
#include "storage/graph/pooled_arrays.h"

namespace tidemark {
namespace {

class GraphCutter {
public:
    GraphCutter(const GraphTables& from, int64_t start, int64_t end,
                const std::function<AllocationRef(AllocationRef)>& moved)
        : from_(from), start_(start), end_(end), moved_(moved), place_(from.nodes.size(), no_node) {}

    GraphTables cut() {
        to_.texts = from_.texts;
        to_.nodes_left_out = from_.nodes_left_out;
        cut_nodes();
        cut_edges_and_saved();
        cut_labels();
        cut_referrers();
        return std::move(to_);
    }

private:
    void cut_nodes();
    void cut_edges_and_saved();
    void cut_labels();
    void cut_referrers();

    /// Returns never_happened for a time after the end of the range.
    int64_t moved_time(int64_t time) const { return time > end_ ? never_happened : std::max(time, start_) - start_; }

    const GraphTables& from_;
    int64_t start_, end_;
    const std::function<AllocationRef(AllocationRef)>& moved_;
    std::vector<NodeIndex> place_;
    GraphTables to_;
};

void GraphCutter::cut_nodes() {
    const GraphNodes& from = from_.nodes;
    GraphNodes& to = to_.nodes;
    for (NodeIndex n = 0; n < from.size(); ++n) {
        if (from.created[n] > end_ || from.destroyed[n] <= start_) {
            continue;
        }
        place_[n] = to.size();
        to.id.push_back(from.id[n]);
        to.type.push_back(from.type[n]);
        to.variable.push_back(from.variable[n]);
        to.sequence.push_back(from.sequence[n]);
        to.origin.push_back(from.origin[n]);
        to.stack.push_back(from.stack[n]);
        to.created.push_back(from.created[n] < start_ ? before_recording : moved_time(from.created[n]));
        to.executed.push_back(moved_time(from.executed[n]));
        to.released.push_back(moved_time(from.released[n]));
        to.destroyed.push_back(moved_time(from.destroyed[n]));
        to.output.push_back(moved_(from.output[n]));
    }
}

void GraphCutter::cut_edges_and_saved() {
    for (NodeIndex n = 0; n < from_.nodes.size(); ++n) {
        if (place_[n] == no_node) {
            continue;
        }
        for (uint32_t e = from_.edges.first[n]; e < from_.edges.first[n + 1]; ++e) {
            if (place_[from_.edges.to[e]] != no_node) {
                to_.edges.to.push_back(place_[from_.edges.to[e]]);
                to_.edges.slot.push_back(from_.edges.slot[e]);
                to_.edges.input.push_back(from_.edges.input[e]);
            }
        }
        to_.edges.first.push_back(static_cast<uint32_t>(to_.edges.to.size()));
        const SavedTensors& saved = from_.saved;
        for (uint32_t s = saved.first[n]; s < saved.first[n + 1]; ++s) {
            to_.saved.name.push_back(saved.name[s]);
            to_.saved.allocation.push_back(moved_(saved.allocation[s]));
            to_.saved.offset.push_back(saved.offset[s]);
            to_.saved.bytes.push_back(saved.bytes[s]);
            to_.saved.version.push_back(saved.version[s]);
            to_.saved.is_view.push_back(saved.is_view[s]);
            to_.saved.is_packed.push_back(saved.is_packed[s]);
        }
        to_.saved.first.push_back(static_cast<uint32_t>(to_.saved.name.size()));
    }
}

/// A label that holds for the whole lifetime also holds in the range, even if it was recorded later.
void GraphCutter::cut_labels() {
    std::unordered_set<uint64_t> ended_later;
    for (CategoryLabel label : from_.labels) {
        const AllocationRef old = label.allocation;
        label.allocation = moved_(old);
        if (!label.allocation) {
            continue;
        }
        if (label.time > end_ && label.category == Category::unknown) {
            ended_later.insert(memory_key(old));
        }
        if (label.time > end_ && (!is_valid_from_alloc(label.category) || ended_later.contains(memory_key(old)))) {
            continue;
        }
        label.time = std::clamp(label.time, start_, end_) - start_;
        to_.labels.push_back(label);
    }
}

void GraphCutter::cut_referrers() {
    constexpr uint32_t left_out = UINT32_MAX;
    std::vector<uint32_t> scans;
    for (HeapScan scan : from_.scans) {
        const bool is_within = scan.time >= start_ && scan.time <= end_;
        scans.push_back(is_within ? static_cast<uint32_t>(to_.scans.size()) : left_out);
        if (is_within) {
            scan.time -= start_;
            to_.scans.push_back(std::move(scan));
        }
    }
    for (const Referrer& referrer : from_.referrers) {
        const NodeIndex node = referrer.node == no_node ? no_node : place_[referrer.node];
        const AllocationRef allocation = moved_(referrer.allocation);
        if (scans[referrer.scan] != left_out && (node != no_node || allocation || retains_pooled_arrays(referrer))) {
            to_.referrers.push_back({scans[referrer.scan], node, allocation, referrer.links});
        }
    }
}

}  // namespace

GraphTables excerpt_graph(const GraphTables& graph, int64_t start, int64_t end,
                          const std::function<AllocationRef(AllocationRef)>& moved) {
    return GraphCutter(graph, start, end, moved).cut();
}

}  // namespace tidemark
