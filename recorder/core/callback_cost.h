// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Measures the time that one thread spends in the recorder's callbacks. Nothing here allocates, locks or throws.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

#include "recorder/core/records.h"

namespace tidemark::recorder {

/// Returns CLOCK_MONOTONIC in ns.
inline int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

/// Belongs to one thread. Reading the clock would cost as much as a short callback, so only some are measured, and
/// stand for the others. A callback inside another one belongs to the outer one.
class CallbackCost {
public:
    /// `every`: measures each callback of this number. 61 is odd, because the begin and the end of an op alternate.
    explicit constexpr CallbackCost(uint64_t every = 61) : every_(every), next_measured_((every + 1) / 2) {}

    void enter() {
        if (depth_++ == 0 && ++callbacks_ == next_measured_) [[unlikely]] {
            start_ = monotonic_ns();
        }
    }

    /// Returns true if it is time to send the cost.
    bool leave() { return --depth_ == 0 && start_ != 0 && measure(); }

    /// Returns whether there is a measurement since the last call of take().
    bool has_cost() const { return measurements_ > 0; }

    /// Returns the cost since the last call as a record. Requires has_cost().
    tidemark_record take() {
        const auto callbacks = static_cast<double>(callbacks_ - sent_);
        const double typical = static_cast<double>(measured_) / static_cast<double>(measurements_) * callbacks;
        tidemark_record record{};
        record.kind = TIDEMARK_COST;
        record.detail = TIDEMARK_COST_CALLBACKS;
        record.cost.duration_ns = static_cast<uint64_t>(typical) + static_cast<uint64_t>(rare_);
        record.cost.longest_ns = static_cast<uint64_t>(longest_);
        record.cost.count = callbacks_ - sent_;
        sent_ = callbacks_;
        measurements_ = 0;
        begin_ = measured_ = rare_ = longest_ = 0;
        return record;
    }

private:
    /// A longer callback waited, or prepared something for the first time. It stands for no other.
    static constexpr int64_t longest_typical = 1'000'000;
    static constexpr int64_t period = 200'000'000;

    /// Ends the measurement of a callback. Returns true if it is time to send the cost.
    [[gnu::noinline]] bool measure() {
        const int64_t now = monotonic_ns(), duration = now - start_;
        start_ = 0;
        next_measured_ = callbacks_ + every_;
        longest_ = std::max(longest_, duration);
        if (duration < longest_typical) {
            measured_ += duration;
            ++measurements_;
        } else {
            rare_ += duration;
        }
        begin_ = begin_ == 0 ? now : begin_;
        return measurements_ > 0 && now - begin_ >= period;
    }

    const uint64_t every_;
    uint64_t next_measured_;  ///< not the first one of many, which prepares the thread
    uint64_t callbacks_ = 0, sent_ = 0, measurements_ = 0;
    uint32_t depth_ = 0;
    int64_t start_ = 0, begin_ = 0, measured_ = 0, rare_ = 0, longest_ = 0;  ///< in ns
};

}  // namespace tidemark::recorder
