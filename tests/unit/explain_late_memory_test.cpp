// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory that rises once and stays, and reserved memory that grows by fragmentation.
#include "storage/explain/late_memory.h"

#include <gtest/gtest.h>

#include "storage/explain/pinned_gaps.h"
#include "storage/explain/reserved_growth.h"
#include "storage/explain/stream_caches.h"
#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::MiB;
using test::Program;
using test::RunBuilder;

/// Returns a run of 40 steps with a model of 16 MiB. Step `at` adds four tensors of 8 MiB from line `load`, which stay
/// or are freed by step `until`.
Program rising_once(int at, int until = 1000) {
    Program program;
    RunBuilder& run = program.run;
    program.labeled(16 * MiB, "build", Category::parameter, "Net.weight");
    std::vector<AllocationIndex> late;
    for (int i = 0; i < 40; ++i) {
        const AllocationIndex work = run.alloc(4 * MiB, run.line("train"));
        for (int n = 0; i == at && n < 4; ++n) {
            late.push_back(run.alloc(8 * MiB, run.line("load")));
        }
        if (i == until) {
            for (const AllocationIndex a : late) {
                run.free(a);
            }
        }
        run.free(work);
        run.step();
    }
    return program;
}

std::vector<AllocationIndex> of_line(Program& program, const std::string& line) {
    std::vector<AllocationIndex> found;
    const auto& stacks = program.run.device().allocations.stack;
    for (AllocationIndex a = 0; a < stacks.size(); ++a) {
        if (stacks[a] == program.run.line(line)) {
            found.push_back(a);
        }
    }
    return found;
}

/// Another line fills the same container in each step.
TEST(ExplainLateMemory, InAContainerThatGrowsBelongsToTheLeak) {
    for (const bool is_same : {true, false}) {
        Program program;
        int element = 0;
        for (int i = 0; i < 40; ++i) {
            program.run.free(program.run.alloc(4 * MiB, program.run.line("train")));
            program.add_referrer(program.run.alloc(MiB, program.run.line("collect")), "cache",
                                 std::to_string(element++));
            for (int n = 0; i == 10 && n < 4; ++n) {
                program.add_referrer(program.run.alloc(8 * MiB, program.run.line("load")), is_same ? "cache" : "table",
                                     std::to_string(element++));
            }
            program.run.step();
        }
        const Explanation explanation = explained(*program.make_context());
        EXPECT_EQ(test::leaks_of(explanation), "growing-container");
        EXPECT_EQ(test::find(explanation, FindingKind::late_memory) == nullptr, is_same);
    }
}

TEST(ExplainLateMemory, ReportsTheIterationInWhichMemoryRose) {
    const Explanation explanation = explained(*rising_once(10).make_context());
    EXPECT_EQ(test::leaks_of(explanation), "");
    const Finding* late = test::find(explanation, FindingKind::late_memory);
    ASSERT_NE(late, nullptr);
    EXPECT_EQ(late->severity, Severity::pattern);
    EXPECT_EQ(late->bytes, 32 * MiB);
    EXPECT_EQ(late->count, 4);
    EXPECT_EQ(late->since_iteration, 10);
    EXPECT_EQ(late->line, "train.py:10 load");
    EXPECT_EQ(test::find(explanation, FindingKind::steady), nullptr);
    const std::string summary = test::joined(explanation.summary);
    EXPECT_NE(summary.find("Memory rose by 32.0 MiB after the warm-up and stays there."), std::string::npos) << summary;
    EXPECT_EQ(summary.find("No fix is needed"), std::string::npos) << summary;
}

TEST(ExplainLateMemory, CountsOnlyTensorsMadeAfterTheWarmUp) {
    RunBuilder run;
    run.segment(1 << 30);
    for (int i = 0; i < 60; ++i) {
        const AllocationIndex work = run.alloc(4 * MiB, run.line("train"));
        if (i == 0 || i == 20 || i == 40) {
            run.alloc(8 * MiB, run.line("load"));
        }
        run.free(work);
        run.step();
    }
    const auto late = find_late_memory(*run.make_context(), {});
    ASSERT_EQ(late.size(), 1u);
    EXPECT_EQ(late[0].bytes, 16 * MiB);
    EXPECT_EQ(late[0].allocations.size(), 2u);
    EXPECT_EQ(late[0].since, 40u);
    const Explanation explanation = explained(*run.make_context());
    const Finding* finding = test::find(explanation, FindingKind::late_memory);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->text.front(),
              "Memory rose by 16.0 MiB from step 20 to step 40, after the warm-up, and stays at that level (2 "
              "tensors). It does not grow further.");
}

