// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The autograd graph of a run, its saved tensors, the categories of allocations, and the referrers of tensors: the
// tables autograd_node, autograd_edge, saved_tensor, allocation_category, heap_scan, referrer and path_link as columns.
//
// They are not part of Trace, because most readers need no graph. Texts belong to this object's own pool; stacks and
// origins are ids of the Trace from the same file.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

using NodeIndex = uint32_t;
constexpr NodeIndex no_node = UINT32_MAX;
constexpr int64_t never_happened = std::numeric_limits<int64_t>::max();    ///< did not happen before the trace ended
constexpr int64_t before_recording = std::numeric_limits<int64_t>::min();  ///< created before the recording

/// An allocation of any device.
struct AllocationRef {
    uint32_t device = 0;  ///< position in Trace::devices
    AllocationIndex index = no_allocation;
    explicit operator bool() const { return index != no_allocation; }
    bool operator==(const AllocationRef&) const = default;
};

/// The role of an allocation in the program. Exact, because it was observed. The numbers are internal; files contain
/// names.
enum class Category : uint8_t {
    unknown,
    parameter,
    buffer,
    gradient,
    optimizer_state,
    saved,  ///< saved by a node of the graph for its backward
    input,
    output,
    temporary,
    workspace,
    communication,  ///< buckets of gradients, and buffers of collectives
    unsharded,      ///< parameters that FSDP gathered from all ranks
};
constexpr int category_count = 12;
/// Returns "parameter", "optimizer state", "saved for backward", ...
std::string_view category_name(Category category);
Category category_from_name(std::string_view name);

/// Nodes by ascending id. Children, which were created earlier, mostly come first. Times are ns since trace start.
struct GraphNodes {
    std::vector<int64_t> id;            ///< as in the file
    std::vector<uint32_t> type;         ///< text: "MulBackward0"
    std::vector<uint32_t> variable;     ///< text: name of the parameter, of AccumulateGrad; 0: unknown or none
    std::vector<int64_t> sequence;      ///< autograd's number on its thread; -1: none
    std::vector<uint32_t> origin;       ///< index into Trace::origins: thread, module, op of the forward
    std::vector<StackId> stack;         ///< of the forward op
    std::vector<int64_t> created;       ///< before_recording if unknown
    std::vector<int64_t> executed;      ///< last time the engine executed it, or never_happened
    std::vector<int64_t> released;      ///< time at which a backward pass released its saved tensors, or never_happened
    std::vector<int64_t> destroyed;     ///< or never_happened
    std::vector<AllocationRef> output;  ///< memory of its first output; of AccumulateGrad: of its variable

    NodeIndex size() const { return static_cast<NodeIndex>(id.size()); }
};

/// The edges of node n are [first[n], first[n + 1]). An edge leads from a node to a node that receives its gradients.
struct GraphEdges {
    std::vector<uint32_t> first{0};
    std::vector<NodeIndex> to;
    std::vector<uint16_t> slot;   ///< position among the node's inputs
    std::vector<uint16_t> input;  ///< index of the other node's output
};

/// The saved tensors of node n are [first[n], first[n + 1]).
struct SavedTensors {
    std::vector<uint32_t> first{0};
    std::vector<uint32_t> name;             ///< text: "self", "result"
    std::vector<AllocationRef> allocation;  ///< none: host memory, packed by hooks, or unknown
    std::vector<uint64_t> offset, bytes;    ///< of the tensor within the allocation
    std::vector<uint16_t> version;
    std::vector<uint8_t> is_view, is_packed;
};

/// The allocation has this category from `time` on. Category::unknown ends earlier labels.
struct CategoryLabel {
    AllocationRef allocation;
    int64_t time = 0;
    Category category = Category::unknown;
    uint32_t name = 0;  ///< text: "transformer.h.0.attn.weight"; 0: none
};

/// One link of a retention path from a variable of the program to a tensor, outermost first.
struct PathLink {
    Fact<PathLinkKind> kind;
    uint32_t name = 0;      ///< text: variable, attribute, key, index
    uint32_t function = 0;  ///< text: of a frame's variable
    uint32_t file = 0;      ///< text
    int32_t line = 0;       ///< line of the frame; 0: unknown

    bool operator==(const PathLink&) const = default;
};

/// The referrer of one tensor in a heap scan.
struct Referrer {
    uint32_t scan = 0;         ///< index into GraphTables::scans
    NodeIndex node = no_node;  ///< the node that created the tensor: a root that the referrer retains
    AllocationRef allocation;  ///< the tensor's memory
    std::vector<PathLink> links;
};

struct HeapScan {
    int64_t time = 0;  ///< of its end, in ns since trace start
    Fact<ScanReason> reason;
    int64_t duration = 0;  ///< ns that the program was paused
    int64_t objects = 0, tensors = 0;

    int64_t began() const { return time - duration; }
};

struct GraphTables {
    std::vector<std::string> texts{""};
    GraphNodes nodes;
    GraphEdges edges;
    SavedTensors saved;
    std::vector<CategoryLabel> labels;  ///< by time
    std::vector<HeapScan> scans;        ///< by time
    std::vector<Referrer> referrers;    ///< by scan
    int64_t nodes_left_out = 0;  ///< short-lived nodes that the recorder only counted (meta graph.nodes_left_out)

    std::vector<DataGap> data_gaps;  ///< damage of the tables above

    bool empty() const { return nodes.size() == 0 && labels.empty() && referrers.empty(); }
};

}  // namespace tidemark
