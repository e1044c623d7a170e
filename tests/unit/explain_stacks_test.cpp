// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What the stacks and the allocator's events of a snapshot prove, without a graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "storage/explain/experiments.h"
#include "storage/explain/stack_categories.h"
#include "storage/trace/stack_search.h"
#include "tests/unit/explained.h"
#include "tests/unit/failing_program.h"

namespace tidemark::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string torch = packages + "torch/";

/// A program whose stacks have native frames.
struct Snapshot {
    Snapshot() { run.segment(1 << 30); }
    StackId stack(std::initializer_list<std::pair<std::string_view, std::string_view>> frames) {
        return stack_of(run.trace.stacks, frames);
    }
    StackId in_step(const std::string& function, const std::string& file) {
        return stack({{file, function},
                      {"/home/anna/project/optimizers.py", "AdamW.step"},
                      {torch + "optim/optimizer.py", "Optimizer.profile_hook_step.<locals>.wrapper"},
                      {own, "train"}});
    }
    StackId optimizer() { return in_step("update", "/home/anna/project/optimizers.py"); }
    StackId node() {
        return stack({{"", "torch::autograd::generated::BmmBackward0::apply(std::vector<at::Tensor>&&)"}});
    }

    std::vector<Category> categories() {
        const auto context = run.make_context();
        const auto found = categories_by_stack(*context);
        std::vector<Category> all;
        for (AllocationIndex a = 0; a < run.device().allocations.size(); ++a) {
            all.push_back(found.contains(a) ? found.at(a) : Category::unknown);
        }
        return all;
    }

    RunBuilder run;
};

TEST(StackSearch, FindsFunctionsOfPyTorchOnWindows) {
    StackTable stacks;
    const auto is_call = [&](const std::string& file) {
        const StackId stack = stack_of(stacks, {{file, "Module._call_impl"}});
        return has_torch_function(stacks, stack, "nn/modules/module.py", "_call_impl");
    };
    EXPECT_TRUE(is_call("C:\\Users\\anna\\lib\\site-packages\\torch\\nn\\modules\\module.py"));
    EXPECT_TRUE(is_call(torch + "nn/modules/module.py"));
    EXPECT_TRUE(is_call("torch/nn/modules/module.py"));
    EXPECT_FALSE(is_call("C:\\torch\\lib\\site-packages\\mine\\nn\\modules\\module.py"));
    EXPECT_FALSE(is_call("/home/anna/mytorch/nn/modules/module.py"));
}

TEST(StackCategories, AreThoseThatStacksProve) {
    Snapshot program;
    program.run.alloc(MiB, program.run.line("load"));
    program.run.alloc(MiB, program.node());
    program.run.free(program.run.alloc(MiB, program.node()));
    program.run.alloc(MiB, program.optimizer());
    program.run.alloc(MiB, program.stack({{"", "at::cuda::getNewWorkspace()"},
                                          {"", "at::native::addmm_out_cuda_impl(at::Tensor&)"},
                                          {"", "torch::autograd::generated::AddmmBackward0::apply()"}}));
    EXPECT_EQ(program.categories(), (std::vector{Category::unknown, Category::gradient, Category::unknown,
                                                 Category::optimizer_state, Category::workspace}));
}

TEST(StackCategories, PythonInABackwardPassMayMakeAnything) {
    Snapshot program;
    program.run.alloc(MiB, program.stack({{own, "hook"}, {"", "torch::autograd::generated::MmBackward0::apply()"}}));
    EXPECT_EQ(program.categories().at(0), Category::unknown);
}

TEST(StackCategories, ClosuresOfAStepMakeNoState) {
    Snapshot program;
    program.run.alloc(MiB, program.in_step("closure", own));
    program.run.alloc(MiB, program.in_step("Linear.forward", torch + "nn/modules/linear.py"));
    EXPECT_EQ(program.categories(), (std::vector{Category::unknown, Category::unknown}));
}

TEST(StackCategories, TensorsWithoutAParameterBesideThemMayBeTheParameters) {
    Snapshot program;
    program.run.alloc(MiB, program.run.line("load"));
    program.run.alloc(MiB, program.optimizer());
    program.run.alloc(2 * MiB, program.optimizer());
    EXPECT_EQ(program.categories(), (std::vector{Category::unknown, Category::optimizer_state, Category::unknown}));
}

