// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/tick_clock.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "recorder/core/ring.h"

namespace tidemark::recorder {

namespace {

template <class Clock>
int64_t ns_now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

constexpr double longest_ns = 1e18;
/// A record can be older than the recorder: the program may have taken its time before it waited for the recorder.
constexpr double most_before_start_ns = 60e9;
/// Clocks of two processors may differ a little.
constexpr double slack_ns = 1e9;

}  // namespace

TickClock::TickClock() : first_(read()), start_utc_ns_(ns_now<std::chrono::system_clock>()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    calibrate();
}

TickClock::Pair TickClock::read() {
    // Takes the attempt with the shortest interruption.
    Pair best;
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < 5; ++i) {
        const uint64_t before = ticks();
        const int64_t monotonic = ns_now<std::chrono::steady_clock>();
        const uint64_t width = ticks() - before;
        if (width < narrowest) {
            narrowest = width;
            best = {before + width / 2, monotonic};
        }
    }
    return best;
}

void TickClock::calibrate() {
    last_ = read();
    if (last_.ticks > first_.ticks) {
        ns_per_tick_ =
            static_cast<double>(last_.monotonic - first_.monotonic) / static_cast<double>(last_.ticks - first_.ticks);
    }
}

int64_t TickClock::time_of(uint64_t ticks) const {
    const double since = std::clamp(ns_since_calibration(ticks), -longest_ns, longest_ns);
    return std::max<int64_t>(0, last_.monotonic - first_.monotonic + static_cast<int64_t>(since));
}

bool TickClock::can_be(uint64_t reported) const {
    const double since = ns_since_calibration(reported);
    const auto start = static_cast<double>(first_.monotonic - last_.monotonic);
    return since > start - most_before_start_ns && (since <= 0 || since < ns_since_calibration(ticks()) + slack_ns);
}

int64_t TickClock::now() const { return time_of(ticks()); }

}  // namespace tidemark::recorder
