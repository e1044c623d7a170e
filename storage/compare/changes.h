// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What changed between two points in time of one run, allocation by allocation.
#pragma once

#include <vector>

#include "storage/compare/compare.h"

namespace tidemark {

/// How the memory of one group differs between two points in time.
struct ChangedGroup {
    std::string name;                              ///< as in AttributionGroup
    Amounts begin, end;                            ///< active at the points
    Amounts made, freed;                           ///< between them: active at the end only, at the begin only
    std::vector<AllocationIndex> new_allocations;  ///< those of `made`, ascending
    StackId stack = 0;                             ///< GroupBy::stack between points of one trace
    std::string name_in_a = {};                    ///< of two traces: the name in A if that is another one

    int64_t difference() const { return end.bytes - begin.bytes; }
};

struct Changes {
    GroupBy by = GroupBy::stack;
    std::vector<ChangedGroup> groups;  ///< largest difference first; groups without memory at both points are left out
    ChangedGroup total;                ///< without a name and without the list
};

/// Compares two points in time of a device. By category, an allocation counts at each point in the category that it has
/// there, so the difference of a group also contains what changed its category.
Changes changes_between(const Trace& trace, const DeviceHistory& device, const AliveIndex& live, const TimePoint& begin,
                        const TimePoint& end, GroupBy by, const GroupOptions& options = {});

}  // namespace tidemark
