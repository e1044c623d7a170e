// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/columns.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "storage/base/saturated.h"
#include "storage/timeline/repeated_columns.h"

namespace tidemark {

namespace {

EventNumber state_at(const DeviceHistory& device, TimeAxis axis, double position) {
    if (axis == TimeAxis::event_index) {
        return std::clamp(saturated<EventNumber>(position), 0, device.event_count());
    }
    return device.events_until(saturated<int64_t>(position));
}

/// Rounds the edge of a column to a bucket of the curves. If a column contains many events, the shift is invisible, and
/// whole buckets answer the query. Every state still belongs to a column.
EventNumber snapped(EventNumber n, EventNumber last, double events_per_column) {
    constexpr EventNumber bucket = Curves::bucket_states;
    if (events_per_column < 8.0 * bucket || n == last) {
        return n;
    }
    return std::min(n / bucket * bucket + bucket - 1, last);
}

}  // namespace

std::vector<Column> make_columns(const Trace& trace, const DeviceHistory& device, const Curves& curves, TimeAxis axis,
                                 double from, double to, int count) {
    std::vector<Column> columns(static_cast<size_t>(std::max(count, 0)));
    const double width = (to - from) / std::max(count, 1);
    EventNumber before = state_at(device, axis, from);
    const EventNumber end = state_at(device, axis, to);
    const double events_per_column = static_cast<double>(end - before) / std::max(count, 1);
    const bool has_repeats = axis == TimeAxis::wall_clock && !device.repeats.empty();
    RepeatedColumns repeats(trace, device, curves);
    for (int i = 0; i < count; ++i) {
        Column& column = columns[static_cast<size_t>(i)];
        const EventNumber edge = i + 1 == count ? end : state_at(device, axis, from + (i + 1) * width);
        const EventNumber after = snapped(edge, end, events_per_column);
        // The previous column includes the first state of this column, unless no event happens in this column.
        column.first = i > 0 && after > before ? before + 1 : before;
        column.last = std::max(after, column.first);
        const Curves::All all = has_repeats ? curves.extremes_of_states(column.first, column.last)
                                            : curves.extremes(column.first, column.last);
        for (size_t s = 0; s < series_count; ++s) {
            column.min[s] = all[s].min;
            column.max[s] = all[s].max;
        }
        column.time_point = all[static_cast<size_t>(Series::active)].max_event;
        if (has_repeats) {
            repeats.add(column, saturated<int64_t>(from + i * width), saturated<int64_t>(from + (i + 1) * width));
        }
        before = after;
    }
    return columns;
}

std::vector<int64_t> stacked_bytes(const DeviceHistory& device, const AliveIndex& live, std::span<const Column> columns,
                                   const Grouping& grouping, const LastingBytes& lasting) {
    const size_t groups = grouping.names.size();
    std::vector<int64_t> result(columns.size() * groups, 0);
    const auto& size = device.allocations.block_size;
    ActiveWalk walk(device, live);
    std::vector<ActiveAllocation> active;
    for (size_t c = 0; c < columns.size(); ++c) {
        int64_t* sums = result.data() + c * groups;
        if (c > 0 && columns[c].time_point == columns[c - 1].time_point) {
            std::copy(sums - groups, sums, sums);
            continue;
        }
        const TimePoint& point = columns[c].time_point;
        const LastingActive lasting_there = walk.lasting_at(point);
        lasting.add_at(lasting_there.state, sums);
        for (const uint32_t gone : lasting_there.gone) {
            const AllocationIndex a = live.lasting(gone);
            sums[grouping.group_at(a, lasting_there.state)] -= static_cast<int64_t>(size[a]);
        }
        // Lists before it reads sizes and groups: reads that wait for no branch of the walk overlap.
        active.clear();
        walk.for_each_freed(point, [&](const ActiveAllocation& one) { active.push_back(one); });
        for (const ActiveAllocation& one : active) {
            sums[grouping.group_at(one.allocation, one.state)] += static_cast<int64_t>(size[one.allocation]);
        }
    }
    return result;
}

namespace {

/// Appends the bands of lasting allocations. They are stacked in the same order at any point.
class LastingBands {
public:
    LastingBands(const AliveIndex& live, const LastingActive& active, const BandsWanted& wanted, std::vector<Band>& out)
        : live_(live), active_(active), wanted_(wanted), out_(out), also_(live.place_in_lasting(wanted.also)) {}

    /// Returns the bytes of all of them.
    int64_t add() {
        uint32_t begin = 0;
        int64_t below = 0;
        for (const uint32_t gone : active_.gone) {
            below = add_run(begin, gone, below);
            begin = gone + 1;
        }
        return add_run(begin, active_.count, below);
    }

private:
    /// Adds those in [begin, end), above so many bytes. Returns the bytes below the next ones.
    int64_t add_run(uint32_t begin, uint32_t end, int64_t below) {
        const int64_t shift = below - live_.lasting_bytes(begin);
        const int64_t above = shift + live_.lasting_bytes(end);
        uint32_t next = live_.lasting_above(begin, end, wanted_.low - shift);
        while (next < end && shift + live_.lasting_bytes(next) < wanted_.high) {
            const Band band{{live_.lasting(next), active_.state},
                            shift + live_.lasting_bytes(next),
                            shift + live_.lasting_bytes(next + 1)};
            const double row = wanted_.row_bytes > 0 ? next_middle(band.bottom) : 0;
            if (wanted_.row_bytes <= 0 || row <= static_cast<double>(band.top) + slack() || next == also_) {
                out_.push_back(band);
                ++next;
            } else {
                const uint32_t shown =
                    live_.lasting_above(next + 1, end, saturated<int64_t>(row - slack()) - 1 - shift);
                next = also_ && next < *also_ && *also_ < shown ? *also_ : shown;
            }
        }
        return above;
    }

    /// Returns the lowest middle of a row that is not below these bytes.
    double next_middle(int64_t bytes) const {
        const double rows = (static_cast<double>(bytes - wanted_.low) - slack()) / wanted_.row_bytes - 0.5;
        return static_cast<double>(wanted_.low) + (std::ceil(rows) + 0.5) * wanted_.row_bytes;
    }

    /// Callers round in their own way.
    double slack() const { return 1 + wanted_.row_bytes * 1e-4; }

    const AliveIndex& live_;
    const LastingActive& active_;
    const BandsWanted& wanted_;
    std::vector<Band>& out_;
    std::optional<uint32_t> also_;  ///< the place of that one, if it is lasting
};

}  // namespace

void bands_at(const DeviceHistory& device, ActiveWalk& live, const TimePoint& point, const BandsWanted& wanted,
              std::vector<Band>& out) {
    const LastingActive lasting = live.lasting_at(point);
    int64_t bottom = LastingBands(live.index(), lasting, wanted, out).add();
    // Lists before it reads sizes, as above.
    const auto first = static_cast<ptrdiff_t>(out.size());
    live.for_each_freed(point, [&](const ActiveAllocation& active) { out.push_back({active, 0, 0}); });
    const auto is_outside = [&](Band& band) {
        band.bottom = bottom;
        bottom += static_cast<int64_t>(device.allocations.block_size[band.active.allocation]);
        band.top = bottom;
        return bottom <= wanted.low || band.bottom >= wanted.high;
    };
    out.erase(std::remove_if(out.begin() + first, out.end(), is_outside), out.end());
}

}  // namespace tidemark