TEST(ExplainLateMemory, IsWithoutWhatTheLastIterationWorksWith) {
    RunBuilder run;
    run.segment(1 << 30);
    std::vector<AllocationIndex> kept;
    for (int i = 0; i < 40; ++i) {
        const AllocationIndex batch = run.alloc(4 * MiB, run.line("load"));
        for (int n = 0; i == 10 && n < 4; ++n) {
            kept.push_back(run.alloc(8 * MiB, run.line("load")));
        }
        run.step();
        if (i < 39) {
            run.free(batch);
        }
    }
    const Explanation explanation = explained(*run.make_context());
    const Finding* late = test::find(explanation, FindingKind::late_memory);
    ASSERT_NE(late, nullptr);
    EXPECT_EQ(late->memory.allocations, kept);
    EXPECT_EQ(late->memory.bytes, late->bytes);
}

/// Returns a run with a list that grows by 8 MiB in each step until it is cut near the end.
Program list_that_is_cut() {
    constexpr size_t left = 10;
    Program program;
    RunBuilder& run = program.run;
    program.labeled(16 * MiB, "build", Category::parameter, "Net.weight");
    std::vector<AllocationIndex> list;
    for (int i = 0; i < 48; ++i) {
        run.free(run.alloc(4 * MiB, run.line("train")));
        if (i >= 3 && i < 46) {
            list.push_back(run.alloc(8 * MiB, run.line("load")));
        }
        for (; i == 46 && list.size() > left; list.pop_back()) {
            run.free(list.back());
        }
        run.step();
    }
    return program;
}

TEST(ExplainLateMemory, IgnoresAListThatIsCutAtTheEnd) {
    const Explanation explanation = explained(*list_that_is_cut().make_context());
    EXPECT_EQ(test::find(explanation, FindingKind::late_memory), nullptr);
    EXPECT_EQ(test::find(explanation, FindingKind::steady), nullptr);
}

TEST(ExplainLateMemory, IgnoresTheWarmUpAndMemoryThatIsFreed) {
    const auto summary = [](Program program) {
        const Explanation explanation = explained(*program.make_context());
        EXPECT_EQ(test::find(explanation, FindingKind::late_memory), nullptr);
        return test::joined(explanation.summary);
    };
    for (const std::string& stays : {summary(rising_once(0)), summary(rising_once(1))}) {
        EXPECT_NE(stays.find("Check whether the work needs this"), std::string::npos) << stays;
    }
    for (const std::string& freed : {summary(rising_once(10, 20)), summary(rising_once(10, 34))}) {
        EXPECT_NE(freed.find("No fix is needed"), std::string::npos) << freed;
    }
}

TEST(ExplainLateMemory, IgnoresASawtooth) {
    Program program;
    std::vector<AllocationIndex> retained;
    for (int i = 0; i < 48; ++i) {
        retained.push_back(program.run.alloc(4 * MiB, program.run.line("collect")));
        program.run.step();
        if (i % 8 == 7 && i < 47) {
            for (const AllocationIndex a : retained) {
                program.run.free(a);
            }
            retained.clear();
        }
    }
    EXPECT_EQ(test::find(explained(*program.run.make_context()), FindingKind::late_memory), nullptr);
}

TEST(ExplainLateMemory, IgnoresPartsOfModelsAndSmallParts) {
    Program program = rising_once(10);
    for (const AllocationIndex a : of_line(program, "load")) {
        program.graph.label(Program::memory(a), program.run.now(), Category::parameter, "Net.head");
    }
    EXPECT_EQ(test::find(explained(*program.make_context()), FindingKind::late_memory), nullptr);
    Program small = rising_once(10);
    small.run.device().allocations.block_size[0] = small.run.device().allocations.requested[0] = 900 * MiB;
    EXPECT_EQ(test::find(explained(*small.make_context()), FindingKind::late_memory), nullptr) << "less than 5 %";
}

