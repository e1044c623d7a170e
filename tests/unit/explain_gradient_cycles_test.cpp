// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Gradients with a graph, in .grad of the tensors that the graph refers to.
#include <gtest/gtest.h>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::find;
using test::joined;
using test::MiB;
using test::Program;

/// 30 steps that each retain a leaf, a tensor that the graph of its gradient saved, and the gradient. `accumulates`: by
/// backward(create_graph=True); otherwise torch.autograd.grad() returned the gradient.
struct SecondOrder : Program {
    explicit SecondOrder(bool accumulates) {
        const uint32_t clone = op_origin("torch::autograd::AccumulateGrad > aten::clone", accumulates);
        const uint32_t copy = op_origin("torch::autograd::AccumulateGrad > aten::copy_", accumulates);
        for (int step = 0; step < 30; ++step) {
            const AllocationIndex work = run.alloc(16 * MiB, run.line("train"));
            const AllocationIndex leaf = run.alloc(2 * MiB, run.line("leaf"));
            const AllocationIndex saved = run.alloc(4 * MiB, run.line("price"));
            const NodeIndex accumulate = node("AccumulateGrad", {}, {}, leaf, "price");
            const NodeIndex mul = node("MulBackward0", {accumulate}, {saved}, no_allocation, "price");
            const NodeIndex root = node("CopyBackwards", {mul}, {}, no_allocation, "greeks");
            graph.tables.nodes.origin[root] = copy;
            const AllocationIndex gradient = run.alloc(2 * MiB, run.line("greeks"), clone);
            graph.label(memory(gradient), run.now(), Category::gradient, "");
            run.free(work);
            run.step();
        }
    }

    uint32_t op_origin(const std::string& op, bool is_used) { return is_used ? run.origin(op) : 0; }
};

TEST(ExplainGradientCycles, AreOneLeakOfGradientsGraphsAndLeaves) {
    const Explanation explanation = explained(*SecondOrder(true).make_context());
    EXPECT_EQ(test::leaks_of(explanation), "create-graph-cycle");
    EXPECT_EQ(explanation.findings[0].per_iteration, 8 * MiB);
    EXPECT_EQ(explanation.findings[0].count, 90);
    EXPECT_NE(joined(explanation.findings[0].text).find("alive: 30."), std::string::npos);
    EXPECT_NE(explanation.findings[0].fixes.at(0).code.find("torch.autograd.grad("), std::string::npos);
}

TEST(ExplainGradientCycles, AreNoneIfNoGradientIsAccumulatedWithItsGraph) {
    EXPECT_EQ(find(explained(*SecondOrder(false).make_context()), FindingKind::create_graph_cycle), nullptr);
}

TEST(ExplainGradientCycles, RetainNoOtherMemory) {
    SecondOrder program(true);
    Program& other = program;
    for (int step = 0; step < 30; ++step) {
        other.run.alloc(MiB, other.run.line("other"));
        other.run.step();
    }
    const Explanation explanation = explained(*program.make_context());
    const Finding* unexplained = find(explanation, FindingKind::unexplained_growth);
    ASSERT_NE(unexplained, nullptr);
    EXPECT_EQ(unexplained->line, "train.py:10 other");
}

}  // namespace
}  // namespace tidemark
