// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Growth in parts of a run: after the last step, in stairs, until the end; and memory that appears once.
#include "storage/explain/intervals.h"

#include <gtest/gtest.h>

#include "tests/unit/explained.h"

namespace tidemark {
namespace {

using test::explained;
using test::RunBuilder;

constexpr uint64_t KiB = 1024, MiB = 1024 * KiB;

RunBuilder large_segment() {
    RunBuilder run;
    run.segment(8192 * MiB);
    return run;
}

/// Adds an iteration: `temporaries` of 4 MiB, one after another, and `retained` bytes from line `collect`.
void iterate(RunBuilder& run, uint64_t retained, int temporaries = 1) {
    for (int i = 0; i < temporaries; ++i) {
        const AllocationIndex work = run.alloc(4 * MiB, run.line("train"));
        if (i == 0 && retained > 0) {
            run.alloc(retained, run.line("collect"));
        }
        run.free(work);
    }
}

void steps(RunBuilder& run, int count, uint64_t retained, int temporaries = 1) {
    for (int i = 0; i < count; ++i) {
        iterate(run, retained, temporaries);
        run.step();
    }
}

TEST(ExplainIntervals, GrowthAfterTheLastStepIsCountedInIterationsOfItsLoop) {
    RunBuilder run = large_segment();
    steps(run, 6, 0);
    for (int i = 0; i < 20; ++i) {
        iterate(run, MiB);
    }
    const auto context = run.make_context();
    EXPECT_EQ(context->iterations().source(), IterationSource::steps);
    EXPECT_EQ(context->iterations().size(), 6u);
    EXPECT_EQ(context->now(), run.device().event_count() - 2) << "the end of the run, before the last free";
    ASSERT_EQ(context->suspects().size(), 1u);
    EXPECT_EQ(context->suspects()[0].iterations->source(), IterationSource::loop);

    const Explanation explanation = explained(*context);
    EXPECT_EQ(explanation.run_trend, RunTrend::grows);
    const Finding& leak = explanation.findings.front();
    EXPECT_EQ(leak.kind, FindingKind::unexplained_growth);
    EXPECT_EQ(leak.unit, IterationSource::loop);
    EXPECT_EQ(leak.per_iteration, static_cast<int64_t>(MiB));
    EXPECT_EQ(leak.bytes, static_cast<int64_t>(20 * MiB));
    const std::string summary = test::joined(explanation.summary);
    EXPECT_NE(summary.find("Memory grows by 1.00 MiB per iteration and is never freed."), std::string::npos) << summary;
}

TEST(ExplainIntervals, WorkAfterTheLastStepThatLeavesNothingIsNoInterval) {
    RunBuilder run = large_segment();
    steps(run, 6, 0);
    for (int i = 0; i < 20; ++i) {
        iterate(run, 0);
    }
    run.free(run.alloc(512, run.line("print")));
    const auto context = run.make_context();
    EXPECT_EQ(context->now(), run.device().event_count() - 2) << "longer than a step: the last step is not the end";
    EXPECT_TRUE(context->suspects().empty());
    EXPECT_EQ(test::leaks_of(explained(*context)), "");
}

TEST(ExplainIntervals, ALoopThatIsShorterThanAStepEndsTheRun) {
    for (const uint64_t retained : {uint64_t{0}, MiB}) {
        SCOPED_TRACE(retained);
        RunBuilder run = large_segment();
        steps(run, 6, 0, 40);
        const EventNumber trained = run.device().event_count();
        for (int i = 0; i < 20; ++i) {
            iterate(run, retained);
        }
        run.free(run.alloc(512, run.line("print")));
        const auto context = run.make_context();
        ASSERT_LT(run.device().event_count() - trained, 40 * 3) << "shorter than a step";
        EXPECT_EQ(context->now(), retained == 0 ? trained : run.device().event_count() - 2);
        EXPECT_EQ(context->suspects().size(), retained == 0 ? 0u : 1u);
    }
}

TEST(ExplainIntervals, LittleMemoryAfterTheLastStepIsNoInterval) {
    for (const uint64_t base : {4 * MiB, 512 * MiB}) {
        SCOPED_TRACE(base);
        RunBuilder run = large_segment();
        run.alloc(base, run.line("build"));
        steps(run, 6, 0);
        for (int i = 0; i < 20; ++i) {
            iterate(run, 128 * KiB);
        }
        const auto context = run.make_context();
        const auto after =
            loop_after(context->trace(), context->device(), context->curves(), context->iterations(), context->now());
        EXPECT_EQ(after.has_value(), base == 4 * MiB);
        EXPECT_EQ(context->suspects().size(), base == 4 * MiB ? 1u : 0u);
    }
}

TEST(ExplainIntervals, ALineThatGrowsInBothIntervalsIsOneSuspect) {
    RunBuilder run = large_segment();
    steps(run, 20, MiB);
    for (int i = 0; i < 20; ++i) {
        iterate(run, MiB);
    }
    const auto context = run.make_context();
    ASSERT_EQ(context->suspects().size(), 1u);
    EXPECT_EQ(context->suspects()[0].iterations->source(), IterationSource::steps);
}

/// Returns a run of `count` steps; every `every`-th retains 1 MiB, from step `first` to before step `end`.
RunBuilder stairs(int count, int first, int every, int end) {
    RunBuilder run = large_segment();
    for (int i = 0; i < count; ++i) {
        const bool is_stair = i >= first && i < end && (i - first) % every == 0;
        iterate(run, is_stair ? MiB : 0);
        run.step();
    }
    return run;
}

TEST(ExplainStairs, GrowOnceInAnEpochOfSixSteps) {
    const Explanation explanation = explained(*stairs(60, 5, 6, 60).make_context());
    ASSERT_EQ(test::leaks_of(explanation), "unexplained-growth");
    EXPECT_NEAR(static_cast<double>(*explanation.findings[0].per_iteration), MiB / 6.0, MiB / 30.0);
    EXPECT_NEAR(static_cast<double>(explanation.findings[0].bytes), 10.0 * MiB, 1.5 * MiB);
}

TEST(ExplainStairs, GrowInSixEpochsAfterTwelveSteps) {
    const Explanation explanation = explained(*stairs(48, 12, 6, 48).make_context());
    EXPECT_EQ(test::leaks_of(explanation), "unexplained-growth");
    EXPECT_EQ(explanation.run_trend, RunTrend::grows);
}

TEST(ExplainStairs, ThatEndAreNoLeak) {
    for (const int every : {1, 3, 6}) {
        const Explanation explanation = explained(*stairs(60, 0, every, 24).make_context());
        EXPECT_EQ(test::leaks_of(explanation), "") << every;
        EXPECT_EQ(explanation.run_trend, RunTrend::steady) << every;
    }
}

TEST(ExplainGrowthToTheEnd, IsALeakAlthoughTheProgramFreesItAtItsEnd) {
    RunBuilder run = large_segment();
    std::vector<AllocationIndex> retained;
    for (int i = 0; i < 20; ++i) {
        const AllocationIndex work = run.alloc(4 * MiB, run.line("train"));
        retained.push_back(run.alloc(MiB, run.line("collect")));
        run.free(work);
        run.step();
    }
    const EventNumber full = run.device().event_count();
    for (const AllocationIndex a : retained) {
        run.free(a);
    }
    const auto context = run.make_context();
    EXPECT_EQ(context->now(), full);
    const Explanation explanation = explained(*context);
    ASSERT_EQ(test::leaks_of(explanation), "unexplained-growth");
    EXPECT_EQ(explanation.findings[0].bytes, static_cast<int64_t>(20 * MiB));
}

TEST(ExplainGrowthToTheEnd, IsNoLeakIfTheLoopFreesIt) {
    RunBuilder run = large_segment();
    std::vector<AllocationIndex> retained;
    for (int i = 0; i < 40; ++i) {
        retained.push_back(run.alloc(MiB, run.line("collect")));
        if (i % 8 == 7) {
            for (const AllocationIndex a : retained) {
                run.free(a);
            }
            retained.clear();
        }
        run.step();
    }
    EXPECT_EQ(test::leaks_of(explained(*run.make_context())), "");
}

/// Two threads end one after another, and each frees what it retained.
TEST(ExplainGrowthToTheEnd, IsALeakAlthoughThreadsFreeItOneAfterAnother) {
    RunBuilder run = large_segment();
    std::vector<AllocationIndex> retained;
    for (int i = 0; i < 40; ++i) {
        retained.push_back(run.alloc(4 * MiB, run.line("collect")));
        run.free(run.alloc(8 * MiB, run.line("train")));
    }
    const EventNumber full = run.device().event_count();
    for (size_t i = 0; i < retained.size(); ++i) {
        run.free(retained[i]);
        if (i == retained.size() / 2) {
            run.free(run.alloc(512, run.line("report")));
        }
    }
    const auto context = run.make_context();
    EXPECT_NEAR(context->now(), full, 2);
    EXPECT_EQ(test::leaks_of(explained(*context)), "unexplained-growth");
}

/// A loop whose iterations are those in which memory grows: the others allocate nothing.
TEST(ExplainGrowthToTheEnd, HasEndedIfMuchTimePassesAfterIt) {
    for (const int64_t minutes : {0, 10}) {
        RunBuilder run = large_segment();
        for (int i = 0; i < 12; ++i) {
            iterate(run, MiB);
        }
        const size_t ended = run.device().event_time.size();
        for (int i = 0; i < 2; ++i) {
            run.free(run.alloc(512, run.line("report")));
        }
        for (size_t event = ended; event < run.device().event_time.size(); ++event) {
            run.device().event_time[event] += minutes * 60'000 * RunBuilder::millisecond;
        }
        EXPECT_EQ(test::leaks_of(explained(*run.make_context())), minutes > 0 ? "" : "unexplained-growth");
    }
}

TEST(ExplainGrowthToTheEnd, ShowsAboveALargeBase) {
    for (const uint64_t retained : {uint64_t{0}, MiB}) {
        RunBuilder run = large_segment();
        run.alloc(4096 * MiB, run.line("build"));
        steps(run, 20, retained);
        const Explanation explanation = explained(*run.make_context());
        ASSERT_EQ(test::leaks_of(explanation), retained == 0 ? "" : "unexplained-growth");
        if (retained > 0) {
            EXPECT_EQ(explanation.findings[0].bytes, static_cast<int64_t>(20 * MiB)) << "without the base";
        }
    }
}

/// Adds `count` tensors of 2 MiB from one line of one function.
void construct(RunBuilder& run, int count, const std::string& function) {
    const StackId line = test::stack_of(
        run.trace.stacks, {{"/home/anna/project/model.py", function}, {"/home/anna/project/train.py", "main"}});
    for (int i = 0; i < count; ++i) {
        run.alloc(2 * MiB, line);
    }
}

TEST(ExplainMemoryMadeOnce, ModelAndListAreNoLeak) {
    for (const bool has_steps : {false, true}) {
        SCOPED_TRACE(has_steps);
        RunBuilder run = large_segment();
        construct(run, 24, "Net.__init__");
        construct(run, 24, "make_buffers");
        for (int i = 0; i < 40; ++i) {
            iterate(run, 0);
            if (has_steps) {
                run.step();
            }
        }
        const auto context = run.make_context();
        EXPECT_EQ(context->iterations().size(), 40u);
        EXPECT_TRUE(context->suspects().empty());
        EXPECT_EQ(explained(*context).run_trend, RunTrend::steady);
    }
}

TEST(ExplainMemoryMadeOnce, AComprehensionAfterTheLastStepIsNoLeak) {
    RunBuilder run = large_segment();
    steps(run, 20, 0);
    construct(run, 24, "<listcomp>");
    EXPECT_EQ(test::leaks_of(explained(*run.make_context())), "");
}

TEST(ExplainMemoryMadeOnce, ALoopAfterTheLastStepThatFreesNothingConstructs) {
    for (const bool frees : {false, true}) {
        RunBuilder run = large_segment();
        steps(run, 20, 0);
        for (int i = 0; i < 24; ++i) {
            const AllocationIndex key = run.alloc(MiB, run.line("key"));
            run.alloc(2 * MiB, run.line("value"));
            if (frees) {
                run.free(key);
            }
        }
        EXPECT_EQ(test::leaks_of(explained(*run.make_context())), frees ? "unexplained-growth" : "");
    }
}

TEST(ExplainMemoryMadeOnce, OptimizerStateOfTheFirstStepIsNoLeak) {
    RunBuilder run = large_segment();
    const StackId line = test::stack_of(run.trace.stacks, {{"/venv/site-packages/torch/optim/adam.py", "step"},
                                                           {"/home/anna/project/train.py", "main"}});
    for (int i = 0; i < 30; ++i) {
        iterate(run, 0);
        for (int state = 0; i == 0 && state < 24; ++state) {
            run.alloc(2 * MiB, line);
        }
        run.step();
    }
    const Explanation explanation = explained(*run.make_context());
    EXPECT_EQ(test::leaks_of(explanation), "");
    EXPECT_EQ(test::find(explanation, FindingKind::late_memory), nullptr);
}

TEST(ExplainMemoryMadeOnce, CachesOfFirstUsesAreNoLeak) {
    for (const bool has_end : {true, false}) {
        RunBuilder run = large_segment();
        for (int i = 0; i < 40; ++i) {
            iterate(run, 0);
            if (!has_end || i < 8) {
                run.alloc(2 * MiB, run.line("look_up"));
            }
            run.step();
        }
        EXPECT_EQ(test::leaks_of(explained(*run.make_context())), has_end ? "" : "unexplained-growth");
    }
}

TEST(ExplainIntervals, GrowthMayBeginInTheMiddle) {
    for (const int growing : {12, 20}) {
        SCOPED_TRACE(growing);
        const Explanation explanation = explained(*stairs(60, 60 - growing, 1, 60).make_context());
        ASSERT_FALSE(explanation.findings.empty());
        EXPECT_EQ(explanation.findings.front().severity, Severity::leak);
        EXPECT_NEAR(static_cast<double>(*explanation.findings.front().since_iteration), 60 - growing, 2);
    }
}

/// Threads run the same loop side by side.
TEST(ExplainIntervals, LoopsOfThreadsAreToldApart) {
    RunBuilder run = large_segment();
    std::vector<uint32_t> threads;
    for (const int64_t thread : {11, 12, 13}) {
        threads.push_back(run.origin(""));
        run.trace.origins.back().thread = thread;
    }
    const auto work = [&](int32_t line, uint32_t thread) {
        StackTable& stacks = run.trace.stacks;
        const FrameId frame = stacks.intern(Frame{stacks.intern("serve"), stacks.intern("/home/anna/server.py"), line});
        run.free(run.alloc(4 * MiB, stacks.intern_stack({&frame, 1}), thread));
    };
    for (int i = 0; i < 60; ++i) {
        for (const int32_t line : {10, 20, 30, 40}) {
            for (size_t thread = 0; thread < threads.size(); ++thread) {
                work((line + static_cast<int32_t>(thread) * 10 - 10) % 40 + 10, threads[thread]);
            }
        }
    }
    EXPECT_NEAR(static_cast<double>(run.make_context()->iterations().size()), 3 * 60, 3);
}

TEST(ExplainPartOfRun, EndsAtTheChosenTimePoint) {
    for (const bool has_steps : {true, false}) {
        RunBuilder run = large_segment();
        for (int i = 0; i < 40; ++i) {
            iterate(run, MiB);
            if (has_steps) {
                run.step();
            }
        }
        const EventNumber middle = run.device().event_count() / 2;
        const auto context = run.make_context(nullptr, {std::nullopt, middle});
        EXPECT_EQ(context->now(), middle);
        EXPECT_NEAR(static_cast<double>(context->iterations().size()), 20, 1);
        const Explanation explanation = explained(*context);
        ASSERT_EQ(test::leaks_of(explanation), "unexplained-growth");
        EXPECT_NEAR(static_cast<double>(explanation.findings[0].bytes), 20.0 * MiB, MiB);
        EXPECT_EQ(explanation.time_point, "event " + std::to_string(middle));
    }
}

TEST(ExplainPartOfRun, BeginsAtTheChosenTimePoint) {
    RunBuilder run = large_segment();
    steps(run, 20, MiB);
    const EventNumber end_of_growth = run.device().event_count();
    steps(run, 20, 0);
    EXPECT_EQ(test::leaks_of(explained(*run.make_context(nullptr, {std::nullopt, end_of_growth}))),
              "unexplained-growth");
    const auto later = run.make_context(nullptr, {end_of_growth, std::nullopt});
    EXPECT_EQ(later->iterations().size(), 20u);
    EXPECT_EQ(test::leaks_of(explained(*later)), "");
    EXPECT_EQ(explained(*later).run_trend, RunTrend::steady);
}

TEST(ExplainPartOfRun, WithoutStepsHasIterationsOfItsLoop) {
    RunBuilder run = large_segment();
    steps(run, 12, 0);
    const EventNumber trained = run.device().event_count();
    for (int i = 0; i < 20; ++i) {
        iterate(run, MiB);
    }
    const auto context = run.make_context(nullptr, {trained, run.device().event_count()});
    EXPECT_EQ(context->iterations().source(), IterationSource::loop);
    EXPECT_EQ(context->iterations().size(), 20u);
    EXPECT_EQ(test::leaks_of(explained(*context)), "unexplained-growth");
}

TEST(ExplainPartOfRun, AnErrorAfterItDoesNotCount) {
    RunBuilder run = large_segment();
    steps(run, 20, 0);
    const EventNumber before = run.device().event_count();
    run.out_of_memory(16384 * MiB, 0, run.line("train"));
    EXPECT_EQ(explained(*run.make_context()).run_trend, RunTrend::out_of_memory);
    EXPECT_EQ(explained(*run.make_context(nullptr, {std::nullopt, before})).run_trend, RunTrend::steady);
}

TEST(ExplainSummary, SaysThatMemoryRisesIfTheGrowthBeganLate) {
    for (const int growing : {0, 6}) {
        SCOPED_TRACE(growing);
        const Explanation explanation = explained(*stairs(60, 60 - growing, 1, 60).make_context());
        EXPECT_EQ(test::find(explanation, FindingKind::late_memory), nullptr) << "it does not stay at a level";
        EXPECT_EQ(test::find(explanation, FindingKind::steady) == nullptr, growing > 0);
        const std::string summary = test::joined(explanation.summary);
        EXPECT_EQ(summary.find("Memory rises") == std::string::npos, growing == 0) << summary;
        EXPECT_EQ(summary.find("No fix is needed") == std::string::npos, growing > 0) << summary;
    }
}

TEST(ExplainSummary, SaysThatMemoryRisesWithoutALine) {
    RunBuilder run = large_segment();
    AllocationIndex before = no_allocation;
    for (uint64_t i = 1; i <= 20; ++i) {
        const AllocationIndex a = run.alloc(i * MiB, run.line("load"));
        if (before != no_allocation) {
            run.free(before);
        }
        before = a;
        run.step();
    }
    const std::string summary = test::joined(explained(*run.make_context()).summary);
    EXPECT_NE(summary.find("Memory rises unevenly: no line allocates more with each step."), std::string::npos)
        << summary;
    EXPECT_EQ(summary.find("No fix is needed"), std::string::npos) << summary;
}

}  // namespace
}  // namespace tidemark
