// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The counters of torch.cuda.memory_stats() after any event.
#pragma once

#include <cstddef>
#include <vector>

#include "storage/allocator/counters.h"
#include "storage/replay/alive_index.h"
#include "storage/replay/time_point.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Returns counters from checkpoints, built once by visiting all events, plus a replay of the events since the
/// checkpoint.
class Statistics {
public:
    /// Keeps references: `device` and `live` must outlive this object. Visits every event once (about 50 ns each).
    Statistics(const Trace& trace, const DeviceHistory& device, const AliveIndex& live);

    /// Returns the counters at a point in time, with its event clamped. Within a repeated step, they are those after
    /// the steps before it, changed as the step that it repeats changed them up to the same place. Thread: any.
    Counters at(const TimePoint& point) const;

private:
    Counters after(EventNumber n, size_t rows = SIZE_MAX) const;
    Counters between(EventNumber from, EventNumber to) const;
    Counters within(const TimePoint& point) const;
    size_t first_uncounted(size_t row) const;
    struct Checkpoint {
        EventNumber event = 0;
        Counters counters;
    };
    const Trace& trace_;
    const DeviceHistory& device_;
    const AliveIndex& live_;
    std::vector<Checkpoint> checkpoints_;
};

}  // namespace tidemark
