// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Pictures do not visit all of a million allocations that are never freed, or only at the end. Compares what they show
// with what visits all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include "storage/timeline/columns.h"

namespace tidemark {
namespace {

/// A device of random allocations, of which a third is never freed; with odd seeds, only after the last allocation.
/// Sizes and stacks are few.
class RandomDevice {
public:
    explicit RandomDevice(uint32_t seed, EventNumber events) : random_(seed) {
        for (EventNumber event = 0; event < events; ++event) {
            freed_.empty() || below(5) < 3 ? allocate(event) : release(event);
        }
        for (AllocationIndex a = 0; seed % 2 == 1 && a < device.allocations.size(); ++a) {
            if (device.allocations.free_event[a] == never) {
                free(a, device.event_count());
            }
        }
        grouping_.first_change.push_back(0);
        for (AllocationIndex a = 0; a < device.allocations.size(); ++a) {
            grouping_.group_of.push_back(static_cast<uint16_t>(below(3)));
            EventNumber changed = device.allocations.alloc_event[a] - 3;
            for (uint32_t i = below(3); i > 0; --i) {
                changed += static_cast<EventNumber>(1 + below(40));
                grouping_.changes.push_back({changed, static_cast<uint16_t>(below(3))});
            }
            grouping_.first_change.push_back(static_cast<uint32_t>(grouping_.changes.size()));
        }
    }

    uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_()) % limit; }
    const Grouping& grouping() const { return grouping_; }

    DeviceHistory device;

private:
    void allocate(EventNumber event) {
        const uint64_t size = 512 * (1 + below(4));
        const auto a = device.allocations.size();
        device.allocations.push_back({event, never, never, 4096ull * a, size - below(2), size,
                                      static_cast<StackId>(1 + below(3)), 0, no_segment, 0});
        device.event_ref.emplace_back(Action::alloc, a);
        device.event_time.push_back(event);
        if (below(3) > 0) {
            freed_.push_back(a);
        }
    }

    void release(EventNumber event) {
        const auto which = freed_.begin() + below(static_cast<uint32_t>(freed_.size()));
        free(*which, event);
        freed_.erase(which);
    }

    void free(AllocationIndex a, EventNumber event) {
        device.allocations.free_event[a] = device.allocations.free_completed[a] = event;
        device.event_ref.emplace_back(Action::free_completed, a);
        device.event_time.push_back(event);
    }

    std::mt19937 random_;
    std::vector<AllocationIndex> freed_;
    Grouping grouping_{{"a", "b", "c"}, {}};
};

/// Returns a place in a step after `event` that repeats the events from `begin` to `end`.
TimePoint place(EventNumber begin, EventNumber end, EventNumber event, EventNumber state) {
    RepeatedPlace repeated;
    repeated.begin = begin;
    repeated.end = end;
    repeated.state = state;
    repeated.after = event + 2;
    return {event, repeated};
}

/// Returns points of all kinds.
std::vector<TimePoint> points_of(RandomDevice& random) {
    std::vector<TimePoint> points;
    const EventNumber events = random.device.event_count();
    for (int i = 0; i < 60; ++i) {
        points.emplace_back(static_cast<EventNumber>(random.below(static_cast<uint32_t>(events))));
        const auto begin = static_cast<EventNumber>(random.below(static_cast<uint32_t>(events / 2)));
        const EventNumber end = begin + 20;
        const EventNumber event = end + static_cast<EventNumber>(random.below(static_cast<uint32_t>(events - end - 2)));
        points.push_back(place(begin, end, event, begin + static_cast<EventNumber>(random.below(20))));
    }
    return points;
}

std::vector<AllocationIndex> sorted(std::vector<AllocationIndex> list) {
    std::sort(list.begin(), list.end());
    return list;
}

/// Returns what exists when a repeated step begins but for what it frees, by the definition in active_walk.cpp.
std::vector<AllocationIndex> longer_lived(const DeviceHistory& device, const AliveIndex& live, const TimePoint& point) {
    const Allocations& all = device.allocations;
    const RepeatedPlace& like = *point.repeated;
    std::vector<AllocationIndex> existing = sorted(live.active_at(point.event));
    for (AllocationIndex freed = 0; freed < all.size(); ++freed) {
        const bool is_freed = all.free_completed[freed] >= like.begin && all.free_completed[freed] < like.end;
        if (!is_freed || all.alloc_event[freed] >= like.begin) {
            continue;
        }
        const auto rank = [&](AllocationIndex a) {
            const bool is_of_like = all.alloc_event[a] >= like.begin && all.alloc_event[a] < like.end;
            return std::tuple(all.requested[a] == all.requested[freed], all.stack[a] == all.stack[freed], is_of_like,
                              a);
        };
        const auto best = std::max_element(existing.begin(), existing.end(),
                                           [&](AllocationIndex a, AllocationIndex b) { return rank(a) < rank(b); });
        if (best != existing.end() && all.requested[*best] == all.requested[freed]) {
            existing.erase(best);
        }
    }
    return existing;
}

