// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A tensor that is made again in each iteration, larger each time.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "storage/explain/finding_memory.h"
#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::MiB;
using test::Program;
using test::RunBuilder;

/// When a tensor of 2 MiB exists: never, until the larger tensor is requested, or when it is made.
enum class Piece { none, before, during };

/// Returns a run of a tensor that is made again in each step, larger by 2 MiB, by this op.
Program remade(Piece pieces, const std::string& op) {
    Program program;
    RunBuilder& run = program.run;
    const uint32_t origin = op.empty() ? 0 : run.origin(op);
    AllocationIndex before = no_allocation;
    for (uint64_t i = 1; i <= 20; ++i) {
        const AllocationIndex piece = run.alloc(pieces == Piece::none ? 512 : 2 * MiB, run.line("encode"));
        if (pieces == Piece::before) {
            run.free(piece);
        }
        const AllocationIndex whole = run.alloc(i * 2 * MiB, run.line("append"), origin);
        if (before != no_allocation) {
            run.free(before);
        }
        if (pieces != Piece::before) {
            run.free(piece);
        }
        before = whole;
        run.step();
    }
    program.add_referrer(before, "history");
    return program;
}

/// A library joins outputs of 32 MiB and numbers, both at one line of the program.
TEST(ExplainGrowingTensor, IsNoFindingOfItsOwnBesideAFarLargerOneOfTheLine) {
    Program program;
    RunBuilder& run = program.run;
    run.device().total_bytes = int64_t{140} << 30;
    run.segment(uint64_t{8} << 30);
    const uint32_t cat = run.origin("aten::cat");
    const auto stack = [&](std::string_view function) {
        return test::stack_of(run.trace.stacks,
                              {{"/venv/lib/python3.12/site-packages/lib.py", function}, {"/home/a/train.py", "main"}});
    };
    AllocationIndex outputs = no_allocation, numbers = no_allocation;
    for (uint64_t i = 1; i <= 20; ++i) {
        for (auto [tensor, bytes, function] :
             {std::tuple(&outputs, 32 * MiB, "add"), {&numbers, int64_t{512}, "count"}}) {
            const AllocationIndex whole = run.alloc(i * static_cast<uint64_t>(bytes), stack(function), cat);
            if (*tensor != no_allocation) {
                run.free(*tensor);
            }
            *tensor = whole;
        }
        run.step();
    }
    program.add_referrer(outputs, "outputs");
    program.add_referrer(numbers, "numbers");
    const Explanation explanation = explained(*program.make_context());
    EXPECT_EQ(test::leaks_of(explanation), "growing-tensor");
    const auto count = std::count_if(explanation.findings.begin(), explanation.findings.end(),
                                     [](const Finding& f) { return f.kind == FindingKind::growing_tensor; });
    EXPECT_EQ(count, 1);
}

TEST(ExplainGrowingTensor, IsProvedByAppendedPiecesOrByItsOp) {
    for (Program program : {remade(Piece::during, ""), remade(Piece::none, "aten::cat"),
                            remade(Piece::none, "aten::vstack > aten::cat")}) {
        const auto context = program.run.make_context();  // as imported
        ASSERT_EQ(context->suspects().size(), 1u);
        EXPECT_EQ(context->suspects()[0].growth, Growth::of_size);
        const Explanation explanation = explained(*context);
        ASSERT_EQ(test::leaks_of(explanation), "growing-tensor");
        const Finding& leak = explanation.findings[0];
        EXPECT_EQ(leak.per_iteration, 2 * MiB);
        EXPECT_EQ(leak.bytes, 40 * MiB);
        EXPECT_EQ(leak.memory.allocations.size(), 1u);
        EXPECT_EQ(memory_over_time(context->device(), leak).size(), 20u) << "a plot shows all that it replaced";
        EXPECT_EQ(leak.title, "A tensor from train.py:10 append becomes larger by 2.00 MiB per step");
    }
}

TEST(ExplainGrowingTensor, IsNotProvedBySizesAlone) {
    EXPECT_TRUE(remade(Piece::none, "").run.make_context()->suspects().empty());
    EXPECT_TRUE(remade(Piece::none, "aten::mm").run.make_context()->suspects().empty());
    EXPECT_TRUE(remade(Piece::before, "").run.make_context()->suspects().empty());
}

TEST(ExplainGrowingTensor, IsFoundInALoopThatEndsWhileTwoOfThemExist) {
    for (const int steps : {0, 6}) {
        SCOPED_TRACE(steps);
        RunBuilder run;
        run.segment(1 << 30);
        for (int i = 0; i < steps; ++i) {
            run.free(run.alloc(4 * MiB, run.line("train")));
            run.step();
        }
        const uint32_t cat = run.origin("aten::cat");
        AllocationIndex before = no_allocation;
        for (uint64_t i = 1; i <= 20; ++i) {
            run.free(run.alloc(512, run.line("encode")));
            const AllocationIndex whole = run.alloc(i * 2 * MiB, run.line("append"), cat);
            if (before != no_allocation) {
                run.free(before);
            }
            before = whole;
        }
        const Explanation explanation = explained(*run.make_context());
        ASSERT_EQ(test::leaks_of(explanation), "growing-tensor");
        EXPECT_EQ(explanation.findings[0].per_iteration, 2 * MiB);
        EXPECT_EQ(explanation.findings[0].bytes, 40 * MiB);
        EXPECT_EQ(explanation.findings[0].unit, IterationSource::loop);
    }
}

