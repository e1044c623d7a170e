// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The counters of torch.cuda.memory_stats() after any event.
#pragma once

#include <vector>

#include "storage/allocator/counters.h"
#include "storage/replay/alive_index.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Returns counters from checkpoints, built once by visiting all events, plus a replay of the events since the
/// checkpoint.
class Statistics {
public:
    /// Keeps references: `device` and `live` must outlive this object. Visits every event once (about 50 ns each).
    Statistics(const Trace& trace, const DeviceHistory& device, const AliveIndex& live);

    /// Returns the counters after the first `n` events, with n clamped. Thread: any.
    Counters at(EventNumber n) const;

private:
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
