// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Hooks that are registered again and again.
#include <gtest/gtest.h>

#include "tests/unit/explained.h"

namespace tidemark {
namespace {

using test::explained;
using test::RunBuilder;

constexpr uint64_t MiB = 1 << 20;

/// Eight epochs of four batches and a validation step. In epoch e one call of a module calls `function` runs(e) times,
/// which stores 1 MiB each time until the end of the epoch.
template <class Runs>
Explanation hooked(Runs&& runs, const std::string& function = "Monitor.observe") {
    RunBuilder run;
    run.segment(1 << 30);
    const StackId stack =
        test::stack_of(run.trace.stacks, {{"/home/anna/project/train.py", function},
                                          {"/home/anna/site-packages/torch/nn/modules/module.py", "Module._call_impl"},
                                          {"/home/anna/project/train.py", "main"}});
    const uint32_t origin = run.origin("aten::clone");
    run.trace.origins.back().module = "Net.encoder";
    for (int epoch = 0; epoch < 8; ++epoch) {
        std::vector<AllocationIndex> stored;
        for (int batch = 0; batch < 4; ++batch) {
            const AllocationIndex work = run.alloc(4 * MiB, run.line("forward"));
            for (int i = 0; i < runs(epoch); ++i) {
                stored.push_back(run.alloc(MiB, stack, origin));
            }
            run.free(work);
            run.step();
        }
        for (const AllocationIndex a : stored) {
            run.free(a);
        }
        run.free(run.alloc(4 * MiB, run.line("validate")));
        run.step();
    }
    return explained(*run.make_context());
}

TEST(ExplainRepeatedHooks, AreALeakAlthoughTheirMemoryIsFreed) {
    const Explanation explanation = hooked([](int epoch) { return epoch + 1; });
    ASSERT_EQ(test::leaks_of(explanation), "hook-retains-activations");
    const Finding& leak = explanation.findings[0];
    EXPECT_EQ(leak.title, "One call of module `Net.encoder` runs the hook train.py:10 Monitor.observe 8 times");
    EXPECT_EQ(leak.bytes, static_cast<int64_t>(32 * MiB));
    EXPECT_EQ(leak.confidence, Confidence::likely);
    EXPECT_EQ(test::find(explanation, FindingKind::steady), nullptr);
    const std::string summary = test::joined(explanation.summary);
    EXPECT_NE(summary.find("The peaks of memory rise."), std::string::npos) << summary;
}

TEST(ExplainRepeatedHooks, ExplainTheGrowthOfTheirLine) {
    RunBuilder run;
    run.segment(1 << 30);
    const StackId stack =
        test::stack_of(run.trace.stacks, {{"/home/anna/project/train.py", "Monitor.observe"},
                                          {"/home/anna/site-packages/torch/nn/modules/module.py", "Module._call_impl"},
                                          {"/home/anna/project/train.py", "main"}});
    const uint32_t origin = run.origin("aten::clone");
    run.trace.origins.back().module = "Net.encoder";
    std::vector<AllocationIndex> stored;
    for (int epoch = 1; epoch <= 10; ++epoch) {
        for (int batch = 0; batch < 3; ++batch) {
            const AllocationIndex work = run.alloc(4 * MiB, run.line("forward"));
            for (const AllocationIndex a : stored) {
                run.free(a);
            }
            stored.clear();
            for (int i = 0; i < epoch; ++i) {
                stored.push_back(run.alloc(MiB, stack, origin));
            }
            run.free(work);
            run.step();
        }
    }
    const Explanation explanation = explained(*run.make_context());
    ASSERT_EQ(test::leaks_of(explanation), "hook-retains-activations");
    EXPECT_GT(explanation.findings[0].per_iteration.value_or(0), 0);
}

TEST(ExplainRepeatedHooks, AreNoneIfTheirNumberIsConstantOrFalls) {
    EXPECT_EQ(test::leaks_of(hooked([](int) { return 3; })), "");
    EXPECT_EQ(test::leaks_of(hooked([](int epoch) { return epoch == 6 ? 1 : epoch + 1; })), "");
    EXPECT_EQ(test::leaks_of(hooked([](int epoch) { return epoch < 4 ? 1 : 2; })), "") << "only two levels";
}

TEST(ExplainRepeatedHooks, AreNotTheModulesOwnFunction) {
    EXPECT_EQ(test::leaks_of(hooked([](int epoch) { return epoch + 1; }, "Rollout.forward")), "");
}

}  // namespace
}  // namespace tidemark
