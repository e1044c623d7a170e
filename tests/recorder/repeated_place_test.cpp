// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Points in time within repeated steps: what a recording without their events says must equal what a full one says.
#include <map>

#include "storage/attribution/attribution.h"
#include "storage/breakdown/breakdown.h"
#include "storage/replay/memory_state.h"
#include "storage/replay/repeated_step.h"
#include "storage/timeline/columns.h"
#include "storage/timeline/time_point.h"
#include "tests/recorder/adaptive_recording.h"

namespace tidemark::test {
namespace {

class RepeatedPlaces : public AdaptiveRecording {
protected:
    /// Records the loop twice.
    void record_both(const Loop& loop) {
        const auto full = record(loop, "full"), adaptive = record(loop, "adaptive");
        ASSERT_TRUE(full && adaptive);
        full_.emplace(full, full->devices.at(0));
        adaptive_.emplace(adaptive, adaptive->devices.at(0));
    }

    /// Returns the step of the recording without its events.
    std::optional<RepeatedStep> repeated(size_t step) const {
        const Trace& trace = adaptive_->trace();
        return RepeatedStep::at(trace, adaptive_->device(), *trace.steps.at(step).end);
    }

    /// Calls compare(state of the full recording, place in the other one) after each event of each repeated step.
    /// Compares each third of these steps, and returns their number.
    template <class Compare>
    int for_each_place(const Compare& compare) const {
        int found = 0;
        for (size_t i = 0; i < full_->trace().steps.size(); ++i) {
            const auto step = repeated(i);
            if (!step) {
                continue;
            }
            if (++found % 3 != 0) {
                continue;
            }
            const EventNumber first = full_->device().events_until(full_->trace().steps[i].start);
            for (EventNumber n = 0; n <= step->like_end() - step->like_begin(); ++n) {
                SCOPED_TRACE("step " + std::to_string(i) + ", event " + std::to_string(n));
                compare(first + n, step->at_state(step->like_begin() + n));
                if (HasFailure()) {
                    return found;
                }
            }
        }
        return found;
    }

    using Rows = std::map<std::string, std::array<int64_t, 4>>;
    static Rows rows_at(const Analysis& analysis, const TimePoint& point, GroupBy by) {
        Rows rows;
        for (const AttributionGroup& group :
             attribution_at(analysis.trace(), analysis.device(), analysis.live(), point, by)) {
            rows[group.name] = {group.allocations, group.requested, group.block_bytes, group.pending};
        }
        return rows;
    }

    void expect_same_memory(EventNumber state, const TimePoint& place) const {
        EXPECT_EQ(rows_at(*full_, state, GroupBy::line), rows_at(*adaptive_, place, GroupBy::line));
        EXPECT_EQ(rows_at(*full_, state, GroupBy::size), rows_at(*adaptive_, place, GroupBy::size));
        for (const Series series : {Series::allocated, Series::active, Series::requested, Series::reserved}) {
            EXPECT_EQ(full_->curves().value(series, state), adaptive_->curves().value(series, place));
        }
        const MemoryState expected = memory_state(full_->device(), full_->live(), state),
                          found = memory_state(adaptive_->device(), adaptive_->live(), place);
        EXPECT_EQ(std::tuple(expected.reserved, expected.allocated, expected.pending, expected.requested),
                  std::tuple(found.reserved, found.allocated, found.pending, found.requested));
        EXPECT_EQ(expected.free_in_gaps + expected.free_in_cached_segments,
                  found.free_in_gaps + found.free_in_cached_segments);
    }

    /// Splits of segments depend on addresses, which are unknown within repeated steps.
    static std::vector<Stat> certain(const Counters& counters) {
        std::vector<Stat> stats;
        for (const Metric metric : {Metric::allocation, Metric::segment, Metric::active, Metric::allocated_bytes,
                                    Metric::reserved_bytes, Metric::active_bytes, Metric::requested_bytes}) {
            for (const PoolKind pool : {PoolKind::all, PoolKind::large, PoolKind::small}) {
                stats.push_back(counters.at(metric, pool));
            }
        }
        return stats;
    }

