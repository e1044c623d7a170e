// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/time_point.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/unit/sample_trace.h"

namespace tidemark {
namespace {

class TimePoints : public testing::Test {
protected:
    EventNumber find(std::string_view text) const {
        const auto found = find_time_point(trace, device, curves, text);
        EXPECT_TRUE(found) << text << ": " << (found ? "" : found.error().sentence.english());
        return found ? found->event : -1;
    }
    std::string error(std::string_view text) const {
        const auto found = find_time_point(trace, device, curves, text);
        EXPECT_FALSE(found) << text;
        if (found) {
            return {};
        }
        EXPECT_EQ(found.error().kind, ErrorKind::usage);
        return found.error().sentence.english();
    }

    const Trace trace = test::sample_trace();
    const DeviceHistory& device = trace.devices[0];
    const Curves curves{device};
};

TEST_F(TimePoints, ParsesEvents) {
    EXPECT_EQ(find("event:0"), 0);
    EXPECT_EQ(find("event:9"), 9);
    EXPECT_EQ(find("end"), 9);
    EXPECT_NE(error("event:10").find("event:0 to event:9"), std::string::npos);
    error("event:-1");
    error("event:");
    error("event:3x");
    error("event:99999999999999999999");
}

TEST_F(TimePoints, FindsTheFirstPeakOfAllocatedBytes) { EXPECT_EQ(find("peak"), 3); }

TEST_F(TimePoints, ConvertsTimesToEvents) {
    EXPECT_EQ(find("time:0"), 1);
    EXPECT_EQ(find("time:2us"), 3);
    EXPECT_EQ(find("time:2500ns"), 3);
    EXPECT_EQ(find("time:0.000008"), 9);
    EXPECT_NE(error("time:1s").find("0 to 0.000008 s"), std::string::npos);
    error("time:-1");
    error("time:soon");
    error("time:");
}

TEST_F(TimePoints, FindsMarksAndAnnotationStarts) {
    EXPECT_EQ(find("mark:epoch"), 6);
    EXPECT_EQ(find("mark:step"), 2);
    EXPECT_EQ(find("mark:step#1"), 2);
    EXPECT_EQ(find("mark:step#2"), 5);
    EXPECT_NE(error("mark:step#3").find("mark:step#1 to mark:step#2"), std::string::npos);
    error("mark:step#0");
    const std::string unknown = error("mark:nothing");
    EXPECT_NE(unknown.find("there are \"epoch\", \"fwd\", \"step\""), std::string::npos) << unknown;
}

TEST_F(TimePoints, AcceptsNumberSignsInNames) {
    Trace named = trace;
    named.annotations[1].name = "Optimizer.step#Adam.step";
    const auto found = find_time_point(named, named.devices[0], curves, "mark:Optimizer.step#Adam.step");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->event, 2);
}

TEST_F(TimePoints, ListsTheFormsInErrors) {
    for (const char* text : {"", "middle", "event", "peak:1", "mark"}) {
        EXPECT_NE(error(text).find("event:N, time:T"), std::string::npos) << text;
    }
}

TEST_F(TimePoints, DescribesAnEvent) {
    EXPECT_EQ(describe_time_point(trace, device, 3).english(), "event 3 of 9, 0.000002 s");
    Trace untimed = trace;
    untimed.data_gaps.emplace_back().reason = DataGapReason::no_times;
    untimed.data_gaps.back().device = 0;
    EXPECT_EQ(describe_time_point(untimed, untimed.devices[0], 3).english(), "event 3 of 9");
}

TEST_F(TimePoints, DescribesTheTimeBetweenEvents) {
    const TimePoint point = *find_time_point(trace, device, curves, "time:2500ns");
    EXPECT_EQ(point, TimePoint(3, std::optional<int64_t>(2500)));
    EXPECT_EQ(describe_time_point(trace, device, point).english(), "0.000003 s, 500 ns after event 3 of 9");
    EXPECT_EQ(*find_time_point(trace, device, curves, "time:2us"), TimePoint(3));
    EXPECT_EQ(*find_time_point(trace, device, curves, "end"), TimePoint(9)) << "the trace ends with its last event";
    EXPECT_EQ(end_point(trace, device, 9000), TimePoint(9, std::optional<int64_t>(9000)));
}

TEST_F(TimePoints, HasNoTimeBetweenEventsWithoutTimes) {
    Trace untimed = trace;
    untimed.data_gaps.emplace_back().reason = DataGapReason::no_times;
    untimed.data_gaps.back().device = 0;
    EXPECT_EQ(*find_time_point(untimed, untimed.devices[0], curves, "time:2500ns"), TimePoint(3));
    EXPECT_EQ(end_point(untimed, untimed.devices[0], 9000), TimePoint(9));
    EXPECT_EQ(next_change(untimed, untimed.devices[0], 3, 1), TimePoint(4));
}

TEST_F(TimePoints, VisitsEveryChangeOfMemoryInBothDirections) {
    Trace run = trace;
    run.samples.emplace_back().time = 2400;
    run.samples.emplace_back().time = 9500;
    run.samples.emplace_back().device = 1;
    DriverAllocation& library = run.driver_allocations.emplace_back();
    library.time = 2600;
    library.free_time = 3000;  // with the fourth event
    run.driver_allocations.emplace_back().in_allocator = true;
    const DeviceHistory& on = run.devices[0];
    const auto between = [](EventNumber event, int64_t time) { return TimePoint(event, std::optional(time)); };
    const std::vector<TimePoint> path{2, 3, between(3, 2400), between(3, 2600), 4, 5};
    for (size_t i = 1; i < path.size(); ++i) {
        EXPECT_EQ(next_change(run, on, path[i - 1], 1), path[i]) << i;
        EXPECT_EQ(next_change(run, on, path[i], -1), path[i - 1]) << i;
    }
    EXPECT_EQ(next_change(run, on, 9, 1), between(9, 9500));
    EXPECT_EQ(next_change(run, on, between(9, 9500), 1), std::nullopt);
    EXPECT_EQ(next_event(run, on, between(9, 9500), -1), TimePoint(9));
    EXPECT_EQ(next_change(run, on, 0, -1), std::nullopt);
}

}  // namespace
}  // namespace tidemark
