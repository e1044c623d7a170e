// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/event_times.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "storage/base/median.h"

namespace tidemark {
namespace {

constexpr int64_t year_us = int64_t{365} * 24 * 3600 * 1'000'000;

template <class Visit>
void for_each_time(Snapshot& snapshot, Visit&& visit) {
    for (auto& trace : snapshot.traces) {
        for (SnapshotEvent& event : trace) {
            visit(event.time_us);
        }
    }
    for (SnapshotAnnotation& annotation : snapshot.annotations) {
        visit(annotation.time_us);
    }
}

/// Returns the median of the times since the epoch. Where there are none, all times count: made by a program that
/// starts its clock at 0.
std::optional<int64_t> median_time(Snapshot& snapshot) {
    std::vector<int64_t> times, since_epoch;
    for_each_time(snapshot, [&](int64_t time) {
        if (time != no_time) {
            (time >= year_us ? since_epoch : times).push_back(time);
        }
    });
    std::vector<int64_t>& all = since_epoch.empty() ? times : since_epoch;
    if (all.empty()) {
        return std::nullopt;
    }
    return median(std::move(all));
}

bool is_near(int64_t time, int64_t median) {
    const int64_t earliest = median < INT64_MIN + year_us ? INT64_MIN : median - year_us;
    const int64_t latest = median > INT64_MAX - year_us ? INT64_MAX : median + year_us;
    return earliest <= time && time <= latest;
}

}  // namespace

void remove_absurd_times(Snapshot& snapshot) {
    const auto median = median_time(snapshot);
    if (!median) {
        return;
    }
    for_each_time(snapshot, [&](int64_t& time) {
        if (time != no_time && !is_near(time, *median)) {
            time = no_time;
        }
    });
}

int64_t first_time(const Snapshot& snapshot) {
    int64_t first = INT64_MAX;
    for (const auto& trace : snapshot.traces) {
        const auto timed = std::find_if(trace.begin(), trace.end(),
                                        [](const SnapshotEvent& event) { return event.time_us != no_time; });
        first = timed == trace.end() ? first : std::min(first, timed->time_us);
    }
    return first == INT64_MAX ? 0 : first;
}

}  // namespace tidemark
