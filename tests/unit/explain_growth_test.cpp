// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Growth without a graph, iterations, the time point of the analysis context, and the diagnoses of the allocator.
#include <gtest/gtest.h>

#include <algorithm>

#include "storage/explain/free_gap_finder.h"
#include "storage/explain/returned_memory.h"
#include "tests/unit/explained.h"

namespace tidemark::test {
namespace {

constexpr uint64_t mib = 1 << 20;

/// Adds iterations that allocate and free work, and leave `kept` bytes allocated.
void loop(RunBuilder& run, int iterations, uint64_t kept, bool steps) {
    const StackId work = run.line("forward"), keep = run.line("main");
    for (int i = 0; i < iterations; ++i) {
        const AllocationIndex a = run.alloc(4 * mib, work);
        if (kept > 0) {
            run.alloc(kept, keep);
        }
        run.free(a);
        if (steps) {
            run.step();
        }
    }
}

TEST(ExplainGrowth, ReportsMemoryThatStaysInEachIteration) {
    for (const bool steps : {false, true}) {
        SCOPED_TRACE(steps);
        RunBuilder run;
        run.segment(4096 * mib);
        loop(run, 20, 2 * mib, steps);
        const auto made = run.make_context();
        EXPECT_EQ(made->iterations().source(), steps ? IterationSource::steps : IterationSource::loop);
        EXPECT_EQ(made->iterations().size(), 20u);
        const Explanation explanation = explained(*made);
        EXPECT_EQ(explanation.run_trend, RunTrend::grows);
        ASSERT_FALSE(explanation.findings.empty());
        const Finding& first = explanation.findings.front();
        EXPECT_EQ(first.kind, FindingKind::unexplained_growth);
        EXPECT_EQ(first.severity, Severity::leak);
        EXPECT_EQ(first.per_iteration, 2 * mib);
        EXPECT_NEAR(static_cast<double>(first.bytes), 40.0 * mib, 0.4 * mib);
        EXPECT_NE(first.line.find("main"), std::string::npos);
        EXPECT_FALSE(first.evidence.empty());
        EXPECT_FALSE(first.fixes.empty());
        EXPECT_FALSE(first.unknowns.empty()) << "the referrer was not recorded";
        EXPECT_EQ(explanation.summary.size(), 3u);
    }
}

TEST(ExplainGrowth, StepsWithoutDetailsDoNotCount) {
    RunBuilder run;
    run.segment(4096 * mib);
    loop(run, 12, 2 * mib, true);
    const int64_t begin = run.now();
    for (int i = 0; i < 8; ++i) {
        run.alloc(2 * mib, 0);
        run.step();
    }
    Annotation pause;
    pause.kind = AnnotationKind::details_paused;
    pause.start = begin;
    pause.end = run.now();
    pause.closed = true;
    run.trace.annotations.push_back(pause);
    loop(run, 12, 2 * mib, true);
    const Explanation explanation = explained(*run.make_context());
    ASSERT_FALSE(explanation.findings.empty());
    EXPECT_EQ(explanation.findings.front().kind, FindingKind::unexplained_growth);
    EXPECT_NEAR(static_cast<double>(explanation.findings.front().per_iteration.value_or(0)), 2.0 * mib, 0.15 * mib);
}

TEST(ExplainGrowth, ReportsNothingIfNothingStays) {
    RunBuilder run;
    run.segment(4096 * mib);
    loop(run, 20, 0, true);
    const Explanation explanation = explained(*run.make_context());
    EXPECT_EQ(explanation.run_trend, RunTrend::steady);
    for (const Finding& finding : explanation.findings) {
        EXPECT_NE(finding.severity, Severity::leak) << finding.title;
    }
}

/// Frees the tensors and makes as many again, and `more`.
void make_anew(RunBuilder& run, std::vector<AllocationIndex>& tensors, StackId stack, size_t more) {
    const size_t count = tensors.size() + more;
    for (const AllocationIndex a : tensors) {
        run.free(a);
    }
    tensors.clear();
    for (size_t i = 0; i < count; ++i) {
        tensors.push_back(run.alloc(mib, stack));
    }
}

TEST(ExplainGrowth, ReportsTensorsThatAreMadeAnewInGreaterNumber) {
    RunBuilder run;
    run.segment(4096 * mib);
    std::vector<AllocationIndex> tensors;
    for (int i = 0; i < 20; ++i) {
        make_anew(run, tensors, run.line("hook"), 2);
        run.step();
    }
    const Explanation explanation = explained(*run.make_context());
    ASSERT_FALSE(explanation.findings.empty());
    EXPECT_EQ(explanation.findings.front().severity, Severity::leak);
    EXPECT_EQ(explanation.findings.front().per_iteration, 2 * mib);
}

TEST(ExplainGrowth, ReportsCopiesOfWhatAMetricCollectedAlsoWhileItFreesThem) {
    RunBuilder run;
    run.segment(4096 * mib);
    std::vector<AllocationIndex> scores, targets;
    const auto copy_all = [&](std::vector<AllocationIndex>& tensors, size_t count, int64_t bytes) {
        for (const AllocationIndex a : tensors) {
            run.free(a);
        }
        tensors.clear();
        for (size_t i = 0; i < count; ++i) {
            tensors.push_back(run.alloc(static_cast<uint64_t>(bytes), run.line("compute")));
        }
    };
    for (size_t i = 1; i <= 20; ++i) {
        copy_all(scores, 2 * i, mib);
        copy_all(targets, 2 * i, 2 * mib);
        run.step();
    }
    copy_all(scores, 0, mib);
    const Explanation explanation = explained(*run.make_context());
    ASSERT_FALSE(explanation.findings.empty());
    EXPECT_EQ(explanation.findings.front().severity, Severity::leak);
    EXPECT_EQ(explanation.findings.front().line, "train.py:10 compute");
}

TEST(ExplainGrowth, ReportsALineWhoseStacksReplaceEachOthersTensors) {
    RunBuilder run;
    run.segment(4096 * mib);
    const std::string file = "/home/anna/project/train.py";
    const StackId training = stack_of(run.trace.stacks, {{file, "hook"}, {file, "train"}});
    const StackId evaluation = stack_of(run.trace.stacks, {{file, "hook"}, {file, "evaluate"}});
    // Memory of the same line that stays takes no part.
    run.alloc(500 * mib, stack_of(run.trace.stacks, {{file, "hook"}, {file, "build"}}));
    std::vector<AllocationIndex> tensors;
    for (int epoch = 0; epoch < 10; ++epoch) {
        for (int i = 0; i < 3; ++i) {
            make_anew(run, tensors, training, 0);
            run.step();
        }
        make_anew(run, tensors, evaluation, 3);
    }
    const Explanation explanation = explained(*run.make_context());
    ASSERT_FALSE(explanation.findings.empty());
    EXPECT_EQ(explanation.findings.front().severity, Severity::leak);
    EXPECT_EQ(explanation.findings.front().bytes, 30 * mib);
}

TEST(ExplainGrowth, IgnoresASingleTensorThatGrows) {
    RunBuilder run;
    run.segment(4096 * mib);
    const StackId line = run.line("main");
    AllocationIndex before = no_allocation;
    for (uint64_t i = 1; i <= 20; ++i) {
        const AllocationIndex a = run.alloc(i * mib, line);
        if (before != no_allocation) {
            run.free(before);
        }
        before = a;
        run.step();
    }
    EXPECT_TRUE(run.make_context()->suspects().empty());
}

TEST(ExplainGrowth, SharesAddUpToTheTotal) {
    RunBuilder run;
    run.segment(64 * mib);
    loop(run, 8, mib, true);
    const Explanation explanation = explained(*run.make_context());
    int64_t sum = 0;
    for (const Share& share : explanation.shares) {
        sum += share.bytes;
    }
    EXPECT_EQ(sum, explanation.total);
    EXPECT_EQ(explanation.total, 64 * mib);
}

TEST(ExplainGrowth, ExplainsTheStateBeforeTheFinalFrees) {
    RunBuilder run;
    run.segment(4096 * mib);
    const StackId keep = run.line("main"), work = run.line("forward");
    std::vector<AllocationIndex> kept;
    for (int i = 0; i < 12; ++i) {
        run.free(run.alloc(3 * mib, work));
        kept.push_back(run.alloc(mib, keep));
    }
    const EventNumber full = run.device().event_count();
    for (const AllocationIndex a : kept) {
        run.free(a);
    }
    const auto made = run.make_context();
    EXPECT_EQ(made->now(), full);
    EXPECT_EQ(explained(*made).run_trend, RunTrend::grows);
}

TEST(ExplainGrowth, DoesNotTreatThreeAllocationsAsALoop) {
    RunBuilder run;
    run.segment(64 * mib);
    const StackId line = run.line("main");
    for (int i = 0; i < 3; ++i) {
        run.alloc(mib, line);
    }
    EXPECT_TRUE(run.make_context()->iterations().empty());
}

TEST(ExplainOutOfMemory, ReportsTheRequestAndTheUsersOfTheMemory) {
    RunBuilder run;
    run.segment(100 * mib);
    const StackId keep = run.line("main"), requesting_line = run.line("forward");
    for (int i = 0; i < 50; ++i) {
        run.alloc(2 * mib, keep);
    }
    run.out_of_memory(8 * mib, mib, requesting_line);
    const auto made = run.make_context();
    const Explanation explanation = explained(*made);
    EXPECT_EQ(explanation.run_trend, RunTrend::out_of_memory);
    const Finding* finding = find(explanation, FindingKind::out_of_memory);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->severity, Severity::failure);
    EXPECT_EQ(finding->bytes, 8 * mib);
    EXPECT_NE(finding->line.find("forward"), std::string::npos);
    EXPECT_EQ(find(explanation, FindingKind::fragmentation), nullptr) << "nothing was free";
}

TEST(ExplainOutOfMemory, ReportsFragmentationIfEnoughMemoryIsFree) {
    RunBuilder run;
    run.segment(64 * mib);
    const StackId small = run.line("table"), large = run.line("forward");
    std::vector<AllocationIndex> freed;
    for (int i = 0; i < 8; ++i) {
        freed.push_back(run.alloc(7 * mib, large));
        run.alloc(mib, small);
    }
    for (const AllocationIndex a : freed) {
        run.free(a);
    }
    run.out_of_memory(20 * mib, mib, large);
    const auto made = run.make_context();
    const Explanation explanation = explained(*made);
    const Finding* finding = find(explanation, FindingKind::fragmentation);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->bytes, 56 * mib);
    const bool names_pin = std::any_of(finding->evidence.begin(), finding->evidence.end(), [&](const Evidence& e) {
        return e.allocation && run.device().allocations.stack[e.allocation.index] == small;
    });
    EXPECT_TRUE(names_pin) << "a block that blocks the gap";
}

