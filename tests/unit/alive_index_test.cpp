// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares AliveIndex, Curves and columns of recorded traces with their definitions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "storage/analysis/analysis.h"
#include "storage/import/import.h"
#include "storage/replay/memory_state.h"
#include "storage/timeline/columns.h"

namespace tidemark {
namespace {

class ReplayedTrace : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        Progress progress;
        auto trace =
            read_snapshot_trace(fmt::format("{}/snapshots/{}.pickle", TIDEMARK_TEST_DATA, GetParam()), progress);
        ASSERT_TRUE(trace) << trace.error().sentence.english();
        trace_ = std::move(*trace);
        analysis_ = std::make_unique<Analysis>(trace_, trace_->main_device());
    }
    const DeviceHistory& device() const { return analysis_->device(); }

    bool is_active(AllocationIndex i, EventNumber n) const {
        const Allocations& a = device().allocations;
        return a.alloc_event[i] < n && n <= a.free_completed[i];
    }
    /// Computes a series from its definition, without an index.
    int64_t defined_value(Series series, EventNumber n) const {
        const Allocations& a = device().allocations;
        int64_t sum = 0;
        if (series == Series::reserved) {
            for (const Segment& s : device().segments) {
                sum += s.alive_at(n) ? static_cast<int64_t>(s.size) : 0;
            }
            return sum;
        }
        for (AllocationIndex i = 0; i < a.size(); ++i) {
            const bool counted =
                series == Series::allocated ? a.alloc_event[i] < n && n <= a.free_event[i] : is_active(i, n);
            sum += counted ? static_cast<int64_t>(series == Series::requested ? a.requested[i] : a.block_size[i]) : 0;
        }
        return sum;
    }

    std::shared_ptr<const Trace> trace_;
    std::unique_ptr<Analysis> analysis_;
};

TEST_P(ReplayedTrace, AliveIndexMatchesDefinitionAtEveryEvent) {
    const int step = std::max(1, device().event_count() / 400);
    for (EventNumber n = 0; n <= device().event_count(); n += step) {
        std::vector<AllocationIndex> expected;
        for (AllocationIndex i = 0; i < device().allocations.size(); ++i) {
            if (is_active(i, n)) {
                expected.push_back(i);
            }
        }
        std::vector<AllocationIndex> found = analysis_->live().active_at(n);
        std::sort(found.begin(), found.end());
        ASSERT_EQ(expected, found) << "at event " << n;
    }
}

TEST_P(ReplayedTrace, AliveIndexListsLastingAllocationsFirst) {
    const Allocations& a = device().allocations;
    const AliveIndex& live = analysis_->live();
    bool seen_other = false;
    for (AllocationIndex i : live.active_at(std::min(device().event_count() / 2, live.lasting_end()))) {
        EXPECT_FALSE(seen_other && a.free_completed[i] >= live.lasting_end());
        seen_other |= a.free_completed[i] < live.lasting_end();
    }
}

TEST_P(ReplayedTrace, CurvesMatchDefinition) {
    const int step = std::max(1, device().event_count() / 150);
    for (EventNumber n = 0; n <= device().event_count(); n += step) {
        for (const Series series : {Series::allocated, Series::active, Series::requested, Series::reserved}) {
            ASSERT_EQ(defined_value(series, n), analysis_->curves().value(series, n))
                << "series " << static_cast<int>(series) << " at event " << n;
        }
    }
}

TEST_P(ReplayedTrace, ExtremesAreExactInEveryRange) {
    const EventNumber end = device().event_count();
    std::vector<int64_t> values;
    for (EventNumber n = 0; n <= end; ++n) {
        values.push_back(analysis_->curves().value(Series::active, n));
    }
    uint32_t seed = 5;
    for (int k = 0; k < 500; ++k) {
        seed = seed * 1664525 + 1013904223;
        const auto first = static_cast<EventNumber>(seed % static_cast<uint32_t>(end + 1));
        seed = seed * 1664525 + 1013904223;
        const auto last = first + static_cast<EventNumber>(seed % static_cast<uint32_t>(end + 1 - first));
        const auto [low, high] = std::minmax_element(values.begin() + first, values.begin() + last + 1);
        const Extremes e = analysis_->curves().extremes(Series::active, first, last);
        ASSERT_EQ(*low, e.min) << first << ".." << last;
        ASSERT_EQ(*high, e.max) << first << ".." << last;
        ASSERT_EQ(*high, values[static_cast<size_t>(e.max_event)]);
    }
}

TEST_P(ReplayedTrace, ColumnsKeepThePeakAtEveryWidth) {
    const Extremes peak = analysis_->curves().peak(Series::active);
    for (const TimeAxis axis : {TimeAxis::wall_clock, TimeAxis::event_index}) {
        const double end =
            axis == TimeAxis::wall_clock ? static_cast<double>(trace_->duration) : device().event_count();
        for (int width = 1; width < 3000; width = width * 3 + 1) {
            const auto columns = make_columns(analysis_->trace(), device(), analysis_->curves(), axis, 0, end, width);
            int64_t highest = 0;
            for (const Column& c : columns) {
                highest = std::max(highest, c.max[static_cast<size_t>(Series::active)]);
                EXPECT_EQ(c.max[static_cast<size_t>(Series::active)],
                          analysis_->curves().value(Series::active, c.time_point));
            }
            EXPECT_EQ(peak.max, highest) << width << " columns";
        }
    }
}

