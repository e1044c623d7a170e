// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/recording_cost.h"

#include <algorithm>
#include <map>

namespace tidemark {

namespace {

constexpr FactWord<CostKind> cost_kind_words[]{{CostKind::callbacks, "callbacks"},
                                               {CostKind::pause, "pause"},
                                               {CostKind::wait, "wait"},
                                               {CostKind::heap_scan, "heap scan"},
                                               {CostKind::unknown, "", true}};

}  // namespace

template <>
std::span<const FactWord<CostKind>> fact_words() {
    return cost_kind_words;
}

std::optional<RecordingCostSummary> summarize(const std::vector<RecordingCost>& costs, int64_t run) {
    if (costs.empty() || run <= 0) {
        return std::nullopt;
    }
    RecordingCostSummary summary;
    std::map<int64_t, int64_t> by_thread;
    int64_t of_all_threads = 0;
    for (const RecordingCost& cost : costs) {
        (cost.kind == CostKind::heap_scan ? of_all_threads : by_thread[cost.thread]) += cost.duration;
        summary.longest_pause = std::max(summary.longest_pause, cost.longest);
    }
    for (const auto& [thread, duration] : by_thread) {
        summary.duration = std::max(summary.duration, duration);
    }
    summary.duration = std::min(summary.duration + of_all_threads, run);
    summary.of_time = static_cast<double>(summary.duration) / static_cast<double>(run);
    return summary;
}

}  // namespace tidemark
