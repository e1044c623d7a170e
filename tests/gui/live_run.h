// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A synthetic run, recorded in real time: training steps with activations, a leak, libraries, samples.
#pragma once

#include <atomic>
#include <string>

#include "storage/base/result.h"

namespace tidemark::gui::test {

struct LiveRunShape {
    double seconds = 5;
    int events_before = 0;  ///< written before the run begins, as the past of a long run
    int events_per_second = 20000;
    int events_per_step = 400;
    bool samples = true;  ///< NVML's figure, driver memory, another process
    bool clean_end = true;
    std::string how_ended = "exited";
    int exit_status = 0;
};

/// Writes the trace in real time and returns when it has ended. `stop` ends it early.
Status write_live_run(const std::string& path, const LiveRunShape& shape, const std::atomic<bool>& stop);

}  // namespace tidemark::gui::test