TEST(ExplainGrowingTensor, SaysWhatTheAllocatorReservesForIt) {
    RunBuilder run;
    const uint32_t cat = run.origin("aten::cat");
    AllocationIndex before = no_allocation;
    for (uint64_t i = 1; i <= 20; ++i) {
        const uint32_t segment = run.segment(i * 4 * MiB);
        const AllocationIndex whole = run.alloc(i * 4 * MiB, run.line("append"), cat, segment);
        if (before != no_allocation) {
            run.free(before);
        }
        before = whole;
        run.step();
    }
    const Explanation explanation = explained(*run.make_context());
    ASSERT_EQ(test::leaks_of(explanation), "growing-tensor");
    const Finding& finding = explanation.findings[0];
    EXPECT_NE(finding.text.at(2).find("So 840 MiB are reserved, but at most 156 MiB were allocated."),
              std::string::npos)
        << finding.text.at(2);
    EXPECT_NE(finding.fixes.back().code.find("expandable_segments:True"), std::string::npos);
}

TEST(ExplainGrowingTensor, IsNamedByAPlainVariable) {
    const Explanation explanation = explained(*remade(Piece::none, "aten::cat").make_context());
    ASSERT_EQ(test::leaks_of(explanation), "growing-tensor");
    EXPECT_NE(explanation.findings[0].title.find("`history`"), std::string::npos) << explanation.findings[0].title;
    EXPECT_NE(explanation.findings[0].fixes[0].code.find("history = torch.cat([history, new])"), std::string::npos);
}

/// Returns a run of 20 steps that each make two tensors anew, each larger by 64 KiB, in blocks with up to 1 MiB more.
Program cached_keys_and_values() {
    Program program;
    RunBuilder& run = program.run;
    const uint32_t cat = run.origin("aten::cat");
    std::vector<AllocationIndex> before;
    for (uint64_t i = 1; i <= 20; ++i) {
        std::vector<AllocationIndex> now;
        for (int tensor = 0; tensor < 2; ++tensor) {
            now.push_back(run.alloc(4 * MiB + i * MiB / 16, run.line("update"), cat));
            run.trace.devices[0].allocations.block_size[now.back()] += (i * 7 + 3) % 5 * MiB / 5;
        }
        for (const AllocationIndex a : std::exchange(before, now)) {
            run.free(a);
        }
        run.step();
    }
    for (size_t i = 0; i < before.size(); ++i) {
        program.add_referrer(before[i], "cache", std::to_string(i));
    }
    return program;
}

TEST(ExplainGrowingTensor, IsRecognizedByWhatWasRequested) {
    const Explanation explanation = explained(*cached_keys_and_values().make_context());
    ASSERT_EQ(test::leaks_of(explanation), "growing-tensor");
    EXPECT_EQ(explanation.findings[0].title.find("2 tensors in list `cache` "), 0u) << explanation.findings[0].title;
    EXPECT_NE(explanation.findings[0].text[0].find("makes the tensors anew"), std::string::npos);
}

/// Returns a run of 20 steps in which each backward pass appends 2.5 MiB to a sparse gradient, in a segment of its own.
Program sparse_gradient(const std::string& name) {
    Program program;
    RunBuilder& run = program.run;
    const uint32_t origin = run.origin("torch::autograd::AccumulateGrad > aten::add_");
    AllocationIndex before = no_allocation;
    for (uint64_t i = 1; i <= 20; ++i) {
        const uint32_t segment = run.segment(i * 3 * MiB);
        const AllocationIndex rows = run.alloc(5 * MiB / 2, run.line("forward"));
        const AllocationIndex whole = run.alloc(i * 5 * MiB / 2, run.line("train"), origin, segment);
        run.trace.devices[0].allocations.block_size[whole] += i % 2 * 512 * 1024;  // what the segment leaves
        if (before != no_allocation) {
            run.free(before);
        }
        run.free(rows);
        if (!name.empty()) {
            program.graph.label(Program::memory(whole), run.now(), Category::gradient, name);
        }
        before = whole;
        run.step();
    }
    return program;
}

TEST(ExplainGrowingTensor, IsAGradientIfAccumulateGradMakesIt) {
    const Explanation explanation = explained(*sparse_gradient("TwoTower.items.weight").make_context());
    ASSERT_EQ(test::leaks_of(explanation), "growing-tensor");
    const Finding& leak = explanation.findings[0];
    EXPECT_EQ(leak.title.find("`.grad` of `TwoTower.items.weight` becomes larger by "), 0u) << leak.title;
    EXPECT_EQ(leak.fixes.at(0).code, "model.items.weight.requires_grad_(False)");
    EXPECT_EQ(leak.fixes.at(1).code, "model.zero_grad(set_to_none=True)");
    EXPECT_EQ(leak.count, 0);
}

TEST(ExplainGrowingTensor, IsAGradientAlsoIfItsParameterIsUnknown) {
    const Explanation explanation = explained(*sparse_gradient("").make_context());
    ASSERT_EQ(test::leaks_of(explanation), "growing-tensor");
    EXPECT_EQ(explanation.findings[0].title.find("A sparse gradient becomes larger by "), 0u);
    EXPECT_EQ(explanation.findings[0].fixes.at(0).code, "parameter.requires_grad_(False)");
}

}  // namespace
}  // namespace tidemark
