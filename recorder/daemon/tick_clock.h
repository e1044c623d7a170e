// From the ticks of records to ns since the trace's start.
#pragma once

#include <cstdint>

namespace tidemark::recorder {

/// Linear between pairs of readings. The wall clock is read once, at the start: it may be set while the run goes on,
/// and times must not jump then; from there on CLOCK_MONOTONIC counts.
class TickClock {
public:
    /// Takes the first pairs, about 10 ms apart; the moment it begins is time zero.
    TickClock();
    /// Takes another pair. To be called about every second.
    void calibrate();

    int64_t start_utc_ns() const { return start_utc_ns_; }
    int64_t time_of(uint64_t ticks) const;
    int64_t now() const;

private:
    struct Pair {
        uint64_t ticks = 0;
        int64_t monotonic = 0;
    };
    static Pair read();

    Pair first_, last_;
    double ns_per_tick_ = 1;
    int64_t start_utc_ns_ = 0;
};

}  // namespace tidemark::recorder