TEST(StackCategories, StateThatEachStepMakesAnewIsNoRise) {
    Snapshot program;
    program.run.alloc(128 * MiB, program.run.line("load"));
    const AllocationIndex earlier = program.run.alloc(128 * MiB, program.run.line("earlier"));
    program.run.alloc(128 * MiB, program.optimizer());
    EXPECT_EQ(diagnose(diagnoses::optimizer_state, *program.run.make_context()).size(), 1u);
    program.run.free(earlier);
    program.run.device().allocations.free_stack[earlier] = program.optimizer();
    EXPECT_EQ(program.categories().back(), Category::optimizer_state);
    EXPECT_TRUE(diagnose(diagnoses::optimizer_state, *program.run.make_context()).empty());
}

TEST(StackCategories, AreNamedInTheSummary) {
    Snapshot program;
    program.run.alloc(200 * MiB, program.run.line("load"));
    program.run.alloc(128 * MiB, program.node());
    program.run.alloc(200 * MiB, program.optimizer());
    program.run.alloc(200 * MiB, program.in_step("more", "/home/anna/project/optimizers.py"));
    const Explanation explanation = explained(*program.run.make_context());
    std::map<std::string, int64_t> shares;
    for (const Share& share : explanation.shares) {
        shares[share.name] = share.bytes;
    }
    EXPECT_EQ(shares["gradients"], 128 * MiB);
    EXPECT_EQ(shares["optimizer state"], 400 * MiB);
    const Finding* state = find(explanation, FindingKind::optimizer_state);
    ASSERT_NE(state, nullptr);
    EXPECT_EQ(state->bytes, 400 * MiB) << "one step() made both";
    EXPECT_EQ(state->confidence, Confidence::likely);
}

