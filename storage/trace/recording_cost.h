// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a recording cost the threads of its program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/trace/facts.h"

namespace tidemark {

/// How the recorder took a thread's time: table recording_cost, column kind.
enum class CostKind : uint8_t {
    callbacks,  ///< calls from PyTorch and the driver; some are measured and stand for all
    pause,      ///< work in Python: names of modules, labels of tensors, comparisons with PyTorch
    wait,       ///< the thread waited for the recorder process
    heap_scan,  ///< of Python's heap: stops all threads
    unknown,
};
template <>
std::span<const FactWord<CostKind>> fact_words();

/// The cost of one kind for one thread in a span of about a second. Times are ns since trace start, durations ns.
struct RecordingCost {
    Fact<CostKind> kind;
    int64_t thread = 0;  ///< as the operating system numbers it
    int64_t start = 0, end = 0;
    int64_t count = 0;     ///< of callbacks, pauses, ...
    int64_t duration = 0;  ///< of all of them
    int64_t longest = 0;   ///< of those measured
    bool operator==(const RecordingCost&) const = default;
};

struct RecordingCostSummary {
    double of_time = 0;  ///< fraction of the run for which the recording stopped the thread that it stopped most
    int64_t duration = 0, longest_pause = 0;  ///< ns
};

/// Returns nothing if the cost is unknown. `run`: duration of the recording in ns.
std::optional<RecordingCostSummary> summarize(const std::vector<RecordingCost>& costs, int64_t run);

}  // namespace tidemark
