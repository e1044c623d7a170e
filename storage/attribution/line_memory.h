// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory by line of the program's source: how many bytes each line accounts for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "storage/replay/alive_index.h"
#include "storage/replay/time_point.h"

namespace tidemark {

/// Bytes of blocks. All but the values of `self` are inclusive: they count each allocation whose stack contains the
/// line, once, also if the line calls itself.
struct LineBytes {
    uint64_t active = 0;       ///< active at the point in time
    uint64_t self = 0;         ///< the part of `active` of which the line is the innermost one of the user's own code
    uint64_t allocated = 0;    ///< by the events of the run or range, freed or not
    uint32_t allocations = 0;  ///< how many
    uint64_t peak = 0;         ///< active at the peak
    uint64_t leaked = 0;       ///< of the allocations that leaks retain

    LineBytes& operator+=(const LineBytes& other);
    bool operator==(const LineBytes&) const = default;
};

struct LineMemory {
    int32_t line = 0;       ///< from 1
    StringId function = 0;  ///< that contains the line; of several the one with the smallest frame id
    LineBytes bytes;
};

struct FileMemory {
    StringId file = 0;
    bool is_own_code = false;       ///< of the user, as is_own_code() of call_tree.h says
    LineBytes total;                ///< of the stacks that contain any line of the file, each once
    std::vector<LineMemory> lines;  ///< ascending; those that are on the stack of an allocation
};

struct SourceMemory {
    std::vector<FileMemory> files;  ///< own code first, then most bytes at the point, at the peak, allocated
    LineBytes total;                ///< of all allocations, also those without a line

    const FileMemory* find(StringId file) const;
};

/// What to sum. All states are of the device.
struct LineMemoryRequest {
    TimePoint point;  ///< of LineBytes::active
    TimePoint peak;   ///< of LineBytes::peak
    /// Of LineBytes::allocated: from the first state to the second. Nothing: the whole run, and what is older than it.
    std::optional<std::pair<EventNumber, EventNumber>> range;
    std::span<const AllocationIndex> leaked;  ///< distinct
};

/// Sums the memory of a device by line. Visits each allocation and each distinct stack once. Repeated steps whose
/// events were not written add nothing to LineBytes::allocated.
SourceMemory memory_by_line(const Trace& trace, const DeviceHistory& device, const AliveIndex& live,
                            const LineMemoryRequest& request);

/// Returns the allocations whose stack contains a line, ascending.
std::vector<AllocationIndex> allocations_of_line(const Trace& trace, const DeviceHistory& device, StringId file,
                                                 int32_t line);

/// Returns the frame of the innermost line of the user's own code on a stack; 0 if there is none.
FrameId own_line(const StackTable& stacks, StackId stack);

/// Returns the own_line() with the most bytes among some allocations; 0 if there is none.
FrameId own_line(const Trace& trace, const DeviceHistory& device, std::span<const AllocationIndex> allocations);

}  // namespace tidemark
