// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares predictions of what-if replays with recordings of the same program under the other settings.
#include <gtest/gtest.h>

#include "storage/replay/statistics.h"
#include "storage/whatif/what_if.h"
#include "tests/unit/whatif_traces.h"

namespace tidemark {
namespace {

constexpr int64_t MiB = 1 << 20, GiB = 1 << 30;

Outcome outcome(const Trace& trace, const Change& change, std::optional<Capacity> capacity = std::nullopt) {
    Progress progress;
    const auto result = what_if(trace, trace.main_device(), change, capacity, progress);
    EXPECT_TRUE(result) << result.error().sentence.english();
    return result ? *result : Outcome{};
}

std::string refusal(const Trace& trace, const Change& change) {
    Progress progress;
    const auto result = what_if(trace, trace.main_device(), change, std::nullopt, progress);
    return result ? "" : result.error().sentence.english();
}

int64_t recorded_peak(const Trace& trace) {
    const DeviceHistory& device = trace.main_device();
    const AliveIndex alive(device.allocations);
    return Statistics(trace, device, alive).at(device.event_count()).at(Metric::reserved_bytes, PoolKind::all).peak;
}

Change with_expandable(bool expandable) {
    Change change;
    change.expandable_segments = expandable;
    return change;
}

TEST(WhatIfReplay, PredictsTheSameProgramWithExpandableSegments) {
    const auto segments = test::open_snapshot("s3_varlen"), expandable = test::open_snapshot("varlen_expandable");
    EXPECT_EQ(outcome(*segments, with_expandable(true)).peak_reserved, recorded_peak(*expandable));
    EXPECT_EQ(outcome(*expandable, with_expandable(false)).peak_reserved, recorded_peak(*segments));
}

TEST(WhatIfReplay, FindsTheCapacityBetweenReservedAndRefusedBytes) {
    const auto trace = test::open_example("s09_list_until_out_of_memory");
    const auto capacity = find_capacity(*trace, trace->main_device());
    ASSERT_TRUE(capacity);
    EXPECT_EQ(capacity->bytes, 6 * GiB);
    EXPECT_EQ(capacity->at_most, 6 * GiB + 128 * MiB);
    EXPECT_FALSE(capacity->is_exact);
}

TEST(WhatIfReplay, InfersTheCapacityFromRetries) {
    const auto trace = test::open_snapshot("frag_oom");  // limited to 4 GiB
    const auto capacity = find_capacity(*trace, trace->main_device());
    ASSERT_TRUE(capacity);
    EXPECT_LE(capacity->bytes, 4 * GiB);
    EXPECT_GT(capacity->at_most, 4 * GiB);
    EXPECT_LT(capacity->at_most, 5 * GiB);
}

TEST(WhatIfReplay, RunsOutOfMemoryWhereTheRecordingDid) {
    const auto trace = test::open_example("s09_list_until_out_of_memory");
    const DeviceHistory& device = trace->main_device();
    const Outcome result = outcome(*trace, {}, find_capacity(*trace, device));
    EXPECT_FALSE(result.fits);
    const auto oom = std::find_if(device.others.begin(), device.others.end(),
                                  [](const OtherEvent& other) { return other.action == Action::oom; });
    ASSERT_NE(oom, device.others.end());
    EXPECT_EQ(result.fails_at, oom->event);
}

TEST(WhatIfReplay, ReleasesTheRecordedMemoryInARetry) {
    const auto trace = test::open_snapshot("frag_oom");
    const Outcome result = outcome(*trace, {}, Capacity{4 * GiB, true, 4 * GiB + 1});
    EXPECT_TRUE(result.fits);
    EXPECT_EQ(result.driver_frees, 75);
    EXPECT_EQ(result.peak_reserved, recorded_peak(*trace));
}

TEST(WhatIfReplay, FitsOnceTheLeakIsFixed) {
    const auto trace = test::open_example("s09_list_until_out_of_memory");
    const Allocations& a = trace->main_device().allocations;
    Change change;
    for (AllocationIndex i = 0; i < a.size(); ++i) {
        change.freed_at.push_back({i, a.alloc_event[i] + 1});
    }
    const Outcome result = outcome(*trace, change, find_capacity(*trace, trace->main_device()));
    EXPECT_TRUE(result.fits);
    EXPECT_LT(result.peak_reserved, GiB / 2);
    EXPECT_LE(result.peak_allocated, result.peak_reserved);
}

TEST(WhatIfReplay, DefersFreesUntilTheAllocation) {
    const auto trace = test::open_example("s09_list_until_out_of_memory");
    const Allocations& a = trace->main_device().allocations;
    Change at_once, right_after;
    for (AllocationIndex i = 0; i < a.size(); ++i) {
        at_once.freed_at.push_back({i, 0});
        right_after.freed_at.push_back({i, a.alloc_event[i] + 1});
    }
    EXPECT_EQ(outcome(*trace, at_once).peak_reserved, outcome(*trace, right_after).peak_reserved);
}

TEST(WhatIfReplay, ChangesNothingIfFreedAtTheRecordedEvent) {
    const auto trace = test::open_snapshot("s3_varlen");
    const Allocations& a = trace->main_device().allocations;
    Change change;
    for (AllocationIndex i = 0; i < a.size(); ++i) {
        if (a.free_event[i] != never) {
            change.freed_at.push_back({i, a.free_event[i]});
        }
    }
    ASSERT_FALSE(change.freed_at.empty());
    EXPECT_EQ(outcome(*trace, change).peak_reserved, recorded_peak(*trace));
}

TEST(WhatIfReplay, OmitsRecordedEmptyCache) {
    const auto trace = test::open_snapshot("varlen_expandable");
    EXPECT_LT(outcome(*trace, {}).end_reserved, 100 * MiB);
    Change change;
    change.ignore_empty_cache = true;
    const Outcome result = outcome(*trace, change);
    EXPECT_EQ(result.end_reserved, result.peak_reserved);
    EXPECT_EQ(result.cached_bytes_returned, 0);
}

TEST(WhatIfReplay, AddsEmptyCache) {
    const auto trace = test::open_snapshot("s3_varlen");
    Change change;
    change.empty_cache_at = {trace->main_device().event_count()};
    const Outcome result = outcome(*trace, change);
    EXPECT_LT(result.end_reserved, outcome(*trace, {}).end_reserved);
    EXPECT_GT(result.cached_bytes_returned, 0);
    EXPECT_EQ(result.peak_reserved, recorded_peak(*trace));
}

TEST(WhatIfReplay, ReproducesTheRecordedMaxSplitSize) {
    const auto trace = test::open_snapshot("max_split");  // recorded with 64 MiB
    Change change;
    change.max_split_size = 64 * MiB;
    EXPECT_EQ(outcome(*trace, change).peak_reserved, recorded_peak(*trace));
    change.max_split_size = 1024 * MiB;
    EXPECT_NE(outcome(*trace, change).peak_reserved, recorded_peak(*trace));
}

TEST(WhatIfReplay, EnlargesBlocksByRoundupDivisions) {
    const auto trace = test::open_snapshot("s3_varlen");
    Change change;
    change.roundup_divisions.emplace().fill(2);
    EXPECT_GT(outcome(*trace, change).peak_allocated, outcome(*trace, {}).peak_allocated);
}

TEST(WhatIfReplay, LimitsReservedMemoryByGarbageCollection) {
    const auto trace = test::open_snapshot("gc_threshold");  // limited to 4 GiB, garbage collection at 60 %
    Change change;
    change.garbage_collection_threshold = 0.9;
    const Capacity limit{4 * GiB, true, 4 * GiB + 1};
    EXPECT_GT(outcome(*trace, change, limit).peak_reserved, outcome(*trace, {}, limit).peak_reserved);
    EXPECT_EQ(outcome(*trace, {}, limit).peak_reserved, recorded_peak(*trace));
}

TEST(WhatIfReplay, RejectsInvalidChanges) {
    const auto trace = test::open_snapshot("s3_varlen");
    Change change;
    change.garbage_collection_threshold = 0.8;
    EXPECT_NE(refusal(*trace, change), "") << "without a capacity";
    change = {};
    change.max_split_size = MiB;
    EXPECT_NE(refusal(*trace, change), "");
    change = {};
    change.roundup_divisions.emplace().fill(3);
    EXPECT_NE(refusal(*trace, change), "");
    change = {};
    change.freed_at = {{trace->main_device().allocations.size(), 0}};
    EXPECT_NE(refusal(*trace, change), "");
}

TEST(WhatIfReplay, StopsWhenCanceled) {
    const auto trace = test::open_snapshot("s3_varlen");
    Progress progress;
    progress.canceled = true;
    const auto result = what_if(*trace, trace->main_device(), {}, std::nullopt, progress);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::canceled);
}

}  // namespace
}  // namespace tidemark
