// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Out-of-memory errors of work that can be divided: tensors that are joined, rows that torch.func computes at once, and
// large results of one input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/explain/oom/oom_answer.h"
#include "tests/unit/failing_program.h"

namespace tidemark::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Three tensors of 200 MiB in a list, and the request for `asked` bytes that copies them.
Finding join(int64_t asked, const std::string& op, bool was_scanned = true, const std::string& file = own) {
    ScannedProgram program;
    std::vector<AllocationIndex> parts;
    for (int i = 0; i < 3; ++i) {
        parts.push_back(program.run.alloc(200 * MiB, program.run.line("step")));
    }
    program.fails(asked, program.stack({{file, "join"}, {own, "collect"}}), program.op(op));
    program.scan();
    for (size_t i = 0; i < parts.size() && was_scanned; ++i) {
        program.retained(parts[i], PathLinkKind::local, "states", "collect", std::to_string(i));
    }
    return program.scanned_finding();
}

TEST(ExplainOomJoined, RecommendsToWriteIntoTheResult) {
    const Finding finding = join(600 * MiB, "aten::stack");
    ASSERT_FALSE(finding.fixes.empty());
    EXPECT_THAT(finding.fixes[0].text, HasSubstr("Preallocate the result"));
    EXPECT_THAT(finding.fixes[0].text, HasSubstr("The request would then have fit."));
    EXPECT_EQ(finding.fixes[0].bytes, 600 * MiB);
    EXPECT_THAT(text_of(finding), HasSubstr("copies 3 tensors of 600 MiB in total from train.py:10 step"));
    EXPECT_THAT(finding.referrer, HasSubstr("list `states`"));
    EXPECT_NE(fix_with(finding, ".cpu()"), nullptr);
}

TEST(ExplainOomJoined, KnowsThePartsByTheirSumWithoutAReferrer) {
    EXPECT_NE(fix_with(join(600 * MiB, "aten::cat", false), "torch.empty((count"), nullptr);
}

TEST(ExplainOomJoined, NeedsACopyOfAllParts) {
    EXPECT_EQ(fix_with(join(400 * MiB, "aten::stack"), "torch.empty((count"), nullptr) << "other tensors";
    EXPECT_EQ(fix_with(join(600 * MiB, "aten::add"), "torch.empty((count"), nullptr) << "no copy";
}

TEST(ExplainOomJoined, OffersNoChangeOfALibrary) {
    const Finding finding = join(600 * MiB, "aten::cat", true, packages + "torchmetrics/utilities/data.py");
    EXPECT_THAT(text_of(finding), HasSubstr("copies 3 tensors of 600 MiB"));
    EXPECT_EQ(fix_with(finding, "torch.empty((count"), nullptr);
}

/// Tensors of 200 MiB that a transform of torch.func computes, and the next of them.
Finding transformed(std::initializer_list<std::pair<std::string_view, std::string_view>> frames, Phase phase,
                    int tensors = 4) {
    FailingProgram program;
    const StackId stack = program.stack(frames);
    const uint32_t add = program.op("AddBackward0 > aten::add", phase);
    for (int i = 0; i < tensors; ++i) {
        program.run.alloc(200 * MiB, stack, add);
    }
    program.run.alloc(MiB, stack, add);
    program.fails(400 * MiB, stack, add);
    return program.finding();
}

const std::string eager = packages + "torch/_functorch/eager_transforms.py";
const std::string vmap = packages + "torch/_functorch/vmap.py";

TEST(ExplainOomTransform, RecommendsChunksAndProducts) {
    const Finding finding =
        transformed({{own, "solve"}, {eager, "jacrev.<locals>.wrapper_fn"}, {own, "study"}}, Phase::backward);
    const Fix* chunks = fix_with(finding, "torch.func.jacrev(function, chunk_size=");
    ASSERT_NE(chunks, nullptr) << text_of(finding);
    EXPECT_EQ(chunks->bytes, 1050 * MiB) << "seven eighths of the tensors of all rows and of the request";
    EXPECT_NE(fix_with(finding, "torch.func.vjp"), nullptr);
    EXPECT_THAT(text_of(finding), HasSubstr("`jacrev`, called at train.py:30 study"));
}

