// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Leak suspects: memory that grows from iteration to iteration, grouped by what retains it. Each suspect has one cause.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/explain/intervals.h"
#include "storage/explain/retention.h"
#include "storage/explain/rises.h"

namespace tidemark {

struct LeakSuspect {
    Growth growth = Growth::of_count;
    bool is_model = false;                   ///< parameters, buffers, gradients or optimizer state
    const Iterations* iterations = nullptr;  ///< of the interval in which it grows
    std::vector<const Site*> sites;          ///< growing sites; most bytes per iteration first
    const Referrer* referrer = nullptr;  ///< of one allocation or root; the other paths differ only in elements or keys
    ReferrerGroup paths;                 ///< with a referrer: the paths to the memory that lead the same way
    Retention retention;                 ///< of a typical allocation
    AllocationRef example;               ///< that allocation
    /// After join_attributes(): of `paths`, which then lead to the object; positions in GraphTables::texts.
    std::vector<uint32_t> attributes;
    uint32_t root_type = 0;        ///< position in GraphTables::texts of the root's type; 0: not through the graph
    int64_t calls = 0;             ///< unfinished calls of one function, or contexts, that retain it; 0: none
    int64_t roots = 0;             ///< number of distinct roots that retain the suspect
    int64_t bytes = 0, count = 0;  ///< at the context's time point
    std::vector<AllocationIndex> allocations;  ///< that have grown, at that point
    int64_t per_iteration = 0;                 ///< bytes
    size_t since = 0;                          ///< position of the first iteration of the growth
    std::optional<Rises> rises;                ///< if it grows once in several iterations
    Pace pace = Pace::steady;                  ///< of a growing number of tensors
    bool has_unknown_parts = false;            ///< of `sites`, some have the line of another one and no known referrer
    bool through_graph() const { return retention.through_graph; }
};

struct Growing {
    std::vector<LeakSuspect> suspects;  ///< most bytes per iteration first
    bool has_bounded = false;           ///< whether other memory rises, too, and ends with the model (see ModelBound)
};

/// Returns the leak suspects. What one referrer retains forms one suspect; so does
/// memory from one line without a known referrer. A site that grows in several intervals counts in the first.
/// `position`: of the device in Trace::devices. `now`: the context's time point.
Growing find_growing(const Trace& trace, const std::vector<Interval>& intervals, const GraphContext* graph,
                     uint32_t position, EventNumber now);

}  // namespace tidemark
