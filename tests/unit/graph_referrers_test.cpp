// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which heap scan's path of a tensor counts.
#include <gtest/gtest.h>

#include "storage/graph/earlier_roots.h"
#include "storage/graph/referrer_groups.h"
#include "tests/unit/graph_builder.h"

namespace tidemark {
namespace {

using test::Graph;
using test::GraphBuilder;

AllocationRef memory(uint32_t index) { return {0, index}; }

/// Eight tensors, the last of which is freed at time 500, and scans at 100, 200, ...
struct Scans {
    explicit Scans(std::initializer_list<ScanReason> reasons) : trace(test::trace_of_sizes({1, 1, 1, 1, 1, 1, 1, 1})) {
        trace.duration = 1000;
        DeviceHistory& device = trace.devices[0];
        device.event_time = {500, 500};
        device.event_ref = {{Action::free_requested, freed}, {Action::free_completed, freed}};
        device.allocations.free_event[freed] = 0;
        device.allocations.free_completed[freed] = 1;
        for (const ScanReason reason : reasons) {
            builder.tables.scans.push_back(
                {100 * static_cast<int64_t>(builder.tables.scans.size() + 1), reason, 1, 1, 1});
        }
    }

    /// Adds a path that starts like this; `depth`: its links. Call it by ascending scan.
    void found(uint32_t scan, uint32_t tensor, PathLinkKind kind, const std::string& name, size_t depth = 2) {
        std::vector<PathLink> links{{kind, builder.text(name), 0, 0, 0}};
        while (links.size() < depth) {
            links.push_back({PathLinkKind::index, builder.text("0"), 0, 0, 0});
        }
        builder.tables.referrers.push_back({scan, no_node, memory(tensor), links});
    }

    /// Returns the name at which the tensor's path starts at this time; "" if there is none.
    std::string name_of(uint32_t tensor, int64_t time = 1000) const {
        const Graph graph(trace, builder.tables);
        const ReferrerIndex referrers(graph.index, time);
        const Referrer* referrer = referrers.of(memory(tensor));
        return referrer ? graph.index.tables().texts[referrer->links.front().name] : "";
    }