TEST(ExplainOomTransform, TheRequestAloneMayBeForAllRows) {
    const Finding finding =
        transformed({{own, "solve"}, {eager, "jacrev.<locals>.wrapper_fn"}, {own, "study"}}, Phase::backward, 0);
    const Fix* chunks = fix_with(finding, "torch.func.jacrev(function, chunk_size=");
    ASSERT_NE(chunks, nullptr) << text_of(finding);
    EXPECT_EQ(chunks->bytes, 350 * MiB);
    EXPECT_THAT(text_of(finding), HasSubstr("computes all rows of its batch at once: the request is for 400 MiB."));
}

TEST(ExplainOomTransform, ForwardPassOfJacrevHasOneRow) {
    const Finding finding =
        transformed({{own, "solve"}, {eager, "jacrev.<locals>.wrapper_fn"}, {own, "study"}}, Phase::forward);
    EXPECT_EQ(fix_with(finding, "chunk_size"), nullptr);
}

TEST(ExplainOomTransform, VmapHasNoProducts) {
    const Finding finding = transformed({{own, "solve"}, {vmap, "_flat_vmap"}, {own, "study"}}, Phase::forward);
    EXPECT_NE(fix_with(finding, "torch.func.vmap(function, chunk_size="), nullptr);
    EXPECT_EQ(fix_with(finding, "torch.func.vjp"), nullptr);
    const Finding forward =
        transformed({{own, "solve"}, {eager, "jacfwd.<locals>.wrapper_fn"}, {own, "study"}}, Phase::backward);
    EXPECT_NE(fix_with(forward, "torch.func.jacfwd"), nullptr);
}

/// Logits, their copy in float32, and a softmax of that; another 50 MiB are in use.
Finding evaluate(const std::string& op, int64_t logits = 200) {
    FailingProgram program;
    program.run.alloc(50 * MiB, program.run.line("main"));
    program.run.alloc(static_cast<uint64_t>(logits * MiB), program.run.line("head"), program.op("aten::linear"));
    program.run.alloc(400 * MiB, program.run.line("loss"), program.op("aten::to"));
    program.fails(400 * MiB, program.run.line("loss"), program.op(op));
    return program.finding();
}

TEST(ExplainOomLargeResults, CountsThePartsThatFit) {
    const Finding finding = evaluate("aten::_log_softmax");
    ASSERT_FALSE(finding.fixes.empty());
    EXPECT_THAT(finding.fixes[0].text,
                HasSubstr("take 1000 MiB together; in 2 parts they would take 500 MiB at a time"));
    EXPECT_EQ(finding.fixes[0].bytes, 500 * MiB);
    EXPECT_THAT(text_of(finding), HasSubstr("Beside the request, 2 tensors of its size"));
}

TEST(ExplainOomLargeResults, NeedsAComputedRequest) {
    EXPECT_EQ(fix_with(evaluate("aten::zeros_like"), ".chunk("), nullptr);
    EXPECT_EQ(fix_with(evaluate("aten::to"), "batch.chunk("), nullptr);
    EXPECT_NE(fix_with(evaluate("aten::topk"), ".chunk("), nullptr);
    EXPECT_THAT(text_of(evaluate("aten::exp", 190)), HasSubstr("Beside the request, 1 tensor of its size"));
}

/// Matrices of distances of these MiB, then one of 600 MiB: as much is free, but a small tensor lies in the middle.
Finding distances(std::initializer_list<int64_t> sizes) {
    FailingProgram program;
    const StackId stack = program.run.line("radius");
    const uint32_t cdist = program.op("aten::cdist");
    for (const int64_t size : sizes) {
        program.run.free(program.run.alloc(MiB, stack, cdist));  // norms
        program.run.free(program.run.alloc(static_cast<uint64_t>(size * MiB), stack, cdist));
    }
    program.run.alloc(MiB, program.run.line("choose"));
    program.fails(600 * MiB, stack, cdist);
    return program.finding();
}

TEST(ExplainOomGrowingRequest, IsLargerWithEachCall) {
    EXPECT_THAT(text_of(distances({100, 130, 150, 170})),
                HasSubstr("The requests of this line grow: 130 MiB, 150 MiB and 170 MiB before, and now 600 MiB."));
    for (const auto& sizes : {std::initializer_list<int64_t>{150, 150, 150}, {170, 150, 130}, {60, 70, 80, 240}}) {
        EXPECT_THAT(text_of(distances(sizes)), Not(HasSubstr("The requests of this line grow")));
    }
}

TEST(ExplainOomLargeResults, MayFitNowhereAlthoughEnoughIsFree) {
    const Finding finding = distances({130, 150, 170});
    ASSERT_FALSE(finding.fixes.empty()) << text_of(finding);
    EXPECT_THAT(finding.fixes[0].text, HasSubstr("The request is for 600 MiB; in 2 parts it would be for 300 MiB"));
    EXPECT_EQ(finding.fixes[0].bytes, 300 * MiB);
    EXPECT_THAT(finding.fixes[0].code, HasSubstr(".chunk(2)"));
}

