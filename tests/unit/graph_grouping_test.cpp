// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Groups memory by category, node and graph step, at one event and in stacked plots.
#include <gtest/gtest.h>

#include <map>

#include "storage/analysis/analysis.h"
#include "storage/attribution/attribution.h"
#include "storage/attribution/category_grouping.h"
#include "tests/unit/graph_builder.h"

namespace tidemark {
namespace {

using test::Graph;
using test::GraphBuilder;
using test::RandomRun;
using Bytes = std::map<std::string, int64_t>;

class GraphGrouping : public testing::Test {
protected:
    Bytes bytes_by(const Graph& graph, GroupBy by, EventNumber n, const Categories* categories) const {
        const Trace& trace = graph.index.trace();
        const AliveIndex alive(trace.devices[0].allocations);
        GroupOptions options;
        options.categories = categories;
        Bytes bytes;
        for (const AttributionGroup& group : attribution_at(trace, trace.devices[0], alive, n, by, options)) {
            bytes[group.name] += group.block_bytes;
        }
        return bytes;
    }
};

TEST_F(GraphGrouping, GroupsByCategoryNodeAndGraphStep) {
    Trace trace = test::sample_trace();
    trace.steps = {{7, StepSource::user, 500, 1500}, {8, StepSource::user, 1500, 4000}};
    GraphBuilder builder;
    builder.node("MmBackward0", {}, {}, {1100}, {0, 1});
    builder.node("AddBackward0", {0}, {{0, 2}}, {2000, never_happened, never_happened, 4500});
    builder.label({0, 0}, 7000, Category::parameter);
    const Graph graph(std::move(trace), std::move(builder.tables));
    const Categories* categories = &graph.categories;
    EXPECT_EQ(bytes_by(graph, GroupBy::category, 3, categories),
              (Bytes{{"parameter", 4096}, {"output", 1024}, {"saved for backward", 2048}}));
    EXPECT_EQ(bytes_by(graph, GroupBy::category, 6, categories), (Bytes{{"parameter", 4096}, {"unknown", 3072}}));
    EXPECT_EQ(bytes_by(graph, GroupBy::node, 3, categories),
              (Bytes{{"no node", 4096}, {"MmBackward0", 1024}, {"AddBackward0", 2048}}));
    EXPECT_EQ(bytes_by(graph, GroupBy::graph_step, 3, categories),
              (Bytes{{"no node", 4096}, {"step 7", 1024}, {"step 8", 2048}}));
    for (const GroupBy by : {GroupBy::category, GroupBy::node, GroupBy::graph_step}) {
        EXPECT_EQ(bytes_by(graph, by, 3, nullptr), (Bytes{{"no graph recorded", 7168}}));
    }
}

TEST_F(GraphGrouping, StackedBytesMatchCategoriesAtEveryEvent) {
    for (uint32_t seed = 0; seed < 4; ++seed) {
        const Graph graph = RandomRun(seed).graph();
        const DeviceHistory& device = graph.index.trace().devices[0];
        const AliveIndex alive(device.allocations);
        const Grouping grouping = group_by_category(graph.categories, 0);
        EXPECT_FALSE(grouping.changes.empty());
        EXPECT_EQ(grouping.names.back(), "unknown");
        std::vector<Column> columns(static_cast<size_t>(device.event_count()) + 1);
        for (size_t c = 0; c < columns.size(); ++c) {
            columns[c].time_point = static_cast<EventNumber>(c);
        }
        const auto stacked = stacked_bytes(device, alive, columns, grouping, {device.allocations, alive, grouping});
        const Curves curves(device);
        for (size_t c = 0; c < columns.size(); ++c) {
            const Bytes expected = bytes_by(graph, GroupBy::category, static_cast<EventNumber>(c), &graph.categories);
            int64_t sum = 0;
            for (size_t g = 0; g < grouping.names.size(); ++g) {
                const int64_t bytes = stacked[c * grouping.names.size() + g];
                const auto found = expected.find(grouping.names[g]);
                EXPECT_EQ(bytes, found == expected.end() ? 0 : found->second) << "event " << c;
                sum += bytes;
            }
            EXPECT_EQ(sum, curves.value(Series::active, static_cast<EventNumber>(c)));
        }
    }
}

TEST(ModuleDepth, TruncatesModulePaths) {
    EXPECT_EQ(module_at_depth("transformer.h.3.mlp", 2), "transformer.h");
    EXPECT_EQ(module_at_depth("transformer.h.3.mlp", 4), "transformer.h.3.mlp");
    EXPECT_EQ(module_at_depth("transformer.h.3.mlp", 9), "transformer.h.3.mlp");
    EXPECT_EQ(module_at_depth("transformer.h.3.mlp", 0), "transformer.h.3.mlp");
    EXPECT_EQ(module_at_depth("lm_head", 1), "lm_head");
    EXPECT_EQ(module_at_depth("", 3), "");
    Trace trace = test::sample_trace();
    trace.origins = {{}, {"", "h.0.mlp", Phase::none, "", "", 0}, {"", "h.1.attn", Phase::none, "", "", 0}};
    trace.devices[0].allocations.origin = {0, 1, 2, 1};
    GroupOptions options;
    options.module_depth = 1;
    EXPECT_EQ(group_name(trace, trace.devices[0], 1, GroupBy::module, options), "h");
    EXPECT_EQ(group_name(trace, trace.devices[0], 0, GroupBy::module, options), "no module");
}

}  // namespace
}  // namespace tidemark