TEST(ExplainLateMemory, IgnoresLinesThatGrowAfterTheLastStep) {
    for (const bool grows : {false, true}) {
        Program program = rising_once(10);
        for (int i = 0; i < 20; ++i) {
            const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("serve"));
            program.run.alloc(4 * MiB, program.run.line(grows ? "load" : "other"));
            program.run.free(work);
        }
        const auto context = program.run.make_context();
        EXPECT_EQ(find_late_memory(*context, {}).empty(), grows);
        const Explanation explanation = explained(*context);
        EXPECT_EQ(test::leaks_of(explanation), "unexplained-growth");
        EXPECT_EQ(test::find(explanation, FindingKind::late_memory) == nullptr, grows);
    }
}

/// Explains a run in which step 10 fails and stores something that refers to the tensors of line `load`.
Explanation of_failure(PathLinkKind stored) {
    Program program = rising_once(10);
    for (const AllocationIndex a : of_line(program, "load")) {
        program.graph.tables.referrers.push_back(
            {0,
             no_node,
             Program::memory(a),
             {{PathLinkKind::global, program.graph.text("failed"), 0, program.graph.text("train.py"), 3},
              {stored, program.graph.text("traceback"), 0, 0, 0},
              {PathLinkKind::local, program.graph.text("x"), program.graph.text("load"), 0, 0}}});
    }
    return explained(*program.make_context());
}

TEST(ExplainLateMemory, IsWasteIfAStoredExceptionRetainsIt) {
    const Explanation explanation = of_failure(PathLinkKind::exception);
    const Finding* waste = test::find(explanation, FindingKind::exception_retains_frames);
    ASSERT_NE(waste, nullptr);
    EXPECT_EQ(waste->severity, Severity::waste);
    EXPECT_EQ(waste->bytes, 32 * MiB);
    EXPECT_EQ(waste->fixes.front().bytes, 32 * MiB);
    EXPECT_NE(waste->referrer.find("`failed"), std::string::npos) << waste->referrer;
    EXPECT_NE(waste->text[0].find("is retained by `failed` (global variable, train.py:3), and"), std::string::npos)
        << waste->text[0];
    EXPECT_EQ(waste->fixes.front().code, "failed = str(error)");
    EXPECT_EQ(test::find(explanation, FindingKind::late_memory), nullptr);
    EXPECT_EQ(test::find(explanation, FindingKind::steady), nullptr);
}

TEST(ExplainLateMemory, IsNoWasteIfAnAttributeRetainsIt) {
    const Explanation explanation = of_failure(PathLinkKind::attribute);
    EXPECT_EQ(test::find(explanation, FindingKind::exception_retains_frames), nullptr);
    EXPECT_NE(test::find(explanation, FindingKind::late_memory), nullptr);
}

/// Returns a late step whose exception retains 8 MiB by name, and 16 MiB of step `unnamed` without a known referrer, or
/// in a reference cycle of these objects, over a frame of an exception if wanted.
Explanation with_unnamed(int unnamed, const std::string& cycle = "", bool over_exception = false) {
    Program program;
    for (int i = 0; i < 40; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("train"));
        if (i == 10) {
            const AllocationIndex a = program.run.alloc(8 * MiB, program.run.line("load"));
            program.graph.tables.referrers.push_back({0,
                                                      no_node,
                                                      Program::memory(a),
                                                      {{PathLinkKind::global, program.graph.text("failed"), 0, 0, 0},
                                                       {PathLinkKind::exception, 0, 0, 0, 0}}});
        }
        if (i == unnamed) {
            const AllocationIndex a = program.run.alloc(16 * MiB, program.run.line("activate"));
            if (!cycle.empty()) {
                std::vector<PathLink> links{{PathLinkKind::cycle, program.graph.text(cycle), 0, 0, 0}};
                if (over_exception) {
                    links.push_back({PathLinkKind::exception, 0, 0, 0, 0});
                }
                links.push_back({PathLinkKind::local, program.graph.text("x"), program.graph.text("loss"), 0, 47});
                program.graph.tables.referrers.push_back({0, no_node, Program::memory(a), links});
            }
        }
        program.run.free(work);
        program.run.step();
    }
    return explained(*program.make_context());
}

TEST(ExplainLateMemory, UnnamedMemoryOfTheSameIterationBelongsToTheException) {
    const Explanation same = with_unnamed(10), later = with_unnamed(20);
    ASSERT_NE(test::find(same, FindingKind::exception_retains_frames), nullptr);
    EXPECT_EQ(test::find(same, FindingKind::exception_retains_frames)->bytes, 24 * MiB);
    ASSERT_NE(test::find(later, FindingKind::exception_retains_frames), nullptr);
    EXPECT_EQ(test::find(later, FindingKind::exception_retains_frames)->bytes, 8 * MiB);
}

