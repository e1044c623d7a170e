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

#include "storage/allocator/rules.h"
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
    std::optional<uint64_t> max_split_size;  ///< bytes; UINT64_MAX: no limit
    std::optional<RoundupDivisions> roundup_divisions;
    std::optional<double> garbage_collection_threshold;  ///< 0: off; otherwise it requires a memory limit
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

/// Free memory between live blocks of a segment, as MemoryState counts it.
struct FreeGaps {
    int64_t bytes = 0, count = 0;
    bool operator==(const FreeGaps&) const = default;
};

struct Outcome {
    int64_t peak_reserved = 0, peak_reserved_event = 0;
    int64_t peak_allocated = 0;  ///< block bytes
    int64_t end_reserved = 0;
    int64_t driver_allocations = 0;  ///< calls of cudaMalloc, or mappings
    int64_t driver_frees = 0;
    int64_t retries = 0;                  ///< requests that the driver refused at first
    int64_t cached_bytes_returned = 0;    ///< by retries, the garbage collector and empty_cache
    bool fits = true;                     ///< every request was served within the capacity
    std::optional<EventNumber> fails_at;  ///< the first failed request
    int64_t failed_bytes = 0;             ///< its size as the program requested it
    EventNumber replayed = 0;             ///< the last state of the replay: the model may stop at a failure
    FreeGaps gaps_at_peak, gaps_at_end;   ///< only if a curve is drawn; at the peak of reserved memory
};

/// The reserved memory of a replay over its states, in a bounded number of columns that keep every peak.
class ReservedCurve {
public:
    struct Column {
        int64_t lowest = INT64_MAX, highest = INT64_MIN;  ///< bytes
    };

    /// Divides the states 0 to `events` into at most `most_columns` columns.
    ReservedCurve(EventNumber events, int64_t most_columns);
    void add(EventNumber state, int64_t bytes);
    EventNumber states_per_column() const { return states_per_column_; }
    /// Ends before the first column that no state was added to.
    const std::vector<Column>& columns() const { return columns_; }

private:
    EventNumber states_per_column_;
    std::vector<Column> columns_;
};

/// Replays all requests, and stops at the first one that fails. Repeats a request that failed in the recording; if it
/// succeeds, the memory is freed at once, because the program continued without it. If a capacity is set, the model
/// returns cached memory to the driver and retries before it fails, as PyTorch does. If the capacity is not exact,
/// "fits" is valid for it, but "does not fit" only if the replay also fails with at_most - 1. Takes about 100 ns per
/// event, twice that for imported snapshots.
Result<Outcome> what_if(const Trace& trace, const DeviceHistory& device, const Change& change,
                        std::optional<Capacity> capacity, Progress& progress);

struct HiddenInputs;

/// The same for known inputs, with the reserved memory over time. Goes on after a request that failed in the recording,
/// too: the program continued without its memory.
Result<Outcome> what_if(const Trace& trace, const DeviceHistory& device, const Change& change,
                        std::optional<Capacity> capacity, const HiddenInputs& inputs, ReservedCurve& curve,
                        Progress& progress);

}  // namespace tidemark
