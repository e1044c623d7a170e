// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A recording compared with the allocator model under other settings, for users who try settings.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "storage/analysis/analysis.h"
#include "storage/whatif/asked_settings.h"
#include "storage/whatif/hidden_inputs.h"
#include "storage/whatif/what_if.h"

namespace tidemark {

/// The first request that had no memory.
struct FailedRequest {
    EventNumber event = 0;
    int64_t bytes = 0;
    bool is_sure = true;  ///< false: the recording leaves open whether the device had more memory
};

/// What happened in a run, or would happen. Bytes; driver calls are cudaMalloc or mappings, and cudaFree or unmappings.
struct RunFigures {
    int64_t peak_reserved = 0, peak_allocated = 0, end_reserved = 0;
    EventNumber peak_state = 0;  ///< the first state with the peak of reserved memory
    int64_t driver_allocations = 0, driver_frees = 0;
    std::optional<int64_t> retries;  ///< nothing: events do not show them with the recorded settings
    FreeGaps gaps_at_peak, gaps_at_end;
    std::optional<FailedRequest> failed;
    EventNumber known_to = 0;  ///< the last state: the model stops at a request that fails
};

/// One run, and its reserved memory over time.
struct ModelRun {
    RunFigures figures;
    ReservedCurve reserved;
};

/// Returns why the model cannot speak about this device: no events of PyTorch's native allocator. Each reason says what
/// to do.
Status check_replayable(const Trace& trace, const DeviceHistory& device);

/// The recorded run and the model under the recorded settings: how far to trust the model.
struct RecordedRun {
    ModelRun recorded, model;
    ModelCheck check;
    HiddenInputs inputs;
    std::optional<Capacity> capacity;  ///< the limit of replays without another one; nothing: unknown
    int64_t repeated_steps = 0;        ///< replayed as the steps that they repeat
    int64_t unknown_steps = 0;         ///< their requests were deleted to keep the file small: the model lacks them

    /// Returns by which part the model's peak of reserved memory differs from the recorded one: -0.1 is 10 % less.
    double deviation() const;
};

/// Draws the curves with at most `most_columns` columns. Errors: those of check_replayable(), or canceled. Thread: any.
Result<RecordedRun> replay_as_recorded(const Analysis& analysis, int64_t most_columns, Progress& progress);

/// Replays with other settings. `recorded` must be of the same analysis. Errors (usage): settings that PyTorch does not
/// accept, and garbage collection without a memory limit. Takes about 100 ns per event. Thread: any.
Result<ModelRun> replay_with(const Analysis& analysis, const RecordedRun& recorded, const AskedSettings& asked,
                             int64_t most_columns, Progress& progress);

/// Returns the smallest memory limit with which the run completes, in steps of 2 MiB; nothing if none does, or if it is
/// less than what was reserved when the history began, because the requests before are unknown. Replays about 15 times.
Result<std::optional<int64_t>> smallest_limit(const Analysis& analysis, const RecordedRun& recorded,
                                              const AskedSettings& asked, Progress& progress);

}  // namespace tidemark