/// The scan at the end comes after the functions have returned.
TEST(ExplainLateMemory, OfACycleOverATracebackBelongsToTheException) {
    const auto bytes = [](int step, const std::string& cycle, bool over_exception = false) {
        const Explanation explanation = with_unnamed(step, cycle, over_exception);
        const Finding* finding = test::find(explanation, FindingKind::exception_retains_frames);
        return finding ? finding->bytes : 0;
    };
    EXPECT_EQ(bytes(10, "frame → Trainer → ValueError → traceback → frame"), 24 * MiB);
    EXPECT_EQ(bytes(11, "traceback → frame → Trainer → ValueError → traceback", true), 24 * MiB);
    EXPECT_EQ(bytes(20, "frame → Trainer → ValueError → traceback → frame"), 8 * MiB);
    EXPECT_EQ(bytes(10, "Trainer → Callback → Trainer"), 8 * MiB);
}

/// Returns a run of eight steps. Each requests a larger tensor, which gets a segment of its own. `is_free`: the memory
/// of the earlier ones is free by then; otherwise it is freed after the last step.
RunBuilder segments(bool is_free) {
    RunBuilder run;
    std::vector<AllocationIndex> made;
    for (uint64_t i = 0; i < 8; ++i) {
        const uint64_t bytes = (32 + 4 * i) * MiB;
        const uint32_t segment = run.segment(bytes);
        made.push_back(run.alloc(bytes, run.line("train"), 0, segment));
        if (is_free) {
            run.free(made.back());
        }
        run.step();
    }
    for (const AllocationIndex a : made) {
        if (!is_free) {
            run.free(a);
        }
    }
    return run;
}

TEST(ExplainReservedGrowth, IsFragmentationIfEnoughMemoryWasFree) {
    const auto context = segments(true).make_context();
    const auto growth = find_reserved_growth(*context);
    ASSERT_TRUE(growth);
    EXPECT_EQ(growth->reserved, (8 * 32 + 4 * 28) * MiB);
    EXPECT_EQ(growth->allocated, 60 * MiB);
    EXPECT_EQ(growth->segments, 6) << "less was free than the first two requested";
    const Explanation explanation = explained(*context);
    const Finding* finding = test::find(explanation, FindingKind::fragmentation);
    ASSERT_NE(finding, nullptr);
    EXPECT_TRUE(finding->title.starts_with("Fragmentation: ")) << finding->title;
    EXPECT_EQ(finding->severity, Severity::pattern) << "the allocator returns segments without tensors";
    EXPECT_EQ(finding->bytes, growth->reserved - growth->allocated);
    EXPECT_EQ(finding->line, "train.py:10 train");
    EXPECT_FALSE(finding->fixes.empty());
}

TEST(ExplainReservedGrowth, IsWasteIfItFillsTheDevice) {
    RunBuilder run = segments(true);
    run.device().total_bytes = 380 * MiB;
    const Explanation explanation = explained(*run.make_context());
    const Finding* finding = test::find(explanation, FindingKind::fragmentation);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->severity, Severity::waste);
}

TEST(ExplainReservedGrowth, FollowsThePeaksIfNothingWasFree) {
    const auto context = segments(false).make_context();
    EXPECT_FALSE(find_reserved_growth(*context));
    EXPECT_EQ(test::find(explained(*context), FindingKind::fragmentation), nullptr);
}

TEST(ExplainReservedGrowth, IsNoWasteIfTensorsFillTheSegmentsLater) {
    RunBuilder run = segments(true);
    for (uint32_t i = 0; i < 8; ++i) {
        run.alloc((32 + 4 * i) * MiB, run.line("fill"), 0, i);
    }
    run.step();
    EXPECT_FALSE(find_reserved_growth(*run.make_context()));
}

/// Returns a run whose segments leave small gaps: the peak of reserved memory is far above that of allocated memory,
/// but only within `iterations` steps.
RunBuilder gaps(int iterations) {
    RunBuilder run;
    for (int i = 0; i < 10; ++i) {
        for (int n = 0; n < (i < iterations ? 12 / iterations : 0); ++n) {
            run.free(run.alloc(40 * MiB, run.line("train"), 0, run.segment(40 * MiB)));
        }
        run.free(run.alloc(MiB, run.line("norm")));
        run.step();
    }
    return run;
}

