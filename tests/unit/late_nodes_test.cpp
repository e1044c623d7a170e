// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// When nodes were created that were found some time later.
#include "storage/read/late_nodes.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/graph_builder.h"
#include "tests/unit/run_builder.h"

namespace tidemark {
namespace {

using test::GraphBuilder;

/// Three allocations of one step, and a node that was created in it.
class LateNodes : public testing::Test {
protected:
    LateNodes() {
        run_.segment(1 << 20);
        for (AllocationRef& memory : memory_) {
            memory = {0, run_.alloc(512)};
        }
        run_.trace.duration = 1'000'000'000;
    }

    int64_t time_of(size_t i) { return run_.trace.devices[0].alloc_time(memory_[i].index); }

    test::RunBuilder run_;
    GraphBuilder graph_;
    std::array<AllocationRef, 3> memory_;
    const GraphBuilder::Lifetime late_{before_recording};
};

TEST_F(LateNodes, ExistFromTheTimeOfWhatTheySaved) {
    const NodeIndex first = graph_.node("MulBackward0", {}, {memory_[1], memory_[0]}, late_);
    const NodeIndex view = graph_.node("ViewBackward0", {first}, {}, late_);
    const NodeIndex last = graph_.node("MulBackward0", {view}, {memory_[2]}, late_);
    const NodeIndex known = graph_.node("SumBackward0", {last}, {}, GraphBuilder::Lifetime{7});
    date_late_nodes(graph_.tables, run_.trace);
    const std::vector<int64_t>& created = graph_.tables.nodes.created;
    EXPECT_LT(time_of(0), time_of(1));
    EXPECT_EQ(created[first], time_of(1));
    EXPECT_EQ(created[view], time_of(1)) << "it saved nothing, but the node below it did";
    EXPECT_EQ(created[last], time_of(2));
    EXPECT_EQ(created[known], 7);
}

TEST_F(LateNodes, StayOlderThanTheRecordingIfTheySavedNothingOfIt) {
    test::RunBuilder older;
    older.trace.devices[0].allocations.push_back({});
    const NodeIndex nothing = graph_.node("ViewBackward0", {}, {}, late_);
    const NodeIndex old = graph_.node("MulBackward0", {nothing}, {{0, 0}}, late_);
    date_late_nodes(graph_.tables, older.trace);
    EXPECT_EQ(graph_.tables.nodes.created[nothing], before_recording);
    EXPECT_EQ(graph_.tables.nodes.created[old], before_recording);
}

TEST_F(LateNodes, AreNotYoungerThanTheirEnd) {
    const NodeIndex node =
        graph_.node("MulBackward0", {}, {memory_[2]}, {before_recording, time_of(0), never_happened, never_happened});
    date_late_nodes(graph_.tables, run_.trace);
    EXPECT_EQ(graph_.tables.nodes.created[node], time_of(0));
}

}  // namespace
}  // namespace tidemark