TEST(ExplainOptimizerState, LittleStateNeedsNoOtherOptimizer) {
    Snapshot program;
    program.run.alloc(15 * MiB, program.run.line("load"));
    program.run.alloc(15 * MiB, program.optimizer());
    const Findings findings = diagnose(diagnoses::optimizer_state, *program.run.make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_TRUE(findings[0].fixes.empty());
}

/// 64 MiB with gaps of 32 and 16 MiB, then a segment for this request of `first`, and 20 MiB of `second`.
RunBuilder segment_for(uint64_t bytes) {
    RunBuilder run;
    run.segment(64 * MiB);
    const AllocationIndex gap = run.alloc(32 * MiB, run.line("load"));
    run.alloc(16 * MiB, run.line("load"));
    run.free(gap);
    const uint32_t segment = run.segment(bytes + 40 * MiB);
    for (Segment& each : run.device().segments) {
        each.is_large = true;
    }
    run.device().allocations.address[gap] = run.device().segments[0].address;
    run.device().allocations.address[1] = run.device().segments[0].address + 32 * MiB;
    run.alloc(bytes, run.line("first"), 0, segment);
    run.alloc(20 * MiB, run.line("second"), 0, segment);
    return run;
}

TEST(ExplainBlockReuse, ASegmentBelongsToTheRequestAfterIt) {
    RunBuilder run = segment_for(40 * MiB);
    const Findings findings = diagnose(diagnoses::block_reuse, *run.make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_THAT(joined(findings[0].text), HasSubstr("40.0 MiB requested by train.py:10 first needed a new segment"));
    EXPECT_THAT(joined(findings[0].text),
                HasSubstr("although 48.0 MiB were free: the largest free piece had 32.0 MiB"));
    EXPECT_EQ(findings[0].fixes.size(), 1u);
}

TEST(ExplainBlockReuse, ReportsNothingIfTooLittleWasFree) {
    EXPECT_TRUE(diagnose(diagnoses::block_reuse, *segment_for(49 * MiB).make_context()).empty());
}

TEST(ExplainBlockReuse, RecommendsNoSettingThatIsOn) {
    RunBuilder run = segment_for(40 * MiB);
    Segment expandable;
    expandable.is_expandable = true;
    expandable.size = 2 * MiB;
    DeviceHistory other;
    other.device = 1;
    other.segments = {expandable};
    run.trace.devices.push_back(other);
    const auto context = run.make_context();
    EXPECT_TRUE(uses_expandable_segments(*context)) << "another device shows it";
    EXPECT_TRUE(diagnose(diagnoses::block_reuse, *context).at(0).fixes.empty());
}

TEST(ExplainSummary, HowARequestWasServedIsADetail) {
    RunBuilder run;
    run.segment(1 << 30);
    run.alloc(800 * MiB, run.line("load"));
    const AllocationIndex earlier = run.alloc(32 * MiB, run.line("load"));
    run.free(earlier);
    const AllocationIndex later = run.alloc(32 * MiB, run.line("forward"));
    run.device().allocations.address[later] = run.device().allocations.address[earlier];
    const Explanation explanation = explained(*run.make_context());
    EXPECT_NE(find(explanation, FindingKind::block_reuse), nullptr);
    EXPECT_THAT(joined(explanation.summary), Not(HasSubstr("freed blocks")));
}

TEST(ExplainSummary, SaysHowSizesAreCountedIfBlocksAreLarger) {
    const auto summary_of = [](uint64_t requested) {
        RunBuilder run;
        run.segment(64 * MiB);
        const AllocationIndex a = run.alloc(32 * MiB, run.line("load"));
        run.device().allocations.requested[a] = requested;
        return joined(explained(*run.make_context()).summary);
    };
    EXPECT_THAT(summary_of(24 * MiB), HasSubstr("of which 25 % is allocator rounding at the peak"));
    EXPECT_THAT(summary_of(32 * MiB - 512), Not(HasSubstr("rounding")));
}

/// A program that fails on device 0 while device 1 has this many bytes.
Finding failing_beside(int64_t other_bytes, const std::string& file = "main.py") {
    FailingProgram program;
    program.run.alloc(900 * MiB, program.run.line("forward"));
    DeviceHistory other;
    other.device = 1;
    add_allocation(other, before_history, never, never, 0x5000, static_cast<uint64_t>(other_bytes),
                   static_cast<uint64_t>(other_bytes), 0);
    program.run.trace.devices.push_back(other);
    program.fails(200 * MiB, program.stack({{own, "forward"}, {packages + file, "_worker"}}));
    return program.finding();
}

TEST(ExplainOomDevices, NamesTheImbalance) {
    const Finding finding = failing_beside(100 * MiB);
    EXPECT_THAT(text_of(finding),
                HasSubstr("The GPUs are used unevenly: 900 MiB were allocated on GPU 0, but 100 MiB on GPU 1."));
    EXPECT_THAT(text_of(finding), Not(HasSubstr("DataParallel")));
    EXPECT_THAT(finding.fixes.at(0).text, HasSubstr("500 MiB would then be allocated on each GPU"));
    EXPECT_EQ(finding.fixes.at(0).bytes, 400 * MiB);
    EXPECT_THAT(text_of(failing_beside(100 * MiB, "torch/nn/parallel/parallel_apply.py")), HasSubstr("DataParallel"));
}

TEST(ExplainOomDevices, IgnoresEvenAndIdleDevices) {
    EXPECT_THAT(text_of(failing_beside(500 * MiB)), Not(HasSubstr("unevenly")));
    EXPECT_THAT(text_of(failing_beside(2 * MiB)), Not(HasSubstr("unevenly")));
}

/// Two segments that empty_cache() returns without a stack, in a trace without times.
TEST(ExplainTimes, AreNotQuotedIfTheFileHasNone) {
    RunBuilder run;
    for (int i = 0; i < 12; ++i) {
        const uint32_t segment = run.segment(64 * MiB);
        run.free(run.alloc(32 * MiB, run.line("train"), 0, segment));
        run.return_segment(segment, 0);
        run.step();
    }
    DataGap gap;
    gap.kind = DataGapKind::no_times;
    gap.reason = DataGapReason::no_times;
    gap.device = 0;
    run.trace.data_gaps = {gap};
    const Explanation explanation = explained(*run.make_context());
    const Finding* finding = find(explanation, FindingKind::empty_cache_thrash);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->confidence, Confidence::likely) << "nothing shows who returned the memory";
    EXPECT_THAT(joined(finding->text), Not(HasSubstr("took at most")));
    for (const Finding& each : explanation.findings) {
        EXPECT_EQ(each.since, std::nullopt);
    }
}

}  // namespace
}  // namespace tidemark::test
