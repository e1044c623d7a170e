// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Converts the ticks of records to ns since the start of the trace.
#pragma once

#include <cstdint>

namespace tidemark::recorder {

/// Interpolates between pairs of readings. Reads the wall clock once, at the start, and CLOCK_MONOTONIC from then on: a
/// change of the wall clock must not make times jump.
class TickClock {
public:
    /// Takes the first two pairs, about 10 ms apart. Time 0 is when the constructor begins.
    TickClock();
    /// Takes another pair. The caller calls this about once per second.
    void calibrate();

    int64_t start_utc_ns() const { return start_utc_ns_; }
    int64_t time_of(uint64_t ticks) const;
    /// Returns whether a record of the program can have this time: not long before the start, and not in the future.
    bool can_be(uint64_t reported) const;
    int64_t now() const;

private:
    struct Pair {
        uint64_t ticks = 0;
        int64_t monotonic = 0;
    };
    static Pair read();
    double ns_since_calibration(uint64_t ticks) const {
        return static_cast<double>(static_cast<int64_t>(ticks - last_.ticks)) * ns_per_tick_;
    }

    Pair first_, last_;
    double ns_per_tick_ = 1;
    int64_t start_utc_ns_ = 0;
};

}  // namespace tidemark::recorder
