// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What would have happened with other allocator settings: the program's recorded requests, given to a model of
// PyTorch's caching allocator.
//
// The model is trusted only after a check: with the recorded settings it must make the recorded segments and blocks,
// event by event (check_model).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// How far the model can be trusted on this device's history.
struct ModelCheck {
    bool exact = false;          ///< every block at its recorded place in a segment, every segment as recorded
    EventNumber differs_at = 0;  ///< first event where it is not
    std::string difference;      ///< what is not the same there; empty when exact
    int64_t events = 0;          ///< allocator events compared
    int inferred_pools = 0;  ///< private pools that no event names (PyTorch before 2.12), inferred from what happened
};
ModelCheck check_model(const Trace& trace, const DeviceHistory& device, Progress& progress);

/// What to change. Whatever is not set stays as recorded.
struct Change {
    std::optional<bool> expandable_segments;
    std::optional<uint64_t> max_split_size;  ///< bytes
    std::optional<uint32_t> roundup_power2_divisions;
    std::optional<double> garbage_collection_threshold;  ///< needs a capacity
    std::vector<EventNumber> empty_cache_at;             ///< states in which everything unused is returned
    bool ignore_empty_cache = false;                     ///< calls that were recorded are left out
    /// Allocations that are freed earlier, e.g. because a leak is fixed: completed after this state. By allocation.
    std::vector<std::pair<AllocationIndex, EventNumber>> freed_at;
};

/// The capacity of the driver.
struct Capacity {
    int64_t bytes = 0;            ///< that the allocator could reserve at most
    bool is_exact = false;        ///< seen when the driver refused; else a lower bound: as much was to be had
    int64_t at_most = INT64_MAX;  ///< it was less than this
};
/// From refusals in the trace (OOMs, retries), the settings, samples and the size of the device; nothing: not known.
std::optional<Capacity> find_capacity(const Trace& trace, const DeviceHistory& device);

struct Outcome {
    int64_t peak_reserved = 0, peak_reserved_event = 0;
    int64_t peak_allocated = 0;  ///< block bytes
    int64_t end_reserved = 0;
    int64_t driver_allocations = 0;  ///< calls of cudaMalloc, or mappings
    int64_t driver_frees = 0;
    int64_t cached_bytes_returned = 0;    ///< by retries, the garbage collector and empty_cache
    bool fits = true;                     ///< every request was served within the capacity
    std::optional<EventNumber> fails_at;  ///< the first that was not; the model stops there
};

/// Replays all requests. A request that failed in the recording is made again. If it is served, it is freed at once,
/// because the program continued without it. Where a capacity is set, the model returns cached memory to the driver
/// and tries again before it fails, as PyTorch does. With a capacity that is not exact, "fits" holds for it, "does
/// not fit" only if it does not with at_most - 1 either. About 100 ns an event, twice that for imported snapshots.
Result<Outcome> what_if(const Trace& trace, const DeviceHistory& device, const Change& change,
                        std::optional<Capacity> capacity, Progress& progress);

}  // namespace tidemark