TEST(ExplainOomFixes, NameAChangeOnce) {
    const std::vector<Fix> fixes = ranked({{{"Gather less.", "gather()", 100, {}}, false},
                                           {{"Gather less. It fits.", "gather()", 300, {}}, true},
                                           {{"Wait.", "", {}, {}}, false},
                                           {{"Wait.", "", {}, {}}, false}});
    ASSERT_EQ(fixes.size(), 2u);
    EXPECT_EQ(fixes[0].bytes, 300);
    EXPECT_EQ(fixes[1].text, "Wait.");
}

TEST(ExplainOomReferrer, MayBeAVariableOfALibraryThatRuns) {
    ScannedProgram program;
    const std::string file = packages + "torchvision/ops/boxes.py";
    const StackId stack = program.stack({{file, "box_iou"}, {own, "train"}});
    const AllocationIndex corner = program.run.alloc(400 * MiB, stack, program.op("aten::max"));
    program.fails(700 * MiB, stack, program.op("aten::sub"));
    program.scan();
    program.retained(corner, PathLinkKind::local, "lt", "box_iou", "", file);
    const Finding finding = program.scanned_finding();
    EXPECT_THAT(finding.referrer, HasSubstr("`lt` (variable of box_iou"));
    EXPECT_THAT(text_of(finding), HasSubstr("A library made it: boxes.py:10 box_iou."));
}

TEST(ExplainOomReferrer, IsNoArgumentOfTheCallOfAModule) {
    ScannedProgram program;
    const std::string file = packages + "torch/nn/modules/module.py";
    const StackId stack = program.stack({{own, "forward"}, {file, "Module._wrapped_call_impl"}, {own, "train"}});
    const AllocationIndex joined = program.run.alloc(400 * MiB, stack, program.op("aten::cat"));
    program.fails(700 * MiB, stack, program.op("aten::mul"));
    program.scan();
    program.retained(joined, PathLinkKind::local, "args", "Module._wrapped_call_impl", "0", file);
    EXPECT_EQ(program.scanned_finding().referrer, "");
}

TEST(ExplainOomInput, OneOfSeveralInputsMayBeLarger) {
    FailingProgram program;
    const uint32_t sub = program.op("aten::sub");
    const auto pass = [&] {
        for (const char* line : {"embed", "attend", "project"}) {
            program.run.free(program.run.alloc(4 * MiB, program.run.line(line)));
        }
    };
    for (int i = 0; i < 4; ++i) {
        pass();
        program.run.free(program.run.alloc(60 * MiB, program.run.line("match"), sub));
        program.run.step();
    }
    pass();
    program.fails(1200 * MiB, program.run.line("match"), sub);
    const Finding finding = program.finding();
    EXPECT_TRUE(std::any_of(finding.fixes.begin(), finding.fixes.end(), [](const Fix& fix) {
        return fix.text.find("cropped or split") != std::string::npos;
    })) << text_of(finding);
    EXPECT_THAT(text_of(finding), Not(HasSubstr("Activations"))) << "there are none";
}

TEST(ExplainOomLeak, OfALibraryHasTheFixOfTheLibraryOnly) {
    for (const std::string& file : {packages + "transformers/trainer_pt_utils.py", std::string(own)}) {
        SCOPED_TRACE(file);
        FailingProgram program;
        const StackId stack = program.stack({{file, "nested_concat"}, {own, "main"}});
        const uint32_t cat = program.op("aten::cat");
        AllocationIndex before = no_allocation;
        for (int64_t i = 1; i <= 12; ++i) {
            const AllocationIndex whole = program.run.alloc(static_cast<uint64_t>(i * 40 * MiB), stack, cat);
            if (before != no_allocation) {
                program.run.free(before);
            }
            before = whole;
            program.run.step();
        }
        program.fails(600 * MiB, stack, cat);
        const Finding finding = program.finding();
        EXPECT_THAT(text_of(finding), HasSubstr("A leak of 480 MiB comes first"));
        EXPECT_EQ(fix_with(finding, "torch.cat([") != nullptr, file == own);
        EXPECT_EQ(fix_with(finding, "eval_accumulation_steps") != nullptr, file != own);
    }
}

}  // namespace
}  // namespace tidemark::test
