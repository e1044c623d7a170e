// What memory did over the whole trace, at any zoom, without ever losing a peak.
//
// Per event there are four values (bytes): allocated, active, requested, reserved. A pyramid keeps minimum and maximum
// over 64, 64*8, 64*64 ... events, so any range is answered from a few hundred nodes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "storage/read/trace.h"

namespace tidemark {

enum class Series : uint8_t { allocated, active, requested, reserved };
constexpr int series_count = 4;

struct Extremes {
    int64_t min = 0, max = 0;
    EventNumber max_event = 0;  ///< the earliest state with that maximum
};

class Curves {
public:
    /// Walks every event once (about 10 ns each). Keeps a reference to `device`.
    explicit Curves(const DeviceHistory& device);

    /// Value in the state after the first n events.
    int64_t value(Series series, EventNumber n) const;
    /// Over the states first..last (inclusive, clamped).
    Extremes extremes(Series series, EventNumber first, EventNumber last) const;
    /// Over the whole trace.
    Extremes peak(Series series) const;

private:
    struct Bucket { int64_t min, max; EventNumber max_event; };
    const DeviceHistory& device_;
    std::array<std::vector<int64_t>, series_count> base_;                   ///< value at each 64th state
    std::array<std::vector<std::vector<Bucket>>, series_count> levels_;     ///< [series][level][bucket]
};

}  // namespace tidemark
