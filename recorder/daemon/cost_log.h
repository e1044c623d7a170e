// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes what the recording costs the program's threads, about once per second.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "recorder/core/records.h"
#include "recorder/daemon/tick_clock.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

class CostLog {
public:
    CostLog(StreamingWriter& writer, const TickClock& clock) : writer_(writer), clock_(clock) {}

    /// Adds a TIDEMARK_COST or TIDEMARK_HEAP_SCAN record of a thread.
    void on_record(const tidemark_record& record, int64_t thread);
    /// Writes what was added since the last rows, if they are old enough. `all`: in any case.
    void report(int64_t now, bool all = false);

    /// Returns the cost so far. `now`: ns since trace start.
    std::optional<RecordingCostSummary> summary(int64_t now) const;

private:
    StreamingWriter& writer_;
    const TickClock& clock_;
    using Costs = std::map<std::pair<int64_t, CostKind>, RecordingCost>;
    Costs open_;    ///< since the last rows
    Costs totals_;  ///< of all rows: duration and longest
    int64_t last_report_ = 0, rows_ = 0;
};

}  // namespace tidemark::recorder
