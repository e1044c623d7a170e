// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/attribution/attribution.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/sample_trace.h"

namespace tidemark {
namespace {

class Attribution : public testing::Test {
protected:
    std::map<std::string, int64_t> bytes_by(GroupBy by, EventNumber n) const {
        std::map<std::string, int64_t> bytes;
        for (const AttributionGroup& group : attribution_at(trace, device, alive, n, by)) {
            bytes[group.name] += group.block_bytes;
        }
        return bytes;
    }

    const Trace trace = test::sample_trace();
    const DeviceHistory& device = trace.devices[0];
    const AliveIndex alive{device.allocations};
};

using Bytes = std::map<std::string, int64_t>;

TEST_F(Attribution, GroupsByUserLine) {
    EXPECT_EQ(bytes_by(GroupBy::line, 3),
              (Bytes{{"train.py:20 train_step", 1024}, {"data.py:10 next_batch", 2048}, {"no Python frame", 4096}}));
    EXPECT_EQ(bytes_by(GroupBy::line, 0), (Bytes{{"no Python frame", 4096}}));
}

TEST_F(Attribution, CountsPendingMemoryUntilItsFreeCompletes) {
    for (const EventNumber n : {7, 8}) {
        const auto groups = attribution_at(trace, device, alive, n, GroupBy::line);
        ASSERT_EQ(groups.size(), 3u);
        EXPECT_EQ(groups[1].name, "data.py:10 next_batch");
        EXPECT_EQ(groups[1].pending, 2048);
        EXPECT_EQ(groups[0].pending, 0);
    }
    EXPECT_EQ(attribution_at(trace, device, alive, 9, GroupBy::line).size(), 2u);
}

TEST_F(Attribution, SortsGroupsByBytesAndAddsUpForEveryGrouping) {
    for (EventNumber n = 0; n <= device.event_count(); ++n) {
        int64_t active = 0;
        alive.for_each_active(
            n, [&](AllocationIndex a) { active += static_cast<int64_t>(device.allocations.block_size[a]); });
        for (int by = 0; by <= static_cast<int>(GroupBy::graph_step); ++by) {
            int64_t sum = 0;
            int64_t previous = INT64_MAX;
            for (const AttributionGroup& group : attribution_at(trace, device, alive, n, static_cast<GroupBy>(by))) {
                EXPECT_LE(group.block_bytes, previous);
                EXPECT_NE(group.largest, no_allocation);
                previous = group.block_bytes;
                sum += group.block_bytes;
            }
            EXPECT_EQ(sum, active) << "event " << n << " by " << by;
        }
    }
}

TEST_F(Attribution, GroupsByFileSizeStreamAndPool) {
    EXPECT_EQ(bytes_by(GroupBy::file, 3), (Bytes{{"/home/anna/project/train.py", 1024},
                                                 {"/home/anna/project/data.py", 2048},
                                                 {"no Python frame", 4096}}));
    EXPECT_EQ(bytes_by(GroupBy::size, 3), (Bytes{{"1000 B", 1024}, {"1.95 KiB", 2048}, {"4.00 KiB", 4096}}));
    EXPECT_EQ(bytes_by(GroupBy::stream, 3), (Bytes{{"stream 0", 7168}}));
    EXPECT_EQ(bytes_by(GroupBy::pool, 3), (Bytes{{"default pool", 7168}}));
}

TEST_F(Attribution, GroupsByInnermostAnnotationAtAllocation) {
    EXPECT_EQ(bytes_by(GroupBy::annotation, 3), (Bytes{{"step", 1024}, {"fwd", 2048}, {"before the trace", 4096}}));
    EXPECT_EQ(bytes_by(GroupBy::annotation, 6), (Bytes{{"step", 1024}, {"fwd", 2048}, {"before the trace", 4096}}));
}

TEST(AttributionOfRecordedTrace, GroupsByModuleOpPhaseAndStep) {
    Trace trace = test::sample_trace();
    trace.origins = {
        {}, {"aten::mm", "layers.0", Phase::forward, "", "", 1}, {"aten::add", "layers.0", Phase::backward, "", "", 2}};
    trace.steps = {{7, StepSource::user, 500, 1500}, {8, StepSource::user, 1500, 4000}};
    trace.devices[0].allocations.origin = {0, 1, 2, 1};
    const AliveIndex alive(trace.devices[0].allocations);
    const auto bytes_by = [&](GroupBy by, EventNumber n) {
        std::map<std::string, int64_t> bytes;
        for (const AttributionGroup& group : attribution_at(trace, trace.devices[0], alive, n, by)) {
            bytes[group.name] += group.block_bytes;
        }
        return bytes;
    };
    EXPECT_EQ(bytes_by(GroupBy::module, 3), (Bytes{{"layers.0", 3072}, {"no module", 4096}}));
    EXPECT_EQ(bytes_by(GroupBy::op, 3), (Bytes{{"aten::mm", 1024}, {"aten::add", 2048}, {"no operator", 4096}}));
    EXPECT_EQ(bytes_by(GroupBy::phase, 3), (Bytes{{"forward", 1024}, {"backward", 2048}, {"no phase", 4096}}));
    EXPECT_EQ(bytes_by(GroupBy::step, 3), (Bytes{{"step 7", 1024}, {"step 8", 2048}, {"before the trace", 4096}}));
    EXPECT_EQ(bytes_by(GroupBy::step, 6),
              (Bytes{{"outside steps", 1024}, {"step 8", 2048}, {"before the trace", 4096}}));
}

TEST_F(Attribution, MergesEqualStacks) {
    const auto groups = attribution_at(trace, device, alive, 6, GroupBy::stack);
    ASSERT_EQ(groups.size(), 3u);
    EXPECT_EQ(groups[2].name, "train.py:20 train_step");
    EXPECT_EQ(groups[2].stack, device.allocations.stack[3]);
    EXPECT_EQ(group_name(trace, device, 3, GroupBy::stack), "train.py:20 train_step");
    EXPECT_EQ(group_name(trace, device, 0, GroupBy::stack), "no Python frame");
}

TEST(GroupByName, IsParsedAndErrorsListTheNames) {
    ASSERT_TRUE(group_by_from_name("annotation"));
    EXPECT_EQ(*group_by_from_name("annotation"), GroupBy::annotation);
    const auto wrong = group_by_from_name("color");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
    EXPECT_NE(wrong.error().sentence.english().find("stack, line, file, size, stream, pool, annotation"),
              std::string::npos);
}

}  // namespace
}  // namespace tidemark