TEST(FreeGapFinder, FindsTheRangeWithFewestUsedBytes) {
    RunBuilder run;
    run.segment(20 * mib);
    const AllocationIndex a = run.alloc(4 * mib), b = run.alloc(mib), c = run.alloc(6 * mib);
    run.alloc(9 * mib);
    run.free(a);
    run.free(c);
    const auto made = run.make_context();
    const MemoryState state = memory_state(made->device(), made->analysis().live(), made->device().event_count());
    const GapCandidate window = cheapest_gap(state, 10 * mib);
    EXPECT_EQ(window.in_use, mib);
    EXPECT_EQ(window.blocks, std::vector<AllocationIndex>{b});
    EXPECT_EQ(cheapest_gap(state, 40 * mib).size, 0u) << "no segment is as large";
}

TEST(ExplainAllocator, ReportsCachedMemoryAsBackground) {
    RunBuilder run;
    run.segment(256 * mib);
    run.free(run.alloc(200 * mib, run.line("main")));
    run.alloc(mib, run.line("main"));
    const Explanation explanation = explained(*run.make_context());
    const Finding* finding = find(explanation, FindingKind::cached_memory);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->severity, Severity::background);
    EXPECT_EQ(finding->bytes, 255 * mib);
}

}  // namespace
}  // namespace tidemark::test
