// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// How memory is retained: by a referrer in Python, through the graph, or by C++ only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "storage/explain/surviving_allocations.h"
#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark {

struct GraphContext;

/// How an allocation is retained.
struct Retention {
    const Referrer* referrer = nullptr;  ///< of the tensor, or of the root that retains it; nullptr: unknown
    const Referrer* native = nullptr;    ///< of the tensor, if only C++ refers to it: a cache, a hook
    const Referrer* hook = nullptr;      ///< of the tensor or the root, if it has a hook_on_cycle()
    bool through_graph = false;          ///< whether a node saved it
    NodeIndex retainer = no_node;        ///< that node
    NodeIndex root = no_node;            ///< the first node of the path to the retainer
    NodeState root_state = NodeState::not_created;
    NodeState retainer_state = NodeState::not_created;
};
Retention retention_of(const GraphContext& graph, AllocationRef allocation);

/// SampledRetention::key of parameters, buffers, gradients and optimizer state, whatever retains their model.
inline constexpr std::string_view model_key = "model";
/// SampledRetention::key of memory that a graph or another C++ object retains.
inline constexpr std::string_view native_key = "native";

/// Returns the same text for all paths that lead into one container, whatever variable they start at: "windows of
/// Memory" for `memory.windows[3]` and `self.windows[4]`. "" if the path leads into none.
std::string container_key(const GraphContext& graph, const Retention& retention);
std::string container_key(const GraphContext& graph, const Referrer& referrer);

/// Returns the link of the variable that each unfinished call, or each context, has for itself: the first one if it is
/// a variable of a function, or a context variable. nullptr if the path has none.
const PathLink* variable_of_call(const Referrer& referrer);

/// Returns the referrer of a tensor that the stack allocated, as the heap scans up to `time` found it: the variable of
/// the outermost function of that stack, of several the last. Arguments of the functions that it calls are other names
/// of the same object, and a traceback retains it only for the moment. Returns nullptr if no scan found a name.
const Referrer* outermost_referrer(const GraphContext& graph, uint32_t device, StackId stack, int64_t time);
/// Returns whether this is the function whose variable this is, at any line.
bool is_function_of(const GraphContext& graph, const Frame& frame, const PathLink& variable);
/// Returns the position of the function whose variable this is among the frames of a stack, outermost match of a
/// recursion; nothing if it is none of them.
std::optional<size_t> position_of_function(const GraphContext& graph, std::span<const FrameId> frames,
                                           const PathLink& variable);
/// Returns whether the referrer is a variable of a function that a function of the stack calls, or of an unknown one,
/// while `outer` is a variable of the latter or a global one.
bool is_alias(const GraphContext& graph, StackId stack, const Referrer& referrer, const Referrer& outer);

/// Returns the paths of the sites' memory that lead the same way as `typical`, as one group (see growth_group()),
/// without a range of elements if scans found a part of them only.
/// `device`: position in Trace::devices.
ReferrerGroup growth_paths(const GraphContext& graph, std::span<const Site* const> sites, const Referrer& typical,
                           uint32_t device);

/// What becomes more.
enum class Growth : uint8_t {
    of_count,  ///< allocations: those of earlier iterations stay
    of_size,   ///< a tensor is made again in each iteration, larger than before
};

/// The retention of one allocation that stands for its site.
struct SampledRetention {
    AllocationRef allocation;
    Retention retention;
    std::string key;    ///< equal for all memory that one variable, container, exception or model retains; "": unknown
    int64_t calls = 0;  ///< at least 3: a variable of this many unfinished calls of one function retains such memory
    bool is_of_few = false;  ///< scans found the container of few of the site's allocations, and nothing of the others
};

/// Returns how most of a few allocations of the site are retained: allocations spread over the site's lifetime, without
/// the newest one, which may be work in progress, and only those that the heap scan could find. A variable without
/// elements or attributes retains one tensor, so it explains no growth of count, unless many calls of its function have
/// not returned. `device`: position in Trace::devices.
SampledRetention typical_retention(const Site& site, Growth growth, const GraphContext* graph, uint32_t device);

}  // namespace tidemark