TEST_P(ReplayedTrace, BlocksTileEverySegment) {
    const int step = std::max(1, device().event_count() / 60);
    for (EventNumber n = 0; n <= device().event_count(); n += step) {
        const MemoryState state = memory_state(device(), analysis_->live(), n);
        const Counters counters = analysis_->statistics().at(n);
        for (const SegmentState& segment : state.segments) {
            uint64_t at = segment.address;
            for (const Block& block : segment.blocks) {
                ASSERT_EQ(at, block.address);
                at += block.size;
            }
            ASSERT_EQ(segment.address + segment.size, at);
        }
        EXPECT_EQ(counters.at(Metric::reserved_bytes, PoolKind::all).current, static_cast<int64_t>(state.reserved));
        EXPECT_EQ(counters.at(Metric::allocated_bytes, PoolKind::all).current, static_cast<int64_t>(state.allocated));
        EXPECT_EQ(counters.at(Metric::active_bytes, PoolKind::all).current,
                  static_cast<int64_t>(state.allocated + state.pending));
        EXPECT_EQ(counters.at(Metric::requested_bytes, PoolKind::all).current, static_cast<int64_t>(state.requested));
    }
}

TEST_P(ReplayedTrace, StackedBytesAddUpToTheCurve) {
    Grouping grouping{{"even", "odd"}, {}};
    for (AllocationIndex i = 0; i < device().allocations.size(); ++i) {
        grouping.group_of.push_back(static_cast<uint16_t>(i % 2));
    }
    const auto columns = make_columns(analysis_->trace(), device(), analysis_->curves(), TimeAxis::event_index, 0,
                                      device().event_count(), 97);
    const auto bytes = stacked_bytes(device(), analysis_->live(), columns, grouping,
                                     {device().allocations, analysis_->live(), grouping});
    for (size_t c = 0; c < columns.size(); ++c) {
        EXPECT_EQ(columns[c].max[static_cast<size_t>(Series::active)], bytes[2 * c] + bytes[2 * c + 1]);
    }
}

INSTANTIATE_TEST_SUITE_P(Traces, ReplayedTrace,
                         testing::Values("s0_graph_leak", "streams", "varlen_expandable", "gpt_ring", "cudagraph",
                                         "expandable_mixed", "record_stream", "max_split"),
                         [](const auto& instance) { return std::string(instance.param); });

/// Returns so many events that two threads share the work: blocks of 1 to 64 bytes live for up to 2^20 events.
DeviceHistory long_history(EventNumber events) {
    DeviceHistory device;
    std::multimap<EventNumber, AllocationIndex> due;
    uint32_t seed = 7;
    const auto random = [&seed](uint32_t below) { return (seed = seed * 1664525 + 1013904223) % below; };
    for (EventNumber n = 0; n < events; ++n) {
        if (!due.empty() && due.begin()->first <= n) {
            const AllocationIndex freed = due.begin()->second;
            due.erase(due.begin());
            device.allocations.free_event[freed] = device.allocations.free_completed[freed] = n;
            device.event_ref.emplace_back(Action::free_completed, freed);
        } else {
            const uint64_t size = 1 + random(64);
            device.allocations.push_back({n, never, never, 0, size, size});
            due.emplace(n + 1 + static_cast<EventNumber>(random(2u << random(20))), device.allocations.size() - 1);
            device.event_ref.emplace_back(Action::alloc, device.allocations.size() - 1);
        }
        device.event_time.push_back(n);
    }
    return device;
}

TEST(LongHistory, IndexesBuiltInHalvesMatchTheDefinition) {
    const DeviceHistory device = long_history(300'000);
    const Allocations& a = device.allocations;
    const EventNumber end = device.event_count();
    std::vector<int64_t> bytes{0};
    for (const EventRef ref : device.event_ref) {
        const auto size = static_cast<int64_t>(a.block_size[ref.index()]);
        bytes.push_back(bytes.back() + (ref.action() == Action::alloc ? size : -size));
    }
    const AliveIndex live(a);
    const Curves curves(device);
    for (EventNumber n = 0; n <= end; n += 997) {
        ASSERT_EQ(bytes[static_cast<size_t>(n)], curves.value(Series::active, n)) << "at event " << n;
        int64_t active = 0;
        live.for_each_active(n, [&](AllocationIndex i) { active += static_cast<int64_t>(a.block_size[i]); });
        ASSERT_EQ(bytes[static_cast<size_t>(n)], active) << "at event " << n;
    }
    for (EventNumber first = 0; first <= end; first += 39'916) {
        const EventNumber last = std::min(end, first + 100'001);
        const auto [low, high] = std::minmax_element(bytes.begin() + first, bytes.begin() + last + 1);
        const Extremes e = curves.extremes(Series::allocated, first, last);
        ASSERT_EQ(*low, e.min) << first;
        ASSERT_EQ(*high, e.max) << first;
        ASSERT_EQ(*high, e.max_of_states) << first;
        ASSERT_EQ(*high, bytes[static_cast<size_t>(e.max_event)]) << first;
    }
}

}  // namespace
}  // namespace tidemark
