// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory that rose and is no leak: its growth ended, each phase frees it, or it replaces other memory.
#include <gtest/gtest.h>

#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/joined_suspects.h"
#include "tests/unit/explained.h"

namespace tidemark {
namespace {

using test::explained;
using test::RunBuilder;

constexpr uint64_t MiB = 1 << 20;

std::string leaks(RunBuilder& run) { return test::leaks_of(explained(*run.make_context())); }

void work(RunBuilder& run) { run.free(run.alloc(4 * MiB, run.line("train"))); }

/// Epochs of six steps. At the end of each, results(epoch) tensors are collected, and freed unless it is the last
/// epoch.
template <class Results>
RunBuilder epochs(int count, Results&& results) {
    RunBuilder run;
    run.segment(1 << 30);
    std::vector<AllocationIndex> collected;
    for (int epoch = 0; epoch < count; ++epoch) {
        for (const AllocationIndex a : collected) {
            run.free(a);
        }
        collected.clear();
        for (int step = 0; step < 6; ++step) {
            work(run);
            run.step();
        }
        for (int i = 0; i < results(epoch); ++i) {
            run.free(run.alloc(4 * MiB, run.line("validate")));
            collected.push_back(run.alloc(MiB, run.line("collect")));
        }
    }
    return run;
}

TEST(ExplainGrowthEnd, APhaseThatWasFreedBeforeIsNoLeak) {
    RunBuilder run = epochs(4, [](int) { return 20; });
    EXPECT_EQ(leaks(run), "");
    RunBuilder varied = epochs(4, [](int epoch) { return epoch == 1 ? 30 : 20; });
    EXPECT_EQ(leaks(varied), "");
}

TEST(ExplainGrowthEnd, APhaseHigherThanAllBeforeMayBeALeak) {
    RunBuilder run = epochs(4, [](int epoch) { return epoch == 3 ? 30 : 20; });
    EXPECT_EQ(leaks(run), "unexplained-growth");
    RunBuilder first = epochs(1, [](int) { return 20; });
    EXPECT_EQ(leaks(first), "unexplained-growth");
}

TEST(ExplainGrowthEnd, TemporariesAreNoEarlierPhase) {
    RunBuilder run;
    run.segment(1 << 30);
    for (int i = 0; i < 6; ++i) {
        work(run);
        run.free(run.alloc(64 * MiB, run.line("collect")));
        run.step();
    }
    for (int i = 0; i < 20; ++i) {
        run.free(run.alloc(4 * MiB, run.line("validate")));
        run.alloc(MiB, run.line("collect"));
    }
    EXPECT_EQ(leaks(run), "unexplained-growth");
}

/// Twenty steps that retain 1 MiB each, and `later` iterations without steps that retain nothing.
RunBuilder fitted(int later) {
    RunBuilder run;
    run.segment(1 << 30);
    for (int i = 0; i < 20; ++i) {
        work(run);
        run.alloc(MiB, run.line("fit"));
        run.step();
    }
    for (int i = 0; i < later; ++i) {
        run.free(run.alloc(4 * MiB, run.line("sample")));
    }
    return run;
}

TEST(ExplainGrowthEnd, GrowthThatEndedLongBeforeTheEndOfTheRunIsNoLeak) {
    RunBuilder with = fitted(60);
    EXPECT_EQ(leaks(with), "");
    const std::string summary = test::joined(explained(*with.make_context()).summary);
    EXPECT_NE(summary.find("Memory does not keep growing from step to step."), std::string::npos) << summary;
    RunBuilder without = fitted(2);
    EXPECT_EQ(leaks(without), "unexplained-growth");
}

/// A memory of 20 tensors, which two lines of `remember` fill and replace. `frees`: the replaced ones are freed.
RunBuilder replay(bool frees) {
    RunBuilder run;
    run.segment(1 << 30);
    const StackId append = run.line("remember");
    const StackId replace = test::stack_of(run.trace.stacks, {{"/home/anna/site-packages/torch/_tensor.py", "clone"},
                                                              {"/home/anna/project/train.py", "remember"}});
    std::vector<AllocationIndex> entries;
    for (size_t i = 0; i < 36; ++i) {
        work(run);
        if (i < 20) {
            entries.push_back(run.alloc(MiB, append));
        } else {
            entries.push_back(run.alloc(MiB, replace));
            if (frees) {
                run.free(entries[i - 20]);
            }
        }
        run.step();
    }
    return run;
}

TEST(ExplainGrowthEnd, ALineThatReplacesTheElementsOfAnotherIsNoLeak) {
    RunBuilder replaced = replay(true), added = replay(false);
    EXPECT_EQ(leaks(replaced), "");
    EXPECT_NE(leaks(added), "");
}

/// Returns a run of 30 steps, each of which retains memory from another line. `ends`: not in the last ten steps.
RunBuilder by_many_lines(bool ends) {
    RunBuilder run;
    run.segment(uint64_t{1} << 32);
    for (int i = 0; i < 30; ++i) {
        run.free(run.alloc(8 << 20, run.line("forward")));
        if (!ends || i < 20) {
            run.alloc(1 << 20, run.line("fill" + std::to_string(i)));
        }
        run.step();
    }
    return run;
}

TEST(ExplainGrowthEnd, ARiseThatNoLineExplainsIsNamedWithItsLines) {
    const Explanation explanation = explained(*by_many_lines(false).make_context());
    EXPECT_EQ(test::leaks_of(explanation), "");
    const Finding* rise = test::find(explanation, FindingKind::unexplained_growth);
    ASSERT_NE(rise, nullptr);
    EXPECT_EQ(rise->severity, Severity::pattern);
    EXPECT_EQ(rise->confidence, Confidence::possible);
    EXPECT_NE(rise->text[1].find("train.py:10 fill"), std::string::npos) << rise->text[1];
    EXPECT_EQ(test::joined(explanation.summary).find("No fix is needed"), std::string::npos);
    EXPECT_EQ(test::find(explained(*by_many_lines(true).make_context()), FindingKind::unexplained_growth), nullptr);
}

TEST(ExplainGrowthEnd, VerySlowGrowthOfALittleMemoryIsNoLeak) {
    const auto growth = [](uint64_t bytes, bool fails) {
        RunBuilder run;
        run.device().total_bytes = int64_t{140} << 30;
        run.segment(uint64_t{4} << 30);
        run.alloc(uint64_t{2} << 30, run.line("build"));
        for (int i = 0; i < 20; ++i) {
            work(run);
            run.alloc(bytes, run.line("log"));
            run.step();
        }
        if (fails) {
            run.out_of_memory(uint64_t{3} << 30, 0, run.line("evaluate"));
        }
        const Explanation explanation = explained(*run.make_context());
        const Finding* found = test::find(explanation, FindingKind::unexplained_growth);
        return found ? *found : Finding();
    };
    EXPECT_EQ(growth(64 << 10, false).severity, Severity::pattern) << "1.25 MiB of 2 GiB";
    EXPECT_EQ(growth(MiB, false).severity, Severity::leak) << "the GPU is full after 140,000 steps";
    EXPECT_EQ(growth(64 << 10, true).severity, Severity::pattern) << "something else filled the GPU";
    EXPECT_EQ(growth(MiB, true).severity, Severity::leak);
    const auto is_told = [](const Finding& finding) {
        return test::joined(finding.text).find("are full after") != std::string::npos;
    };
    EXPECT_TRUE(is_told(growth(2 * MiB, false)));
    EXPECT_FALSE(is_told(growth(MiB, false))) << "no run has 140,000 steps more";
    EXPECT_FALSE(is_told(growth(2 * MiB, true))) << "it is full";
}

TEST(ExplainUnexplainedGrowth, NamesAllLinesWithTheirBytes) {
    RunBuilder run;
    run.segment(1 << 30);
    for (int i = 0; i < 20; ++i) {
        work(run);
        run.alloc(3 * MiB, run.line("middle"));
        run.alloc(MiB, run.line("first"));
        run.step();
    }
    const auto context = run.make_context();
    ASSERT_EQ(context->suspects().size(), 2u);
    const auto classified = [&](const LeakSuspect& suspect) {
        return *classifiers::unexplained_growth.classify(*context, suspect, Words(Language::english));
    };
    LeakSuspect suspect = context->suspects()[0];
    EXPECT_EQ(classified(suspect).title, "memory from train.py:10 middle grows");
    join(suspect, context->suspects()[1]);
    const Finding finding = classified(suspect);
    EXPECT_EQ(finding.title, "memory from train.py:10 middle and other lines grows");
    EXPECT_NE(test::joined(finding.text).find("60.0 MiB from train.py:10 middle and 20.0 MiB from train.py:10 first"),
              std::string::npos)
        << test::joined(finding.text);
}

/// What the failed request asked for was never allocated, and other allocations of its size say nothing.
TEST(ExplainOutOfMemory, ShowsTheMemoryOfTheLeakThatComesFirst) {
    const auto failed = [](bool leaks) {
        RunBuilder run;
        run.segment(1 << 30);
        for (int i = 0; i < 20; ++i) {
            work(run);
            const AllocationIndex a = run.alloc(16 * MiB, run.line("cache"));
            if (!leaks) {
                run.free(a);
            }
            run.step();
        }
        run.alloc(16 * MiB, run.line("request"));
        run.out_of_memory(16 * MiB, 0, run.line("request"));
        return explained(*run.make_context());
    };
    const Explanation leaking = failed(true);
    const Finding* failure = test::find(leaking, FindingKind::out_of_memory);
    ASSERT_NE(failure, nullptr);
    EXPECT_EQ(failure->memory.allocations.size(), 20u);
    EXPECT_EQ(failure->memory.bytes, 320 * static_cast<int64_t>(MiB));
    EXPECT_EQ(leaking.answer[0], "Out of memory: train.py:10 request requested 16.0 MiB.") << "before its cause";
    EXPECT_NE(leaking.answer[1].find("Memory grows by"), std::string::npos);
    const Explanation other = failed(false);
    ASSERT_NE(test::find(other, FindingKind::out_of_memory), nullptr);
    EXPECT_TRUE(test::find(other, FindingKind::out_of_memory)->memory.allocations.empty());
}

}  // namespace
}  // namespace tidemark