    static constexpr uint32_t freed = 7;
    Trace trace;
    GraphBuilder builder;
};

TEST(ReferrerPaths, ThatStartAtANameReplaceCyclesOfTheEnd) {
    Scans scans{ScanReason::mark, ScanReason::end};
    scans.found(0, 0, PathLinkKind::global, "cache");
    scans.found(0, 1, PathLinkKind::global, "cache");
    scans.found(0, 2, PathLinkKind::local, "output", 1);
    scans.found(0, 3, PathLinkKind::cycle, "Node");
    scans.found(1, 0, PathLinkKind::cycle, "Trainer");
    scans.found(1, 1, PathLinkKind::native, "tuple");
    scans.found(1, 2, PathLinkKind::cycle, "Trainer");
    scans.found(1, 3, PathLinkKind::cycle, "Trainer");
    EXPECT_EQ(scans.name_of(0), "cache");
    EXPECT_EQ(scans.name_of(1), "cache");
    EXPECT_EQ(scans.name_of(2), "Trainer") << "a variable that referred to the tensor itself proves nothing";
    EXPECT_EQ(scans.name_of(3), "Trainer");
    EXPECT_EQ(scans.name_of(0, 150), "cache");
}

TEST(ReferrerPaths, OfTheLastScanCountIfTheyStartAtAName) {
    Scans scans{ScanReason::mark, ScanReason::end};
    scans.found(0, 0, PathLinkKind::global, "cache");
    scans.found(1, 0, PathLinkKind::local, "result", 1);
    EXPECT_EQ(scans.name_of(0), "result");
    EXPECT_EQ(scans.name_of(0, 150), "cache");
}

TEST(ReferrerPaths, OfAGrowthScanAddToThoseOfTheCompleteScanBefore) {
    Scans scans{ScanReason::memory_grows, ScanReason::growing_sites};
    scans.found(0, 0, PathLinkKind::global, "model");
    scans.found(0, 1, PathLinkKind::global, "before");
    scans.found(0, 2, PathLinkKind::global, "cache");
    scans.found(1, 1, PathLinkKind::global, "after");
    scans.found(1, 2, PathLinkKind::cycle, "Node");
    scans.found(1, 3, PathLinkKind::global, "new");
    EXPECT_EQ(scans.name_of(0), "model") << "the growth scan did not look for it";
    EXPECT_EQ(scans.name_of(1), "after");
    EXPECT_EQ(scans.name_of(2), "cache");
    EXPECT_EQ(scans.name_of(3), "new");
    EXPECT_EQ(scans.name_of(1, 150), "before");
    EXPECT_EQ(scans.name_of(3, 150), "");
}

TEST(ReferrerPaths, OfScansWithLimitsCountForAliveMemoryThatALaterScanMissed) {
    for (const ScanReason limited : {ScanReason::growing_sites, ScanReason::memory_grows, ScanReason::mark}) {
        Scans scans{ScanReason::asked, limited, ScanReason::end};
        scans.found(0, 0, PathLinkKind::global, "of a complete scan");
        scans.found(1, 1, PathLinkKind::global, "collected");
        scans.found(1, Scans::freed, PathLinkKind::global, "collected");
        scans.found(2, 2, PathLinkKind::global, "model");
        EXPECT_EQ(scans.name_of(1), "collected");
        EXPECT_EQ(scans.name_of(Scans::freed), "") << "freed in the meantime";
        EXPECT_EQ(scans.name_of(Scans::freed, 400), "collected");
        EXPECT_EQ(scans.name_of(0), "") << "a complete scan that no longer finds it is right";
        EXPECT_EQ(scans.name_of(2), "model");
        scans.builder.tables.referrers[1].links[0].kind = PathLinkKind::cycle;
        EXPECT_EQ(scans.name_of(1), limited == ScanReason::growing_sites ? "collected" : "") << "not frozen";
    }
}

/// Two outputs, which a list may retain, and the root that joins them, to which only C++ refers.
struct JoinedOutputs {
    JoinedOutputs() : trace(test::trace_of_sizes({1, 1, 1})) {
        trace.duration = 1000;
        for (uint32_t i = 0; i < 2; ++i) {
            builder.node("MmBackward0", {}, {memory(i)}, {10});
            builder.node("SoftmaxBackward0", {2 * i}, {}, {20});
        }
        builder.node("CatBackward0", {1, 3}, {}, {30});
        builder.tables.scans = {{110, ScanReason::memory_grows, 10, 1, 1}};
    }

    void found(NodeIndex node, std::vector<PathLinkKind> kinds) {
        std::vector<PathLink> links;
        for (const PathLinkKind kind : kinds) {
            links.push_back({kind, builder.text("scores"), 0, 0, 0});
        }
        builder.tables.referrers.push_back({0, node, {}, links});
    }

    /// Returns the node whose referrer counts for this one at this time.
    NodeIndex node_above(NodeIndex node, int64_t time) const {
        const Graph graph(trace, builder.tables);
        const GraphState state = graph.at(time);
        const Referrer* referrer = EarlierRoots(state).referrer_above(node);
        return referrer ? referrer->node : no_node;
    }

    Trace trace;
    GraphBuilder builder;
};

TEST(ReferrersBelowARoot, AreElementsOfContainers) {
    JoinedOutputs outputs;
    outputs.found(1, {PathLinkKind::local, PathLinkKind::index});
    outputs.found(3, {PathLinkKind::local});
    EXPECT_EQ(outputs.node_above(0, 500), 1U);
    EXPECT_EQ(outputs.node_above(2, 500), no_node) << "a variable retains one output for the moment";
}

TEST(ReferrersBelowARoot, AreKnownFromTheBeginOfTheScanOn) {
    JoinedOutputs outputs;
    outputs.found(1, {PathLinkKind::local, PathLinkKind::index});
    EXPECT_EQ(outputs.node_above(0, 99), no_node);
    EXPECT_EQ(outputs.node_above(0, 105), 1U) << "while it ran";
}

}  // namespace
}  // namespace tidemark
