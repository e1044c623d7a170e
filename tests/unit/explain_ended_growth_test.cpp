// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Growth in a loop of its own that has ended: between two steps, or after the last one.
#include "storage/explain/ended_growth.h"

#include <gtest/gtest.h>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::MiB;
using test::Program;

constexpr int rounds = 24;

void train(Program& program, int steps, int temporaries) {
    for (int i = 0; i < steps; ++i) {
        for (int j = 0; j < temporaries; ++j) {
            program.run.free(program.run.alloc(4 * MiB, program.run.line("train")));
        }
        program.run.step();
    }
}

/// Collects tensors of 2 MiB between two steps, of which views show some bytes. Returns the tensors.
std::vector<AllocationIndex> collect_views(Program& program, int64_t view_bytes) {
    std::vector<AllocationIndex> storages;
    for (int i = 0; i < rounds; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("embed"));
        const AllocationIndex a = storages.emplace_back(program.run.alloc(2 * MiB, program.run.line("encode")));
        program.graph.tables.referrers.push_back(
            {0,
             no_node,
             Program::memory(a),
             {{PathLinkKind::global, program.graph.text("bank"), 0, 0, 0},
              {PathLinkKind::index, program.graph.text(std::to_string(i)), 0, 0, 0},
              {PathLinkKind::view, program.graph.text(std::to_string(view_bytes) + " of 2097152"), 0, 0, 0}}});
        program.run.free(work);
    }
    return storages;
}

Explanation views_between_steps(int64_t view_bytes, bool is_freed) {
    Program program;
    train(program, 12, 1);
    const std::vector<AllocationIndex> storages = collect_views(program, view_bytes);
    if (is_freed) {
        for (const AllocationIndex a : storages) {
            program.run.free(a);
        }
    }
    train(program, 60, 1);
    return explained(*program.make_context());
}

TEST(ExplainEndedGrowth, OfSmallViewsIsALeak) {
    const Explanation explanation = views_between_steps(4096, false);
    ASSERT_EQ(test::leaks_of(explanation), "view-retains-storage");
    const Finding& leak = explanation.findings.front();
    EXPECT_EQ(leak.bytes, rounds * 2 * MiB);
    EXPECT_EQ(leak.per_iteration, 2 * MiB);
    EXPECT_EQ(leak.unit, IterationSource::loop);
    EXPECT_TRUE(leak.has_ended);
    const std::string text = test::joined(leak.text);
    EXPECT_NE(text.find("This loop ended after 24 iterations; 48.0 MiB of its memory are still allocated at the end of "
                        "step 71."),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("At this rate"), std::string::npos) << text;
    const std::string summary = test::joined(explanation.summary);
    EXPECT_NE(summary.find("In a loop that has ended, memory grew by 2.00 MiB per iteration."), std::string::npos)
        << summary;
}

TEST(ExplainEndedGrowth, OfWholeTensorsOrOfViewsThatAreFreedIsNoLeak) {
    EXPECT_EQ(test::leaks_of(views_between_steps(1 << 20, false)), "");
    EXPECT_EQ(test::leaks_of(views_between_steps(4096, true)), "");
}

enum class Chain { never_executed, executed, without_graph };

/// Passes on `states` tensors from round to round after the last step. Each round's activations stay until the end: one
/// of 2 MiB, and one of 512 KiB for each state.
Explanation chain_after_last_step(Chain chain, int states = 1) {
    Program program;
    train(program, 12, 1);
    std::vector<AllocationIndex> activations;
    std::vector<NodeIndex> nodes, newest;
    for (int i = 0; i < rounds; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("embed"));
        const AllocationIndex a = activations.emplace_back(program.run.alloc(2 * MiB, program.run.line("forward")));
        if (chain != Chain::without_graph) {
            const NodeIndex product = nodes.emplace_back(program.node("MmBackward0", newest, {a}, a, "forward"));
            newest.clear();
            for (int state = 0; state < states; ++state) {
                const AllocationIndex saved = program.run.alloc(MiB / 2, program.run.line("update"));
                activations.push_back(saved);
                newest.push_back(program.node("MulBackward0", {product}, {saved}, saved, "update"));
                nodes.push_back(newest.back());
            }
        }
        program.run.free(work);
    }
    for (const NodeIndex node : nodes) {
        if (chain == Chain::executed) {
            program.runs(node);
        }
        program.is_destroyed(node);
    }
    for (const AllocationIndex a : activations) {
        program.run.free(a);
    }
    for (int i = 0; i < rounds; ++i) {
        program.run.free(program.run.alloc(MiB, program.run.line("report")));
    }
    return explained(*program.make_context());
}

