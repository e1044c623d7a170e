// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A program that unfreezes its layers one after the other: gradients, optimizer state and copies of the parameters rise
// in stages, and end with the last layer.
#include <gtest/gtest.h>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::MiB;
using test::Program;

constexpr int layers = 12, steps_per_layer = 3;

std::string weight(int layer) { return "Net.layers." + std::to_string(layer) + ".weight"; }
int64_t size(int layer) { return (1 + layer % 3) * MiB; }

/// How the program differs from one that only unfreezes layers that it has from the beginning.
struct Difference {
    bool adds_layers = false, removes_layers = false, keeps_optimizers = false;
    int copies = 0;  ///< of each layer
};

struct Unfreezing : Program {
    explicit Unfreezing(const Difference& difference) {
        for (int layer = 0; layer < layers && !difference.adds_layers; ++layer) {
            add_layer(layer);
        }
        for (int layer = 0; layer < layers; ++layer) {
            if (difference.adds_layers) {
                add_layer(layer);
            }
            train(layer, difference.keeps_optimizers);
            for (int copy = 0; copy < difference.copies; ++copy) {
                const AllocationIndex a = run.alloc(static_cast<uint64_t>(size(layer)), run.line("track"));
                add_referrer(a, "average", std::to_string(layer) + std::to_string(copy));
            }
            if (difference.removes_layers) {
                run.free(parameters[static_cast<size_t>(layer)]);
            }
            for (int step = 0; step < steps_per_layer; ++step) {
                run.free(run.alloc(4 * MiB, run.line("forward")));
                run.step();
            }
        }
    }

    Explanation explanation() { return explained(*make_context()); }

private:
    void add_layer(int layer) {
        parameters.push_back(labeled(size(layer), "build", Category::parameter, weight(layer)));
    }
    void train(int layer, bool keeps_optimizers) {
        labeled(size(layer), "backward", Category::gradient, weight(layer));
        labeled(size(layer), "step", Category::optimizer_state, "exp_avg of " + weight(keeps_optimizers ? 0 : layer));
    }

    std::vector<AllocationIndex> parameters;
};

TEST(ExplainModelBound, StateOfUnfrozenParametersIsNoLeak) {
    for (const int copies : {0, 1}) {
        Difference difference;
        difference.copies = copies;
        const Explanation explanation = Unfreezing(difference).explanation();
        EXPECT_EQ(test::leaks_of(explanation), "") << copies;
        const Finding* state = test::find(explanation, FindingKind::optimizer_state);
        ASSERT_NE(state, nullptr);
        EXPECT_EQ(state->title, "The optimizer keeps 24.0 MiB of state for parameters that were unfrozen in stages");
        const std::string summary = test::joined(explanation.summary);
        EXPECT_NE(summary.find("Memory rises as more parameters are trained"), std::string::npos) << summary;
    }
}

TEST(ExplainModelBound, StateOfNewOrRemovedParametersIsALeak) {
    Difference adds, removes, keeps;
    adds.adds_layers = true;
    removes.removes_layers = true;
    keeps.keeps_optimizers = true;
    EXPECT_EQ(test::leaks_of(Unfreezing(adds).explanation()), "parameters-grow");
    EXPECT_NE(test::leaks_of(Unfreezing(removes).explanation()), "");
    EXPECT_NE(test::leaks_of(Unfreezing(keeps).explanation()), "");
}

TEST(ExplainModelBound, MoreThanOneCopyOfParametersIsALeak) {
    Difference difference;
    difference.copies = 2;
    EXPECT_EQ(test::leaks_of(Unfreezing(difference).explanation()), "growing-container");
}

}  // namespace
}  // namespace tidemark
