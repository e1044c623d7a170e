// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares the allocator model with PyTorch: every block and segment of every recording.
#include <gtest/gtest.h>

#include "storage/replay/statistics.h"
#include "storage/whatif/what_if.h"
#include "tests/unit/whatif_traces.h"

namespace tidemark {
namespace {

class WhatIfModel : public testing::TestWithParam<std::string> {};

TEST_P(WhatIfModel, ReproducesEveryRecordedBlockAndSegment) {
    const auto trace = test::open_any(GetParam());
    ASSERT_FALSE(trace->devices.empty());
    for (const DeviceHistory& device : trace->devices) {
        Progress progress;
        const ModelCheck check = check_model(*trace, device, progress);
        EXPECT_TRUE(check.exact) << "device " << device.device << ", event " << check.differs_at << ": "
                                 << (check.difference ? check.difference->english() : "");
        EXPECT_EQ(check.events, device.event_count());
        EXPECT_FALSE(check.difference);
    }
}

/// Skips recordings with out-of-memory errors or retries, because a replay without a capacity never fails.
TEST_P(WhatIfModel, ReproducesRecordedCountersWithoutChanges) {
    const auto trace = test::open_any(GetParam());
    for (const DeviceHistory& device : trace->devices) {
        const AliveIndex alive(device.allocations);
        const Counters counters = Statistics(*trace, device, alive).at(device.event_count());
        if (!counters.retries_known || counters.num_ooms + counters.num_alloc_retries > 0) {
            continue;
        }
        Progress progress;
        const auto outcome = what_if(*trace, device, {}, std::nullopt, progress);
        ASSERT_TRUE(outcome) << outcome.error().sentence.english();
        const auto of = [&](Metric metric) { return counters.at(metric, PoolKind::all); };
        EXPECT_EQ(outcome->peak_reserved, of(Metric::reserved_bytes).peak);
        EXPECT_EQ(outcome->end_reserved, of(Metric::reserved_bytes).current);
        EXPECT_EQ(outcome->peak_allocated, of(Metric::allocated_bytes).peak);
        EXPECT_EQ(outcome->driver_allocations, counters.num_device_alloc);
        EXPECT_EQ(outcome->driver_frees, counters.num_device_free);
        EXPECT_TRUE(outcome->fits);
    }
}

INSTANTIATE_TEST_SUITE_P(Traces, WhatIfModel, testing::ValuesIn(test::all_traces()), test::trace_name);

/// A copy of a recording that tests modify.
struct ModifiedRecording {
    Trace trace = *test::open_snapshot("s3_varlen");
    DeviceHistory& device() { return trace.devices.front(); }
    ModelCheck check() {
        Progress progress;
        return check_model(trace, device(), progress);
    }
    AllocationIndex last() { return device().allocations.size() - 1; }
};

TEST(WhatIfCheck, DetectsAMovedBlock) {
    ModifiedRecording modified;
    modified.device().allocations.address[modified.last()] += 512;
    const ModelCheck check = modified.check();
    EXPECT_FALSE(check.exact);
    EXPECT_EQ(check.differs_at, modified.device().allocations.alloc_event[modified.last()]);
    EXPECT_TRUE(check.difference);
}

TEST(WhatIfCheck, DetectsAnotherBlockSize) {
    ModifiedRecording modified;
    modified.device().allocations.block_size[modified.last()] += 512;
    EXPECT_EQ(modified.check().differs_at, modified.device().allocations.alloc_event[modified.last()]);
}

TEST(WhatIfCheck, DetectsAnotherSegmentSize) {
    ModifiedRecording modified;
    Segment& segment = modified.device().segments.back();
    segment.size += 2 << 20;
    const ModelCheck check = modified.check();
    EXPECT_FALSE(check.exact);
    EXPECT_GE(check.differs_at, segment.alloc_event);
}

TEST(WhatIfCheck, DetectsOtherSettings) {
    ModifiedRecording modified;
    modified.trace.settings["PYTORCH_CUDA_ALLOC_CONF"] = "\"expandable_segments:False,max_split_size_mb:64\"";
    modified.trace.settings["max_split_size"] = "67108864";
    EXPECT_FALSE(modified.check().exact);
}

/// The history begins with a gap in expandable memory. PyTorch fills the gap before it grows the end.
TEST(WhatIfCheck, FillsInitialGapsInExpandableMemory) {
    constexpr uint64_t portion = 20 << 20, base = uint64_t{1} << 40;
    Trace trace;
    trace.settings["expandable_segments"] = "true";
    trace.streams = {{0, ""}};
    trace.pools = {Pool{}};
    trace.processes = {Process{}};
    DeviceHistory device;
    device.total_bytes = int64_t{1} << 36;
    const auto add = [&](EventNumber event, uint64_t offset) {
        Segment piece;
        piece.address = base + offset * portion;
        piece.size = portion;
        piece.alloc_event = event;
        piece.is_large = piece.is_expandable = true;
        device.segments.push_back(piece);
        Allocation lifetime;
        lifetime.alloc_event = event == before_history ? event : event + 1;
        lifetime.address = piece.address;
        lifetime.requested = lifetime.block_size = portion;
        lifetime.segment = static_cast<uint32_t>(device.segments.size() - 1);
        device.allocations.push_back(lifetime);
    };
    add(before_history, 0);
    add(before_history, 2);
    add(0, 1);
    add(2, 3);
    device.event_ref = {{Action::segment_map, 2}, {Action::alloc, 2}, {Action::segment_map, 3}, {Action::alloc, 3}};
    device.event_time = {0, 1, 2, 3};
    Progress progress;
    const ModelCheck check = check_model(trace, device, progress);
    EXPECT_TRUE(check.exact) << (check.difference ? check.difference->english() : "");
}

TEST(WhatIfCheck, CountsInferredPools) {
    Progress progress;
    const auto graphs = test::open_snapshot("cudagraph");
    EXPECT_GT(check_model(*graphs, graphs->main_device(), progress).inferred_pools, 0);
    const auto pool = test::open_snapshot("mempool");
    EXPECT_EQ(check_model(*pool, pool->main_device(), progress).inferred_pools, 1);
    const auto plain = test::open_snapshot("s3_varlen");
    EXPECT_EQ(check_model(*plain, plain->main_device(), progress).inferred_pools, 0);
}

}  // namespace
}  // namespace tidemark