TEST(ExplainEndedGrowth, OfOneGraphAfterTheLastStepIsALeak) {
    for (const int states : {1, 3}) {
        SCOPED_TRACE(states);
        const Explanation explanation = chain_after_last_step(Chain::never_executed, states);
        ASSERT_EQ(test::leaks_of(explanation), "hidden-state-not-detached");
        const Finding& leak = explanation.findings.front();
        const double of_round = (2 + states * 0.5) * MiB;
        EXPECT_NEAR(static_cast<double>(leak.bytes), rounds * of_round, of_round);
        EXPECT_NE(test::joined(leak.text).find("and its memory was freed then"), std::string::npos);
        EXPECT_EQ(leak.evidence.back().text, "The memory of the loop is freed");
        EXPECT_EQ(test::find(explanation, FindingKind::steady), nullptr);
        EXPECT_EQ(test::find(explanation, FindingKind::reserved_high_water), nullptr);
    }
}

TEST(ExplainEndedGrowth, OfAGraphThatABackwardPassExecutesIsNoLeak) {
    EXPECT_EQ(test::leaks_of(chain_after_last_step(Chain::executed)), "");
}

TEST(ExplainEndedGrowth, OfAListThatIsFreedIsNoLeakButAPeakAfterTheLastStep) {
    const Explanation explanation = chain_after_last_step(Chain::without_graph);
    EXPECT_EQ(test::leaks_of(explanation), "");
    const Finding* reserved = test::find(explanation, FindingKind::reserved_high_water);
    ASSERT_NE(reserved, nullptr);
    EXPECT_NE(reserved->title.find("the work after the last iteration needed"), std::string::npos) << reserved->title;
    EXPECT_EQ(reserved->evidence.front().text, "The peak after the last iteration");
}

/// Computes derivatives of derivatives after the last step. The recorder only counted the nodes.
Explanation derivatives(int64_t nodes_left_out, bool is_freed_at_once) {
    Program program;
    std::vector<uint32_t> ops;
    for (const char* op : {"aten::linear", "aten::tanh", "aten::layer_norm", "aten::add"}) {
        ops.push_back(program.run.origin(op));
    }
    for (const char* op : {"AddmmBackward0 > aten::mm", "TanhBackward0 > aten::tanh_backward",
                           "TanhBackwardBackward0 > aten::mul", "MulBackward0 > aten::mul"}) {
        ops.push_back(program.run.origin(op));
        program.run.trace.origins.back().phase = Phase::backward;
    }
    train(program, 12, 1);
    std::vector<AllocationIndex> retained;
    for (int i = 0; i < rounds; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("embed"));
        for (const uint32_t op : ops) {
            retained.push_back(program.run.alloc(MiB / 2, program.run.line("forward"), op));
        }
        program.run.free(work);
    }
    for (const AllocationIndex a : retained) {
        program.run.free(a);
        if (!is_freed_at_once) {
            program.run.free(program.run.alloc(512, program.run.line("forward"), program.backward));
        }
    }
    program.labeled(512, "report", Category::input);
    program.graph.tables.nodes_left_out = nodes_left_out;
    return explained(*program.make_context());
}

TEST(ExplainEndedGrowth, OfDerivativesWhoseNodesWereNotRecordedIsALeak) {
    const Explanation explanation = derivatives(1000, true);
    ASSERT_EQ(test::leaks_of(explanation), "retained-graph");
    const Finding& leak = explanation.findings.front();
    EXPECT_EQ(leak.confidence, Confidence::likely);
    EXPECT_NEAR(static_cast<double>(leak.bytes), rounds * 4.0 * MiB, 4.0 * MiB);
    EXPECT_TRUE(leak.title.starts_with("Graphs of derivatives retain memory from train.py:")) << leak.title;
}

TEST(ExplainEndedGrowth, OfDerivativesNeedsProofThatAGraphRetainsThem) {
    EXPECT_EQ(test::leaks_of(derivatives(0, true)), "") << "the graph is known and retains nothing";
    EXPECT_EQ(test::leaks_of(derivatives(1000, false)), "") << "a backward pass frees it bit by bit";
}

}  // namespace
}  // namespace tidemark