TEST(ExplainReservedGrowth, NeedsSeveralIterations) {
    EXPECT_TRUE(find_reserved_growth(*gaps(4).make_context()));
    EXPECT_FALSE(find_reserved_growth(*gaps(2).make_context())) << "the first iterations of every program leave gaps";
}

TEST(ExplainReservedGrowth, IsReportedIfItKeepsRising) {
    const auto context = segments(true).make_context();
    const auto rise = find_reserved_rise(*context);
    ASSERT_TRUE(rise);
    EXPECT_EQ(rise->first, 32 * MiB);
    EXPECT_EQ(rise->last, (8 * 32 + 4 * 28) * MiB);
    const std::string summary = test::joined(explained(*context).summary);
    EXPECT_NE(
        summary.find("Reserved memory keeps rising, from 32.0 MiB after the first step to 368 MiB after the last one."),
        std::string::npos)
        << summary;
    EXPECT_EQ(summary.find("No fix is needed"), std::string::npos) << summary;
    EXPECT_NE(summary.find("Allocated memory does not "), std::string::npos)
        << "a plot shows that reserved memory does";
    EXPECT_FALSE(find_reserved_rise(*gaps(4).make_context())) << "it stays in the later steps";
}

/// Returns a program of 20 steps. Each of the first ten computes a page of 4 MiB in a segment of 32 MiB and keeps it.
/// `reuses`: the later steps allocate in the gaps beside the pages.
Program pages(bool reuses) {
    Program program;
    RunBuilder& run = program.run;
    std::vector<uint64_t> gaps;
    for (int i = 0; i < 20; ++i) {
        if (i < 10) {
            const uint32_t segment = run.segment(32 * MiB);
            const AllocationIndex raw = run.alloc(28 * MiB, run.line("encode"), 0, segment);
            gaps.push_back(run.device().allocations.address[raw]);
            program.add_referrer(run.alloc(4 * MiB, run.line("add"), 0, segment), "pages", std::to_string(i));
            run.free(raw);
        }
        const AllocationIndex work = run.alloc(MiB, run.line("train"));
        if (i >= 10 && reuses) {
            run.device().allocations.address[work] = gaps[static_cast<size_t>(i - 10)];
            run.device().allocations.block_size[work] = 28 * MiB;
        }
        run.free(work);
        run.step();
    }
    return program;
}

TEST(ExplainPinnedGaps, AreWasteNamedByWhatStays) {
    const Findings findings = pages(false).diagnose(diagnoses::fragmentation);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 280 * MiB);
    EXPECT_EQ(findings[0].count, 10);
    EXPECT_EQ(findings[0].line, "train.py:10 add") << "the tensors that stay, not the request that found no gap";
    EXPECT_EQ(findings[0].fixes.at(0).text.find("Make only"), std::string::npos) << "another line left the gaps";
    EXPECT_NE(findings[0].referrer.find("pages"), std::string::npos) << findings[0].referrer;
}

TEST(ExplainPinnedGaps, AreNoneIfLaterWorkUsesThem) { EXPECT_FALSE(find_pinned_gaps(*pages(true).make_context())); }

TEST(ExplainPinnedGaps, AreNoneIfTheyAreYoung) {
    Program program = pages(false);
    program.run.trace.steps.resize(10);  // the last gaps were left a moment ago
    program.run.device().total_bytes = 0;
    const auto gaps = find_pinned_gaps(*program.make_context());
    EXPECT_TRUE(!gaps || gaps->segments.size() < 10);
}

/// Returns a program without steps that keeps the first of four frames in each of ten segments and drops the others
/// shortly before its end; then six large requests need new memory. `category`: of the frames that stay.
Program thinned(Category category) {
    Program program;
    RunBuilder& run = program.run;
    std::vector<AllocationIndex> dropped;
    for (int i = 0; i < 10; ++i) {
        const uint32_t segment = run.segment(32 * MiB);
        program.add_referrer(run.alloc(8 * MiB, run.line("record"), 0, segment), "frames", std::to_string(i));
        program.graph.label(Program::memory(static_cast<AllocationIndex>(run.device().allocations.size() - 1)),
                            run.now(), category);
        for (int n = 0; n < 3; ++n) {
            dropped.push_back(run.alloc(8 * MiB, run.line("record"), 0, segment));
        }
    }
    for (const AllocationIndex a : dropped) {
        run.free(a);
    }
    const uint32_t segment = run.segment(100 * MiB);
    for (int i = 0; i < 6; ++i) {
        const AllocationIndex stack = run.alloc(100 * MiB, run.line("analyze"), 0, segment);
        run.device().allocations.address[stack] = run.device().segments[segment].address;
        run.free(stack);
    }
    return program;
}

