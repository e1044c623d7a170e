// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory that was allocated from the driver or returned to it in a recording, one move per event.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/allocator/block_map.h"
#include "storage/trace/trace.h"

namespace tidemark {

struct DriverMove {
    EventNumber event = 0;
    uint64_t address = 0, size = 0;
    bool arrives = false;
    SegmentOwner owner;
    StackId stack = 0;  ///< of the call that caused the driver call
};

/// Returns all moves of a history, by event. Pieces that moved in one event are one move. `pools`: pool of each
/// segment.
std::vector<DriverMove> recorded_moves(const DeviceHistory& device, const std::vector<uint32_t>& pools);

/// Consecutive returns of memory to the driver, with only completed frees between them.
struct ReturnRun {
    size_t first = 0, end = 0;  ///< positions in the moves
    /// Whether the allocator returned the memory to serve the next request, because the driver refused or the garbage
    /// collector ran. Otherwise the program called torch.cuda.empty_cache().
    bool by_request = false;
};

/// Finds the run that starts with the move at `first`, which must be a return. `without_stacks`: the allocator may
/// return memory that was large enough (AllocatorSettings::retries_show() is false); a run right before new memory then
/// belongs to the request, even if neither has a stack.
ReturnRun return_run(const DeviceHistory& device, const std::vector<DriverMove>& moves, size_t first,
                     bool without_stacks);

/// Returns the pools of a run's memory.
std::vector<uint32_t> pools_of(const std::vector<DriverMove>& moves, const ReturnRun& run);

}  // namespace tidemark