TEST(Lasting, WhatIsFreedAfterTheLastAllocationIsLastingUntilThen) {
    const RandomDevice with_leak(0, 600), without(1, 600);
    EXPECT_EQ(AliveIndex(with_leak.device.allocations).lasting_end(), never);

    const Allocations& all = without.device.allocations;
    const AliveIndex live(all);
    const EventNumber last = all.alloc_event[all.size() - 1] + 1;
    EXPECT_EQ(live.lasting_end(), last);
    EXPECT_GT(live.active_at(last).size(), 100u);
    EXPECT_EQ(live.lasting_until(last), live.active_at(last).size()) << "none is visited by itself";
    EXPECT_EQ(live.lasting_until(last + 1), 0u);
}

TEST(Lasting, RepeatedStepsFreeWhatIsMostLikeTheFreed) {
    int from_lasting = 0;
    for (uint32_t seed = 0; seed < 8; ++seed) {
        RandomDevice random(seed, 600);
        const AliveIndex live(random.device.allocations);
        for (const TimePoint& point : points_of(random)) {
            if (!point.repeated) {
                continue;
            }
            std::vector<AllocationIndex> found;
            for (const ActiveAllocation& active : active_allocations(random.device, live, point)) {
                if (active.state == point.event &&
                    random.device.allocations.alloc_event[active.allocation] < point.event) {
                    found.push_back(active.allocation);
                }
            }
            from_lasting += !ActiveWalk(random.device, live).lasting_at(point).gone.empty();
            ASSERT_EQ(sorted(found), longer_lived(random.device, live, point)) << "seed " << seed;
        }
    }
    EXPECT_GT(from_lasting, 20);
}

TEST(Lasting, StackedBytesAreThoseOfAllActiveAllocations) {
    for (uint32_t seed = 0; seed < 8; ++seed) {
        RandomDevice random(seed, 3000);  // more changes than between two sums
        const DeviceHistory& device = random.device;
        const AliveIndex live(device.allocations);
        std::vector<Column> columns;
        for (const TimePoint& point : points_of(random)) {
            columns.emplace_back().time_point = point;
        }
        const Grouping& grouping = random.grouping();
        const auto found = stacked_bytes(device, live, columns, grouping, {device.allocations, live, grouping});
        for (size_t c = 0; c < columns.size(); ++c) {
            std::vector<int64_t> expected(3);
            for (const ActiveAllocation& one : active_allocations(device, live, columns[c].time_point)) {
                expected[grouping.group_at(one.allocation, one.state)] +=
                    static_cast<int64_t>(device.allocations.block_size[one.allocation]);
            }
            ASSERT_EQ(std::vector(found.begin() + static_cast<ptrdiff_t>(3 * c),
                                  found.begin() + static_cast<ptrdiff_t>(3 * c + 3)),
                      expected)
                << "seed " << seed << ", column " << c;
        }
    }
}

TEST(Lasting, FewBandsShowTheSameInEachRow) {
    constexpr int rows = 40;
    const auto shown = [](const std::vector<Band>& bands, double bytes) {
        const auto band = std::find_if(bands.begin(), bands.end(), [&](const Band& b) {
            return static_cast<double>(b.bottom) <= bytes && bytes < static_cast<double>(b.top);
        });
        return band == bands.end() ? no_allocation : band->active.allocation;
    };
    size_t few = 0, all = 0;
    for (uint32_t seed = 0; seed < 8; ++seed) {
        RandomDevice random(seed, 3000);
        const AliveIndex live(random.device.allocations);
        for (const TimePoint& point : points_of(random)) {
            ActiveWalk walk(random.device, live);
            std::vector<Band> every, some;
            bands_at(random.device, walk, point, {}, every);
            if (every.empty()) {
                continue;
            }
            const AllocationIndex also = every[random.below(static_cast<uint32_t>(every.size()))].active.allocation;
            BandsWanted wanted{0, every.back().top, 0, also};
            if (random.below(2) == 0) {
                wanted.low = wanted.high / 3;
            }
            wanted.row_bytes = static_cast<double>(wanted.high - wanted.low) / rows;
            bands_at(random.device, walk, point, wanted, some);
            for (int row = 0; row < rows; ++row) {
                const double middle = static_cast<double>(wanted.low) + (row + 0.5) * wanted.row_bytes;
                ASSERT_EQ(shown(some, middle), shown(every, middle)) << "seed " << seed << ", row " << row;
            }
            // A step can show an allocation twice: as its own, and as that of the step that it repeats.
            const auto is_also = [&](const Band& band) {
                return band.active.allocation == also && band.top > wanted.low;
            };
            ASSERT_EQ(std::any_of(some.begin(), some.end(), is_also), std::any_of(every.begin(), every.end(), is_also));
            few += some.size();
            all += every.size();
        }
    }
    EXPECT_LT(few, all / 4);
}

}  // namespace
}  // namespace tidemark
