// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Simulates other allocator settings: replays the program's recorded requests in a model of PyTorch's caching
// allocator.
//
// The model is used only after a check: with the recorded settings it must reproduce the recorded segments and blocks,
// event by event (check_model).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/base/sentence.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// How well the model reproduces this device's history.
struct ModelCheck {
    bool exact = false;                  ///< every block at its recorded place in a segment, every segment as recorded
    EventNumber differs_at = 0;          ///< first event that differs
    std::optional<Sentence> difference;  ///< the first difference, if there is one
    int64_t events = 0;                  ///< allocator events compared
    int inferred_pools = 0;  ///< private pools that no event names (PyTorch before 2.12), inferred from the behavior
};
ModelCheck check_model(const Trace& trace, const DeviceHistory& device, Progress& progress);

/// The settings to change. Members that are not set stay as recorded.
struct Change {
    std::optional<bool> expandable_segments;
    std::optional<uint64_t> max_split_size;  ///< bytes
    std::optional<uint32_t> roundup_power2_divisions;
    std::optional<double> garbage_collection_threshold;  ///< requires a capacity
    std::vector<EventNumber> empty_cache_at;             ///< states in which all unused memory is returned
    bool ignore_empty_cache = false;                     ///< recorded calls are omitted
    /// Allocations that are freed earlier, e.g. because a leak is fixed. Their frees complete after this state. By
    /// allocation.
    std::vector<std::pair<AllocationIndex, EventNumber>> freed_at;
};

/// The capacity of the driver, in bytes.
struct Capacity {
    int64_t bytes = 0;            ///< largest amount that the allocator could reserve
    bool is_exact = false;        ///< measured when the driver refused; otherwise a lower bound
    int64_t at_most = INT64_MAX;  ///< exclusive upper bound
};
/// Derives the capacity from refusals in the trace (OOMs, retries), the settings, samples and the size of the device;
/// nothing if unknown.
std::optional<Capacity> find_capacity(const Trace& trace, const DeviceHistory& device);

struct Outcome {
    int64_t peak_reserved = 0, peak_reserved_event = 0;
    int64_t peak_allocated = 0;  ///< block bytes
    int64_t end_reserved = 0;
    int64_t driver_allocations = 0;  ///< calls of cudaMalloc, or mappings
    int64_t driver_frees = 0;
    int64_t cached_bytes_returned = 0;    ///< by retries, the garbage collector and empty_cache
    bool fits = true;                     ///< every request was served within the capacity
    std::optional<EventNumber> fails_at;  ///< the first failed request; the model stops there
};

/// Replays all requests. Repeats a request that failed in the recording; if it succeeds, the memory is freed at once,
/// because the program continued without it. If a capacity is set, the model returns cached memory to the driver and
/// retries before it fails, as PyTorch does. If the capacity is not exact, "fits" is valid for it, but "does not fit"
/// only if the replay also fails with at_most - 1. Takes about 100 ns per event, twice that for imported snapshots.
Result<Outcome> what_if(const Trace& trace, const DeviceHistory& device, const Change& change,
                        std::optional<Capacity> capacity, Progress& progress);

}  // namespace tidemark