TEST(ExplainPinnedGaps, AreLeftByDataThatIsDroppedLate) {
    const Findings findings = thinned(Category::input).diagnose(diagnoses::fragmentation);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].bytes, 240 * MiB);
    EXPECT_EQ(findings[0].line, "train.py:10 record");
    EXPECT_NE(findings[0].fixes.at(0).text.find("Make only the tensors that stay"), std::string::npos);
    EXPECT_EQ(findings[0].fixes[0].bytes, 240 * MiB);
    EXPECT_NE(findings[0].referrer.find("frames"), std::string::npos) << findings[0].referrer;
}

TEST(ExplainPinnedGaps, OfAModelAreUsedByOtherPhases) {
    EXPECT_FALSE(find_pinned_gaps(*thinned(Category::parameter).make_context()));
}

/// Returns a run of 20 steps, each of which allocates 32 MiB on a stream of its own, `streams` in turn.
RunBuilder on_streams(uint32_t streams) {
    RunBuilder run;
    run.segment(64 * MiB);
    run.alloc(32 * MiB, run.line("main"));
    for (uint32_t i = 0; i < streams; ++i) {
        run.trace.streams.push_back({i + 1, ""});
    }
    for (uint32_t i = 0; i < 20; ++i) {
        const uint32_t segment = i < streams ? run.segment(32 * MiB, i + 1) : 1 + i % streams;
        run.free(run.alloc(32 * MiB, run.line("send"), 0, segment));
        run.step();
    }
    return run;
}

TEST(ExplainStreamCaches, AreWasteIfStreamsAreUsedOneAfterAnother) {
    const Findings findings = test::diagnose(diagnoses::fragmentation, *on_streams(16).make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].count, 15) << "without the stream of the first step";
    EXPECT_EQ(findings[0].bytes, 14 * (32 * MiB)) << "one is in use";
    EXPECT_EQ(findings[0].line, "train.py:10 send");
    EXPECT_NE(findings[0].fixes.at(0).code.find("torch.cuda.Stream()"), std::string::npos);
}

TEST(ExplainStreamCaches, AreNormalForAFewStreams) { EXPECT_FALSE(find_stream_caches(*on_streams(4).make_context())); }

/// Returns a run in which tensors of one line lie between others that were freed, before a request that does not fit.
/// `kept`: the number of these tensors.
Program gaps_before_failure(int kept) {
    Program program;
    std::vector<AllocationIndex> clips;
    for (int i = 0; i < kept; ++i) {
        clips.push_back(program.run.alloc(8 * MiB, program.run.line("load")));
        const AllocationIndex descriptor = program.run.alloc(MiB, program.run.line("describe"));
        program.add_referrer(descriptor, "bank", std::to_string(i));
    }
    program.run.alloc((1 << 30) - static_cast<uint64_t>(kept) * 9 * MiB, program.run.line("model"));
    for (const AllocationIndex clip : clips) {
        program.run.free(clip);
    }
    program.run.out_of_memory(32 * MiB, 0, program.run.line("train"));
    return program;
}

TEST(ExplainFragmentation, NamesTheTensorsBesideTheGapsOfAnOutOfMemoryError) {
    const Findings findings = gaps_before_failure(20).diagnose(diagnoses::fragmentation);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].bytes, 160 * MiB);
    EXPECT_EQ(findings[0].line, "train.py:10 describe");
    EXPECT_NE(findings[0].referrer.find("bank"), std::string::npos) << findings[0].referrer;
    EXPECT_NE(findings[0].text.back().find("160 MiB lie beside 20 tensors from train.py:10 describe"),
              std::string::npos)
        << findings[0].text.back();
    EXPECT_EQ(findings[0].fixes.front().bytes, 160 * MiB);
}

TEST(ExplainFragmentation, NamesFewBlocksOneByOne) {
    const Findings findings = gaps_before_failure(5).diagnose(diagnoses::fragmentation);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].text.back().find("lie beside"), std::string::npos);
    EXPECT_EQ(findings[0].line, "");
}

}  // namespace
}  // namespace tidemark
