// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Does what commands request of a running recording: pauses and resumes the details, and completes the trace up to now
// for a snapshot.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "recorder/core/ring.h"
#include "recorder/daemon/control_server.h"
#include "recorder/daemon/run_log.h"
#include "recorder/daemon/tick_clock.h"

namespace tidemark::recorder {

class Steering {
public:
    /// All must outlive this object.
    Steering(ControlServer& control, RegionHeader& header, RunLog& run_log, const TickClock& clock)
        : control_(control), header_(header), run_log_(run_log), clock_(clock) {}

    /// Handles requests. The recorder calls it often.
    void serve();
    /// Handles that rows were passed to the disk, complete up to `complete_to` (ns since trace start). The rows of the
    /// commit before are on the disk then.
    void committed(int64_t complete_to);
    bool is_paused() const { return paused_at_.has_value(); }
    /// Ends a pause with the recording, and refuses further requests.
    void end();

private:
    using Clock = std::chrono::steady_clock;

    struct Snapshot {
        uint64_t id = 0;
        Clock::time_point deadline;
        uint32_t scan = 0;  ///< number of the heap scan; 0: the program makes none
        bool is_scanned = false;
        int64_t wanted_to = 0;  ///< ns since trace start; 0: not known yet
        int commits_left = 0;
        int64_t complete_to = 0;
    };

    void pause(uint64_t id);
    void resume(uint64_t id);
    void begin_snapshot(uint64_t id);
    /// Returns whether the snapshot was answered.
    bool advance(Snapshot& snapshot);
    void end_pause();

    ControlServer& control_;
    RegionHeader& header_;
    RunLog& run_log_;
    const TickClock& clock_;
    std::vector<Snapshot> snapshots_;
    std::optional<int64_t> paused_at_;
};

}  // namespace tidemark::recorder
