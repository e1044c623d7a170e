// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One frame of `tidemark live` as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recorder/cli/terminal.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"
#include "storage/trace/recording_cost.h"

namespace tidemark::cli {

/// Memory of one line of the program.
struct LiveSite {
    std::string name;
    int64_t bytes = 0, count = 0;
    std::optional<int64_t> per_step;  ///< bytes; nothing: fewer than two steps have ended
};

struct LiveFinding {
    Severity severity = Severity::pattern;
    std::string title;
};

/// What a trace shows about one device now. Names are not made visible yet.
struct LiveView {
    std::string trace;
    bool is_recording = false;
    int64_t duration = 0;  ///< ns from the start of the recording to its last records
    bool details_are_paused = false;
    int device = 0, devices = 0;  ///< number of this one, and how many the trace has; 0: none yet
    std::string device_name;
    int64_t events = 0, allocated = 0, reserved = 0, peak = 0;  ///< bytes
    std::optional<int64_t> device_used;
    int64_t device_total = 0;  ///< 0: unknown
    int64_t steps = 0;
    std::optional<double> steps_per_second;
    std::optional<RecordingCostSummary> cost;
    int64_t site_bytes = 0;                                   ///< of all sites
    std::vector<LiveSite> sites;                              ///< most bytes first
    std::vector<std::pair<std::string, int64_t>> components;  ///< of the memory breakdown, most bytes first
    std::optional<std::vector<LiveFinding>> findings;         ///< nothing: the explanation is not ready yet
    int64_t explained_at = 0;                                 ///< ns since trace start
};

/// Returns at most `size.rows` lines of at most `size.columns` columns, the last one without a line break. Below 40
/// columns or 10 rows, parts are left out. `has_keys`: the last line names the keys.
std::string live_frame(const LiveView& view, TerminalSize size, bool colors, bool has_keys, const Words& words);

}  // namespace tidemark::cli
