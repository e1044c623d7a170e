// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/cost_log.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace tidemark::recorder {

namespace {

constexpr int64_t period_ns = 1'000'000'000;
/// The period doubles with each of these, so that a long run has few rows.
constexpr int64_t rows_per_period = 4096;

int64_t limited(uint64_t value, int64_t most) {
    return static_cast<int64_t>(std::min(value, static_cast<uint64_t>(std::max<int64_t>(most, 0))));
}

std::optional<CostKind> kind_of(const tidemark_record& record) {
    constexpr std::array kinds{CostKind::callbacks, CostKind::pause, CostKind::wait};
    static_assert(kinds.size() == TIDEMARK_COST_WAIT + 1);
    if (record.kind == TIDEMARK_HEAP_SCAN) {
        return CostKind::heap_scan;
    }
    return record.detail < kinds.size() ? std::optional(kinds[record.detail]) : std::nullopt;
}

}  // namespace

void CostLog::on_record(const tidemark_record& record, int64_t thread) {
    const std::optional<CostKind> kind = kind_of(record);
    const int64_t time = clock_.time_of(record.ticks);
    if (!kind || time <= 0) {
        return;
    }
    RecordingCost& cost = open_[{thread, *kind}];
    const bool is_first = cost.count == 0;
    const bool is_scan = *kind == CostKind::heap_scan;
    const int64_t count = is_scan ? 1 : limited(record.cost.count, INT32_MAX);
    if (count == 0) {
        return;
    }
    // No thread spends more time here than has passed.
    const int64_t begin = is_first ? last_report_ : cost.start;
    const int64_t duration = limited(is_scan ? record.heap_scan.duration_ns : record.cost.duration_ns, time);
    const uint64_t longest = is_scan ? record.heap_scan.longest_ns : record.cost.longest_ns;
    cost.kind = *kind;
    cost.thread = thread;
    cost.start = std::max<int64_t>(std::min(begin, time - duration), 0);
    cost.end = std::max(cost.end, time);
    cost.count += count;
    cost.duration = std::min(cost.duration + duration, cost.end - cost.start);
    cost.longest = std::max(cost.longest, limited(longest, cost.end - cost.start));
}

std::optional<RecordingCostSummary> CostLog::summary(int64_t now) const {
    std::vector<RecordingCost> costs;
    for (const Costs* part : {&totals_, &open_}) {
        for (const auto& [key, cost] : *part) {
            costs.push_back(cost);
        }
    }
    return summarize(costs, now);
}

void CostLog::report(int64_t now, bool all) {
    const int64_t period = period_ns << std::min<int64_t>(rows_ / rows_per_period, 20);
    if (!all && now - last_report_ < period) {
        return;
    }
    for (const auto& [key, cost] : open_) {
        if (cost.count > 0) {
            writer_.recording_cost(cost);
            ++rows_;
            RecordingCost& total = totals_[key];
            total.kind = cost.kind;
            total.thread = cost.thread;
            total.duration += cost.duration;
            total.longest = std::max(total.longest, cost.longest);
        }
    }
    open_.clear();
    last_report_ = now;
}

}  // namespace tidemark::recorder