    std::optional<Analysis> full_, adaptive_;
};

TEST_F(RepeatedPlaces, HaveTheMemoryOfAFullRecording) {
    for (const Loop& loop :
         {Loop{}, Loop{.leak = KiB}, Loop{.leak = MiB}, Loop{.other_step = 100, .stops_keeping = 150}}) {
        record_both(loop);
        const int found =
            for_each_place([&](EventNumber state, const TimePoint& place) { expect_same_memory(state, place); });
        EXPECT_GT(found, 50) << loop.leak;
    }
}

TEST_F(RepeatedPlaces, HaveTheCountersOfAFullRecording) {
    for (const Loop& loop : {Loop{}, Loop{.leak = KiB}, Loop{.other_step = 100, .stops_keeping = 150}}) {
        record_both(loop);
        EventNumber compared = 0;
        for_each_place([&](EventNumber state, const TimePoint& place) {
            if (++compared % 29 == 0) {
                EXPECT_TRUE(certain(full_->statistics().at(state)) == certain(adaptive_->statistics().at(place)));
            }
        });
        EXPECT_GT(compared, 1000) << loop.leak;
    }
}

TEST_F(RepeatedPlaces, AreFoundByTime) {
    record_both({});
    for_each_place([&](EventNumber, const TimePoint& place) {
        EXPECT_EQ(time_point_at(adaptive_->trace(), adaptive_->device(), place.repeated->time).repeated,
                  place.repeated);
    });
}

TEST_F(RepeatedPlaces, HaveThePeakOfTheirStep) {
    record_both({.leak = KiB});
    const Trace& trace = adaptive_->trace();
    const DeviceHistory& device = adaptive_->device();
    const auto find = [&](const std::string& name) {
        return find_time_point(trace, device, adaptive_->curves(), name).value();
    };
    int found = 0;
    const std::vector<int64_t> expected = peaks(full_->trace());
    for (size_t i = 0; i < trace.steps.size(); ++i) {
        const TimePoint peak = find("step:" + std::to_string(i) + ":peak");
        EXPECT_EQ(adaptive_->curves().value(Series::allocated, peak), expected[i]) << i;
        EXPECT_EQ(peak.repeated.has_value(), repeated(i).has_value());
        found += peak.repeated ? 1 : 0;
    }
    EXPECT_GT(found, 150);
    const TimePoint highest = find("peak");
    ASSERT_TRUE(highest.repeated);
    const std::string sentence = describe_time_point(trace, device, highest).english();
    const std::string expected_words = "(step " + std::to_string(highest.repeated->step) + " repeats step 19: ";
    EXPECT_NE(sentence.find(expected_words), std::string::npos) << sentence;
    const EventNumber in_full = full_->curves().peak(Series::allocated).max_event;
    expect_same_memory(in_full, highest);
    const Step& step = full_->trace().steps[static_cast<size_t>(highest.repeated->step)];
    EXPECT_GT(in_full, full_->device().events_until(step.start));
    EXPECT_LE(in_full, full_->device().events_until(*step.end));
}

/// Expects that each column shows the state of its highest bytes. Returns the highest of all.
int64_t highest_shown(const Analysis& analysis, double from, double to, int count) {
    const auto active = static_cast<size_t>(Series::active);
    int64_t highest = 0;
    for (const Column& column :
         make_columns(analysis.trace(), analysis.device(), analysis.curves(), TimeAxis::wall_clock, from, to, count)) {
        const auto& place = column.time_point.repeated;
        EXPECT_EQ(column.max[active], analysis.curves().value(Series::active, column.time_point))
            << count << " columns, event " << column.time_point.event << ", step " << (place ? place->step : -1);
        EXPECT_LE(column.min[active], column.max[active]);
        highest = std::max(highest, column.max[active]);
    }
    return highest;
}

TEST_F(RepeatedPlaces, AreDrawn) {
    record_both({.leak = KiB});
    const Trace& trace = adaptive_->trace();
    for (const size_t i : {size_t{30}, size_t{100}, trace.steps.size() - 2}) {
        const Step& step = trace.steps[i];
        ASSERT_TRUE(repeated(i));
        const auto start = static_cast<double>(step.start), end = static_cast<double>(*step.end);
        for (const int count : {1, 7, 400}) {
            EXPECT_EQ(highest_shown(*adaptive_, start, end, count), peaks(full_->trace())[i]) << i << ' ' << count;
        }
        const auto inside =
            make_columns(trace, adaptive_->device(), adaptive_->curves(), TimeAxis::wall_clock, start, end, 400);
        std::set<int64_t> levels;
        std::transform(inside.begin(), inside.end(), std::inserter(levels, levels.end()),
                       [](const Column& column) { return column.max[0]; });
        EXPECT_GT(levels.size(), 10u) << "the curve of the step that is repeated";
    }
    for (const int count : {5, 64, 1000, 5000}) {
        EXPECT_EQ(highest_shown(*adaptive_, 0, static_cast<double>(trace.duration), count),
                  full_->curves().peak(Series::active).max)
            << count;
    }
}

TEST_F(RepeatedPlaces, HaveABreakdownThatAddsUp) {
    record_both({.leak = KiB});
    const Breakdown breakdown(std::make_shared<Analysis>(adaptive_->shared_trace(), adaptive_->device()));
    for_each_place([&](EventNumber, const TimePoint& place) {
        const BreakdownRow row = breakdown.at(place);
        int64_t sum = 0;
        for (const Component& component : row.components) {
            EXPECT_GT(component.bytes, 0);
            sum += component.bytes;
        }
        EXPECT_EQ(sum, adaptive_->curves().value(Series::reserved, place));
        EXPECT_EQ(row.bytes_of(ComponentKind::requested) + row.bytes_of(ComponentKind::rounding),
                  adaptive_->curves().value(Series::allocated, place));
    });
}

}  // namespace
}  // namespace tidemark::test
