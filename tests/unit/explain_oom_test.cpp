// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Causes and fixes of out-of-memory errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/explain/experiments.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/explain/oom/site_sizes.h"
#include "tests/unit/failing_program.h"
#include "tests/unit/whatif_traces.h"

namespace tidemark::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Four parameters and gradients of 100 MiB; the state of the first parameter exists.
struct FirstStep : FailingProgram {
    explicit FirstStep(const std::string& function) {
        for (int i = 0; i < 4; ++i) {
            labeled(100 * MiB, "main", Category::parameter);
            labeled(100 * MiB, "fit", Category::gradient);
        }
        const uint32_t zeros = op("aten::zeros_like", Phase::optimizer);
        run.alloc(100 * MiB, torch_line("optim/adam.py", function, 182), zeros);
        run.alloc(100 * MiB, torch_line("optim/adam.py", function, 187), zeros);
        fails(100 * MiB, torch_line("optim/adam.py", function, 182), zeros);
    }
};

TEST(ExplainOomOptimizer, CountsTheStateThatIsMissing) {
    const Finding finding = FirstStep("Adam._init_group").finding();
    EXPECT_THAT(text_of(finding), HasSubstr("2 tensors for each parameter"));
    EXPECT_THAT(text_of(finding), HasSubstr("800 MiB together, of which 200 MiB exist and 600 MiB are missing"));
    EXPECT_THAT(text_of(finding), HasSubstr("A smaller batch does not help"));
    const Fix* in_8_bits = fix_with(finding, "AdamW8bit");
    ASSERT_NE(in_8_bits, nullptr);
    EXPECT_EQ(in_8_bits->bytes, 150 * MiB);
    EXPECT_THAT(in_8_bits->text, HasSubstr("200 MiB instead of 800 MiB"));
    EXPECT_THAT(in_8_bits->text, HasSubstr("The whole state would then have fit."));
}

TEST(ExplainOomOptimizer, RecommendsAnUpdateWithoutTemporaries) {
    const Finding finding = FirstStep("_multi_tensor_adamw").finding();
    const Fix* fused = fix_with(finding, "fused=True");
    ASSERT_NE(fused, nullptr);
    EXPECT_EQ(fused->bytes, 200 * MiB);
    EXPECT_EQ(fix_with(finding, "AdamW8bit"), nullptr) << "temporaries are no state";
}

/// Steps with inputs of one to two units, then one of 24; scores take the square.
struct LongSequence : FailingProgram {
    explicit LongSequence(const std::string& softmax = "aten::softmax") {
        bmm = op("aten::bmm");
        scale = op("aten::mul");
        embed = op("aten::embedding");
        soft = op(softmax);
        for (const int64_t length : {1, 2, 1, 2, 1, 2}) {
            std::vector<AllocationIndex> made = forward(length);
            made.push_back(run.alloc(length * length * MiB, attention, scale));
            made.push_back(run.alloc(length * length * MiB, attention, soft));
            for (const AllocationIndex a : made) {
                run.free(a);
            }
            run.step();
        }
        forward(24);
        fails(24 * 24 * MiB, attention, scale);
    }
    std::vector<AllocationIndex> forward(int64_t length) {
        return {run.alloc(length * MiB, run.line("embed"), embed), run.alloc(length * length * MiB, attention, bmm)};
    }

    StackId attention = run.line("attention");
    uint32_t bmm = 0, scale = 0, embed = 0, soft = 0;
};

TEST(ExplainOomInput, ComparesWithTheLastThatFit) {
    const std::string text = text_of(LongSequence().finding());
    EXPECT_THAT(text, HasSubstr("input is 12 times as large as that of step 5, the last that fit"));
    EXPECT_THAT(text, HasSubstr("144 times as large: they grow with the square"));
}

TEST(ExplainOomInput, SolvesForTheLargestThatFits) {
    // 2 MiB grow with the input and 12 MiB with its square; 1024 MiB are reached at 9.15 times the input of step 3.
    EXPECT_THAT(text_of(LongSequence().finding()), HasSubstr("up to 0.76 times this one's size, or 9.2 times"));
}

TEST(ExplainOomInput, FindsNoRatioInATensorThatCollects) {
    FailingProgram program;
    const StackId collect = program.run.line("collect");
    AllocationIndex collected = no_allocation;
    for (int64_t i = 1; i <= 8; ++i) {
        for (const char* line : {"embed", "attend", "project"}) {
            program.run.free(program.run.alloc(4 * MiB, program.run.line(line)));
        }
        const AllocationIndex larger = program.run.alloc(static_cast<uint64_t>(i * 60 * MiB), collect);
        if (collected != no_allocation) {
            program.run.free(collected);
        }
        collected = larger;
        program.run.step();
    }
    for (const char* line : {"embed", "attend", "project"}) {
        program.run.free(program.run.alloc(4 * MiB, program.run.line(line)));
    }
    program.fails(600 * MiB, collect);
    const std::string text = text_of(program.finding());
    EXPECT_THAT(text, HasSubstr("Most of this iteration's tensors have the same sizes"));
    EXPECT_THAT(text, HasSubstr("The request of 600 MiB is larger than the 480 MiB"));
}

TEST(ExplainOomInput, ARequestMayBeginAnIteration) {
    FailingProgram program;
    const StackId collect = program.run.line("main");
    for (int i = 0; i < 8; ++i) {
        program.run.alloc(100 * MiB, collect);
    }
    program.fails(300 * MiB, collect);
    EXPECT_THAT(text_of(program.finding()), HasSubstr("iteration 7, the last that fit"));
}

TEST(ExplainOomInput, RatioIsThatOfMostSites) {
    const auto key = [](FrameId site) { return SiteKey{site, site, 0}; };
    const Sizes base{{key(1), 100}, {key(2), 200}, {key(3), 50}, {key(4), 7}};
    const Sizes failed{{key(1), 300}, {key(2), 600}, {key(3), 450}, {key(4), 7}};
    EXPECT_NEAR(input_ratio(failed, base).value_or(0), 3, 0.01);
    EXPECT_EQ(growth_power(key(1), failed, base, 3), 1);
    EXPECT_EQ(growth_power(key(3), failed, base, 3), 2);
    EXPECT_EQ(growth_power(key(4), failed, base, 3), 0);
    EXPECT_EQ(growth_power(key(5), failed, base, 3), std::nullopt);
    const Sizes other{{key(8), 100}};
    EXPECT_EQ(input_ratio(failed, other), std::nullopt) << "other work";
}

TEST(ExplainOomAttention, CountsTheScores) {
    const Finding finding = LongSequence().finding();
    const Fix* fix = fix_with(finding, "scaled_dot_product_attention");
    ASSERT_NE(fix, nullptr);
    EXPECT_EQ(fix->bytes, 576 * MiB);
    EXPECT_THAT(fix->text, HasSubstr("The request would then have fit."));
    EXPECT_EQ(fix, finding.fixes.data()) << "the best";
}

TEST(ExplainOomAttention, NeedsASoftmax) {
    EXPECT_EQ(fix_with(LongSequence("aten::log_softmax").finding(), "scaled_dot_product_attention"), nullptr);
}

/// Three training steps, then a forward pass that saves 300 MiB.
struct Evaluation : Training {
    explicit Evaluation(const std::string& caller, bool is_in_thread = false) {
        for (int i = 0; i < 3; ++i) {
            pass();
            update();
        }
        const std::string threading = "/usr/lib/python3.12/threading.py";
        const StackId stack =
            is_in_thread
                ? stack_of(run.trace.stacks, {{own, "forward"}, {own, caller}, {threading, "Thread._bootstrap_inner"}})
                : stack_of(run.trace.stacks, {{own, "forward"}, {own, caller}});
        NodeIndex last = leaf;
        for (int i = 0; i < 3; ++i) {
            const AllocationIndex activation = run.alloc(100 * MiB, stack);
            GraphBuilder::Lifetime lifetime;
            lifetime.created = run.now();
            last = graph.node("MmBackward0", {last}, {memory(activation)}, lifetime, memory(activation), stack);
        }
        run.out_of_memory(900 * MiB, 0, stack);
    }
};

TEST(ExplainOomUnusedGraph, RecommendsNoGradInTheFunctionThatNeverTrains) {
    Evaluation program("validate");
    const Finding finding = program.diagnose(diagnoses::out_of_memory).at(0);
    const Fix* fix = fix_with(finding, "@torch.no_grad()\ndef validate(...):");
    ASSERT_NE(fix, nullptr) << text_of(finding);
    EXPECT_EQ(fix->bytes, 300 * MiB);
    EXPECT_THAT(text_of(finding), HasSubstr("train.py:20 validate"));
}

TEST(ExplainOomUnusedGraph, RecommendsNoGradInsideOfTheThread) {
    Evaluation program("rollout", true);
    const Finding finding = program.diagnose(diagnoses::out_of_memory).at(0);
    const Fix* fix = fix_with(finding, "def rollout(...):\n    with torch.no_grad():");
    ASSERT_NE(fix, nullptr) << text_of(finding);
    EXPECT_THAT(fix->text, HasSubstr("The grad mode is per thread"));
}

TEST(ExplainOomUnusedGraph, ReportsNothingInATrainingStep) {
    Evaluation program("loss");
    const Finding finding = program.diagnose(diagnoses::out_of_memory).at(0);
    EXPECT_EQ(fix_with(finding, "no_grad"), nullptr);
    EXPECT_NE(fix_with(finding, "batch.chunk(2)"), nullptr) << "activations of a training step";
}

/// Forward passes without any backward pass; the last one fails.
Finding inference(int complete) {
    FailingProgram program;
    const StackId forward = program.run.line("forward");
    for (int i = 0; i <= complete; ++i) {
        const AllocationIndex activation = program.run.alloc(200 * MiB, forward);
        const AllocationIndex other = program.run.alloc(200 * MiB, forward);
        const NodeIndex node = program.node("MmBackward0", {}, {activation, other}, other, "forward");
        if (i < complete) {
            program.run.free(activation);
            program.run.free(other);
            program.is_destroyed(node);
            program.run.step();
        }
    }
    program.fails(900 * MiB, forward);
    return program.finding();
}

TEST(ExplainOomUnusedGraph, NeedsAnEarlierOneBeforeTheFirstBackwardPass) {
    EXPECT_NE(fix_with(inference(3), "with torch.no_grad():"), nullptr);
    EXPECT_EQ(fix_with(inference(0), "no_grad"), nullptr) << "may be the first step of a training";
}

void sample(RunBuilder& run, int64_t own_bytes, int64_t other_bytes) {
    constexpr int64_t total = int64_t{140} << 30;
    run.device().total_bytes = total;
    run.trace.samples.push_back({run.now(), 0, 100, own_bytes, 0, SampleSource::nvml});
    run.trace.samples.push_back({run.now(), 0, 7, other_bytes, 0, SampleSource::nvml});
    run.trace.samples.push_back({run.now(), 0, std::nullopt, own_bytes + other_bytes, total, SampleSource::nvml});
}

TEST(ExplainOomTitle, NamesTheBackwardPassOfALine) {
    FailingProgram program;
    program.run.alloc(900 * MiB, program.run.line("main"));
    program.fails(512 * MiB, program.run.line("train"), program.op("MmBackward0 > aten::mm", Phase::backward));
    EXPECT_EQ(program.finding().title, "out of memory: the backward pass of train.py:10 train requested 512 MiB");
    FailingProgram in_call;
    in_call.run.alloc(900 * MiB, in_call.run.line("main"));
    in_call.fails(512 * MiB, in_call.stack({{packages + "torch/_tensor.py", "Tensor.backward"}, {own, "train"}}),
                  in_call.op("MmBackward0 > aten::mm", Phase::backward));
    EXPECT_THAT(in_call.finding().title, Not(HasSubstr("the backward pass of")));
}

/// Steps that join results to a tensor, or that each keep one more, until the process's own limit refuses a request.
FailingProgram collecting(bool joins) {
    FailingProgram program;
    program.run.device().total_bytes = int64_t{4} << 30;
    const uint32_t cat = program.op("aten::cat");
    AllocationIndex before = no_allocation;
    for (int64_t i = 1; i <= 20; ++i) {
        const AllocationIndex made = program.run.alloc((joins ? i : 1) * 20 * MiB, program.run.line("collect"), cat);
        if (joins && before != no_allocation) {
            program.run.free(before);
        }
        before = made;
        program.run.step();
    }
    program.fails(440 * MiB, program.run.line("collect"), cat, 2048 * MiB);
    return program;
}

TEST(ExplainOomLimit, MayBeRaisedForATensorThatGrows) {
    const Finding growing = collecting(true).finding();
    const Fix* fix = fix_with(growing, "set_per_process_memory_fraction");
    ASSERT_NE(fix, nullptr);
    EXPECT_EQ(fix, &growing.fixes.back());
    EXPECT_THAT(fix->text, HasSubstr("Later ones need more, because the memory grows."));
    EXPECT_EQ(fix_with(collecting(false).finding(), "set_per_process_memory_fraction"), nullptr);
}

TEST(ExplainExperiments, FreeLeakSuspectsOnlyIfThatChangesTheRun) {
    for (const bool joins : {false, true}) {
        FailingProgram program = collecting(joins);
        const auto context = program.make_context();
        ASSERT_EQ(context->suspects().size(), 1u);
        EXPECT_EQ(without_suspects(*context, context->out_of_memory()->event).has_value(), !joins);
    }
}

TEST(ExplainOomOtherProcesses, AreTheCauseOnlyIfTheDriverRefused) {
    for (const bool is_limited : {false, true}) {
        SCOPED_TRACE(is_limited);
        FailingProgram program;
        program.run.alloc(900 * MiB, program.run.line("main"));
        sample(program.run, 2048 * MiB, 100'000 * MiB);
        program.fails(512 * MiB, program.run.line("main"), 0, is_limited ? 1024 * MiB : MiB);
        const Finding finding = program.finding();
        const Fix* fix = fix_with(finding, "nvidia-smi");
        EXPECT_EQ(fix != nullptr, !is_limited);
        EXPECT_EQ(fix_with(finding, "set_per_process_memory_fraction") != nullptr, is_limited);
        if (fix) {
            EXPECT_EQ(fix->bytes, 100'000 * MiB);
            EXPECT_THAT(fix->text, HasSubstr("process 7"));
        }
    }
}

TEST(ExplainOomOtherProcesses, ComeAfterTheProgramsOwnMistake) {
    FailingProgram program;
    const StackId stack =
        program.stack({{own, "solve"}, {packages + "torch/_functorch/vmap.py", "_flat_vmap"}, {own, "study"}});
    program.run.alloc(50 * MiB, program.run.line("main"));
    sample(program.run, 2048 * MiB, 100'000 * MiB);
    program.fails(900 * MiB, stack, program.op("aten::new_zeros"), MiB);
    const Finding finding = program.finding();
    ASSERT_GE(finding.fixes.size(), 2u);
    EXPECT_THAT(finding.fixes[0].code, HasSubstr("chunk_size"));
    EXPECT_THAT(finding.fixes[1].code, HasSubstr("nvidia-smi"));
}

/// A list that holds 40 MiB, and a driver that refuses 512 MiB because another process uses the rest of the device.
TEST(ExplainOomOtherProcesses, AreTheCauseIfALeakIsSmallBesideThem) {
    for (const int64_t others : {30 * MiB, 100'000 * MiB}) {
        SCOPED_TRACE(others);
        FailingProgram program;
        for (int i = 0; i < 40; ++i) {
            program.run.alloc(MiB, program.run.line("collect"));
            program.run.step();
        }
        sample(program.run, 600 * MiB, others);
        program.fails(512 * MiB, program.run.line("main"), 0, others < 1024 * MiB ? 490 * MiB : MiB);
        const Explanation explanation = explained(*program.make_context());
        const Finding& failure = explanation.findings.front();
        ASSERT_EQ(failure.kind, FindingKind::out_of_memory);
        ASSERT_EQ(explanation.findings[1].severity, Severity::leak);
        const bool is_alone = others < 1024 * MiB;
        EXPECT_EQ(text_of(failure).find("A leak of 40.0 MiB comes first") != std::string::npos, is_alone);
        const std::string answer = test::joined(explanation.answer);
        EXPECT_EQ(answer.find("Memory grows") != std::string::npos, is_alone) << answer;
        EXPECT_EQ(answer.find("Stop process 7") != std::string::npos, !is_alone) << answer;
    }
}

/// A model of five tensors, and a second load of them that fails at the fourth.
Finding load_again(int64_t third_size) {
    FailingProgram program;
    const std::string module = packages + "torch/nn/modules/module.py";
    const StackId first = program.stack({{module, "Module._apply"}, {module, "Module.to"}, {own, "build"}});
    const StackId again = program.stack({{module, "Module._apply"}, {module, "Module.to"}, {own, "reload"}});
    for (const int64_t size : {200, 120, 180, 140, 160}) {
        program.run.alloc(static_cast<uint64_t>(size * MiB), first);
    }
    program.run.free(program.run.alloc(MiB, program.run.line("train")));
    for (const int64_t size : {int64_t{200}, int64_t{120}, third_size}) {
        program.run.alloc(static_cast<uint64_t>(size * MiB), again);
    }
    program.fails(140 * MiB, again);
    return program.finding();
}

TEST(ExplainOomSecondCopy, ComparesTheLoads) {
    const Finding finding = load_again(180);
    EXPECT_THAT(text_of(finding), HasSubstr("3 tensors so far have the sizes of those that"));
    EXPECT_THAT(text_of(finding), HasSubstr("build loaded before"));
    const Fix* fix = fix_with(finding, "del model");
    ASSERT_NE(fix, nullptr);
    EXPECT_EQ(fix->bytes, 800 * MiB);
}

TEST(ExplainOomSecondCopy, IsNoCopyWithOtherSizes) {
    const Finding finding = load_again(170);
    EXPECT_EQ(fix_with(finding, "del model"), nullptr);
    EXPECT_THAT(text_of(finding), HasSubstr("The program was loading a model: 490 MiB of it are on the GPU."));
}

/// A second attempt that fails while 600 MiB of the first exist.
Finding retry(PathLinkKind kind) {
    ScannedProgram program;
    const AllocationIndex first = program.run.alloc(600 * MiB, program.run.line("forward"));
    program.fails(700 * MiB, program.run.line("forward"));
    program.fails(500 * MiB, program.run.line("forward"));
    program.scan();
    program.retained(first, kind, "features", "forward", "0");
    return program.scanned_finding();
}

TEST(ExplainOomHandledException, RetainsTheMemoryOfTheFirstAttempt) {
    const Finding finding = retry(PathLinkKind::exception);
    const Fix* fix = fix_with(finding, "except torch.OutOfMemoryError:\n    fits = False\nif not fits:");
    ASSERT_NE(fix, nullptr) << text_of(finding);
    EXPECT_EQ(fix->bytes, 600 * MiB);
    EXPECT_THAT(fix->text, HasSubstr("The request would then have fit."));
    EXPECT_THAT(finding.referrer, HasSubstr("exception `features`"));
    EXPECT_THAT(text_of(finding), HasSubstr("600 MiB: `features`"));
}

/// An attempt at line 20 of rollout() that fails, whose exception retains 600 MiB, and a request at another line.
/// `outermost`: the function that the second request's thread runs.
Finding second_attempt(int32_t line, const std::string& outermost) {
    ScannedProgram program;
    StackTable& stacks = program.run.trace.stacks;
    const auto at = [&](int32_t line_of_call, const std::string& thread) {
        const auto frame = [&](const std::string& function, int32_t number) {
            return stacks.intern(Frame{stacks.intern(function), stacks.intern(own), number});
        };
        return stacks.intern_stack(std::array{frame("rollout", line_of_call), frame(thread, 5)});
    };
    const AllocationIndex first = program.run.alloc(600 * MiB, at(20, "work"));
    program.fails(700 * MiB, at(20, "work"));
    program.fails(500 * MiB, at(line, outermost));
    program.scan();
    program.retained(first, PathLinkKind::exception, "levels", "rollout", "0");
    program.graph.tables.referrers.back().links.front().line = 20;
    return program.scanned_finding();
}

TEST(ExplainOomHandledException, HasAnExceptBlockAfterTheAttempt) {
    EXPECT_NE(fix_with(second_attempt(25, "work"), "fits = False"), nullptr);
    EXPECT_EQ(fix_with(second_attempt(20, "work"), "fits = False"), nullptr) << "the same line in another thread";
    EXPECT_EQ(fix_with(second_attempt(15, "work"), "fits = False"), nullptr) << "an except block follows its try";
    EXPECT_NE(fix_with(second_attempt(15, "main"), "fits = False"), nullptr) << "a thread may raise it again";
}

TEST(ExplainOomHandledException, IsNoneIfAVariableRetainsIt) {
    const Finding finding = retry(PathLinkKind::local);
    EXPECT_EQ(fix_with(finding, "fits = False"), nullptr);
    EXPECT_THAT(text_of(finding), HasSubstr("Of the memory in use, 600 MiB are retained by list `features`"));
    EXPECT_THAT(finding.referrer, HasSubstr("list `features` (variable of forward"));
}

TEST(ExplainOomReferrer, MayBeStoredExceptions) {
    ScannedProgram program;
    const AllocationIndex first = program.run.alloc(600 * MiB, program.run.line("forward"));
    program.fails(500 * MiB, program.run.line("forward"));
    program.scan();
    program.retained(first, PathLinkKind::local, "failures", "evaluate", "0");
    std::vector<PathLink>& links = program.graph.tables.referrers.back().links;
    links.push_back({PathLinkKind::exception, program.graph.text("x"), program.graph.text("forward"), 0, 3});
    const Finding finding = program.scanned_finding();
    const Fix* fix = fix_with(finding, "failed.append(str(error))");
    ASSERT_NE(fix, nullptr) << text_of(finding);
    EXPECT_EQ(fix->bytes, 600 * MiB);
}

TEST(ExplainOomReferrer, IsTheVariableOfTheOutermostFunction) {
    ScannedProgram program;
    const StackId stack = program.stack({{own, "concat"}, {own, "evaluate"}});
    const AllocationIndex earlier = program.run.alloc(100 * MiB, stack);
    program.scan();
    program.retained(earlier, PathLinkKind::local, "predictions", "evaluate", "0");
    const AllocationIndex later = program.run.alloc(200 * MiB, stack), newest = program.run.alloc(200 * MiB, stack);
    program.run.free(earlier);
    program.fails(700 * MiB, stack);
    program.scan();
    program.retained(later, PathLinkKind::local, "tensors", "concat", "0");
    EXPECT_FALSE(newest == later);
    const Finding finding = program.scanned_finding();
    EXPECT_THAT(finding.referrer, HasSubstr("list `predictions` (variable of evaluate"));
    EXPECT_THAT(text_of(finding), HasSubstr("400 MiB are retained by list `predictions`")) << "also the newest";
}

TEST(ExplainOomReferrer, MayRetainTheLastIteration) {
    ScannedProgram program;
    const StackId forward = program.run.line("forward");
    AllocationIndex output = no_allocation;
    for (int i = 0; i < 5; ++i) {
        if (output != no_allocation) {
            program.run.free(output);
        }
        output = program.run.alloc(300 * MiB, forward);
        program.run.step();
    }
    program.fails(800 * MiB, forward);
    program.scan();
    program.retained(output, PathLinkKind::local, "output", "forward");
    const Finding finding = program.scanned_finding();
    EXPECT_THAT(text_of(finding), HasSubstr("300 MiB of the last iteration are still retained by `output`"));
    const Fix* fix = fix_with(finding, "del output");
    ASSERT_NE(fix, nullptr);
    EXPECT_THAT(fix->text, HasSubstr("The request would then have fit."));
}

TEST(ExplainOomReferrer, IsNoTensorOfAFunctionThatHasReturned) {
    for (const char* function : {"forward", "encode"}) {
        ScannedProgram program;
        const AllocationIndex tensor = program.run.alloc(600 * MiB, program.run.line("encode"));
        program.scan();
        program.retained(tensor, PathLinkKind::local, "features", function);
        program.fails(700 * MiB, program.run.line("forward"));
        EXPECT_EQ(program.scanned_finding().referrer.empty(), std::string(function) == "encode");
    }
}

/// Returns the findings of a run with two errors before, and `after` steps after them.
Findings search_for_a_batch(int after, const std::string& exception = "") {
    FailingProgram program;
    if (!exception.empty()) {
        program.run.trace.processes[0].how_ended = {ProcessEnd::exception, exception};
    }
    const StackId forward = program.run.line("forward");
    program.run.free(program.run.alloc(600 * MiB, forward));
    program.fails(2000 * MiB, forward);
    program.fails(1500 * MiB, forward);
    for (int i = 0; i < after; ++i) {
        program.run.free(program.run.alloc(600 * MiB, forward));
        program.run.step();
    }
    return program.diagnose(diagnoses::out_of_memory);
}

TEST(ExplainOomCaught, IsNoFailureIfTheWorkGoesOn) {
    const Findings findings = search_for_a_batch(8);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].title, "2 out-of-memory errors were caught; the run went on");
    EXPECT_EQ(findings[0].bytes, 2000 * MiB);
    EXPECT_THAT(text_of(findings[0]), HasSubstr("7 steps followed")) << "the first has the errors";
}

TEST(ExplainOomCaught, TellsWhetherTheWorkWasRepeated) {
    EXPECT_THAT(text_of(search_for_a_batch(8).at(0)), HasSubstr("After 2 of these errors"));
    FailingProgram program;
    const StackId forward = program.run.line("forward");
    program.fails(600 * MiB, forward);
    for (int i = 0; i < 8; ++i) {
        program.run.free(program.run.alloc(600 * MiB, forward));
        program.run.step();
    }
    const Finding finding = program.finding();
    EXPECT_THAT(text_of(finding), HasSubstr("were as large, and were served"));
    EXPECT_EQ(finding.fixes.size(), 1u);
}

TEST(ExplainOomCaught, IsAFailureIfItEndsTheRun) {
    EXPECT_EQ(search_for_a_batch(1).at(0).severity, Severity::failure);
    EXPECT_EQ(search_for_a_batch(8, "OutOfMemoryError: CUDA out of memory").at(0).severity, Severity::failure);
    EXPECT_EQ(search_for_a_batch(8, "KeyError: 3").at(0).severity, Severity::pattern);
}

TEST(ExplainOomCaught, DoesNotCountWorkspacesThatCudnnDidWithout) {
    FailingProgram program;
    program.fails(900 * MiB, program.run.line("forward"), program.op("aten::conv2d"));
    for (int i = 0; i < 8; ++i) {
        program.run.free(program.run.alloc(600 * MiB, program.run.line("forward")));
        program.run.step();
    }
    EXPECT_TRUE(program.diagnose(diagnoses::out_of_memory).empty());
}

TEST(ExplainOomInput, ComparesTheRequestIfTheIterationHadSeveralInputs) {
    FailingProgram program;
    const StackId embed = program.run.line("embed"), project = program.run.line("project");
    const StackId attend = program.run.line("attend");
    const auto pass = [&](int64_t length) {
        for (const StackId line : {embed, project}) {
            program.run.free(program.run.alloc(static_cast<uint64_t>(length * MiB), line));
        }
    };
    for (int i = 0; i < 4; ++i) {
        pass(8);
        program.run.free(program.run.alloc(60 * MiB, attend));
        program.run.step();
    }
    pass(4);
    program.fails(1200 * MiB, attend);
    const Finding finding = program.finding();
    EXPECT_THAT(text_of(finding), HasSubstr("20 times as large as the largest that the same line made before"));
    EXPECT_THAT(text_of(finding), Not(HasSubstr("0.5 times as large")));
    EXPECT_THAT(finding.fixes.at(0).text, HasSubstr("cropped or split"));
}

/// A copy of 800 MiB fails after an operation whose result has this size.
Finding upcast(int64_t original, const std::string& op) {
    FailingProgram program;
    program.run.alloc(static_cast<uint64_t>(original * MiB), program.run.line("head"), program.op(op));
    program.fails(800 * MiB, program.run.line("loss"), program.op("aten::to"));
    return program.finding();
}

TEST(ExplainOomUpcast, RecommendsParts) {
    const Finding finding = upcast(400, "aten::linear");
    const Fix* fix = fix_with(finding, "part.float()");
    ASSERT_NE(fix, nullptr) << text_of(finding);
    EXPECT_EQ(fix->bytes, 700 * MiB);
    EXPECT_THAT(fix->text, HasSubstr("The request would then have fit."));
    EXPECT_THAT(text_of(finding), HasSubstr("800 MiB for a tensor of 400 MiB from train.py:10 head"));
}

TEST(ExplainOomUpcast, NeedsAResultOfHalfTheSize) {
    EXPECT_EQ(fix_with(upcast(300, "aten::linear"), "part.float()"), nullptr);
    EXPECT_EQ(fix_with(upcast(400, "aten::to"), "part.float()"), nullptr) << "both may come from the host";
}

TEST(ExplainOomSecondCopy, NamesTheVariableOfACheckpoint) {
    ScannedProgram program;
    for (const int64_t size : {200, 150, 100}) {
        program.labeled(size * MiB, "build", Category::parameter);
    }
    const StackId load = program.stack({{packages + "torch/serialization.py", "load"}, {own, "rewind"}});
    program.run.trace.source_text.add(own, 20, "        snapshot = torch.load(self.path)");
    for (const int64_t size : {200, 150, 100}) {
        program.run.alloc(static_cast<uint64_t>(size * MiB), load);
    }
    program.fails(200 * MiB, load);
    const Finding finding = program.scanned_finding();
    EXPECT_THAT(text_of(finding), HasSubstr("It is a second copy"));
    EXPECT_THAT(finding.referrer, HasSubstr("`snapshot` (train.py:20 rewind)"));
    const Fix* fix = fix_with(finding, "map_location=\"cpu\"");
    ASSERT_NE(fix, nullptr);
    EXPECT_EQ(fix->bytes, 450 * MiB);
}

TEST(ExplainOomUnusedGraph, RecommendsNothingForAGeneratorExpression) {
    Evaluation program("learn.<locals>.<genexpr>");
    EXPECT_EQ(fix_with(program.diagnose(diagnoses::out_of_memory).at(0), "<genexpr>"), nullptr);
}

TEST(ExplainOomWorkspaces, MentionsThoseThatCudnnDidWithout) {
    FailingProgram program;
    const uint32_t convolution = program.op("aten::conv2d");
    program.run.alloc(900 * MiB, program.run.line("main"));
    program.fails(700 * MiB, program.run.line("forward"), convolution);
    program.fails(600 * MiB, program.run.line("forward"), convolution);
    program.fails(200 * MiB, program.run.line("forward"), program.op("aten::group_norm"));
    EXPECT_THAT(text_of(program.finding()), HasSubstr("2 workspaces of convolutions of up to 700 MiB were refused"));
}

TEST(ExplainOomRequest, NamesOperationPhaseAndSteps) {
    FailingProgram program;
    const uint32_t origin = program.op("aten::mul", Phase::backward);
    program.run.trace.origins[origin].module = "net.0";
    for (int i = 0; i < 3; ++i) {
        program.run.free(program.run.alloc(MiB, program.run.line("main")));
        program.run.step();
    }
    program.fails(MiB, program.run.line("main"), origin);
    EXPECT_THAT(
        text_of(program.finding()),
        HasSubstr("The request came from aten::mul of module `net.0` in a backward pass. 3 steps were complete."));
}

StackId evaluation_of_trainer(StackTable& stacks) {
    return stack_of(stacks, {{packages + "transformers/trainer_pt_utils.py", "nested_concat"},
                             {packages + "transformers/trainer.py", "Trainer.evaluation_loop"},
                             {own, "main"}});
}

TEST(ExplainOomLibrary, NamesTheOptionOfTheTrainerWithoutAGraph) {
    RunBuilder run;
    run.segment(1 << 30);
    const StackId gather = evaluation_of_trainer(run.trace.stacks);
    run.alloc(500 * MiB, gather);
    run.out_of_memory(600 * MiB, 0, gather);
    Findings findings;
    Progress progress;
    diagnoses::out_of_memory.run(*run.make_context(), {}, Words(Language::english), findings, progress);
    const Fix* fix = fix_with(findings.at(0), "eval_accumulation_steps=1");
    ASSERT_NE(fix, nullptr);
    EXPECT_EQ(fix->bytes, 500 * MiB);
}

TEST(ExplainOomFixes, AreRankedByFitAndBytes) {
    const std::vector<Fix> fixes = ranked({{{"unknown", "", {}, {}}, false},
                                           {{"large", "", 300, {}}, false},
                                           {{"setting", "", {}, {}}, true},
                                           {{"small", "", 100, {}}, true}});
    std::vector<std::string> order;
    for (const Fix& fix : fixes) {
        order.push_back(fix.text);
    }
    EXPECT_THAT(order, testing::ElementsAre("small", "setting", "large", "unknown"));
}

TEST(ExplainOomFixes, NameTheProgramsMistakeBeforeOthersAndTheLimit) {
    const OomFix limit{{"limit", "", 900, {}}, true, OomLever::limit};
    const OomFix others{{"others", "", 800, {}}, true, OomLever::processes};
    const auto order = [&](const std::vector<OomFix>& fixes) {
        std::vector<std::string> texts;
        for (const Fix& fix : ranked(fixes)) {
            texts.push_back(fix.text);
        }
        return texts;
    };
    const OomFix mistake{{"mistake", "", 300, {}}, true},
        smaller{{"smaller batch", "", 200, {}}, true, OomLever::demand};
    EXPECT_THAT(order({limit, others, mistake}), testing::ElementsAre("mistake", "others", "limit"));
    EXPECT_THAT(order({limit, others, smaller}), testing::ElementsAre("others", "smaller batch", "limit"));
    EXPECT_THAT(order({limit, {{"unknown", "", {}, {}}, false}}), testing::ElementsAre("unknown", "limit"));
    EXPECT_THAT(order({others, {{"too little", "", 300, {}}, false}}), testing::ElementsAre("others", "too little"));
}

/// Returns a program that fails for 64 MiB, while 190 MiB are free beside ten small tensors: in ten segments, or in one
/// with the model.
FailingProgram gaps_beside_tensors(bool in_own_segments) {
    FailingProgram program;
    program.run.alloc(in_own_segments ? 1024 * MiB : 824 * MiB, program.run.line("model"));
    std::vector<AllocationIndex> clips;
    for (int i = 0; i < 10; ++i) {
        const uint32_t segment = in_own_segments ? program.run.segment(20 * MiB) : 0;
        program.run.alloc(MiB, program.run.line("describe"), 0, segment);
        clips.push_back(program.run.alloc(19 * MiB, program.run.line("load"), 0, segment));
    }
    for (const AllocationIndex clip : clips) {
        program.run.free(clip);
    }
    program.fails(64 * MiB, program.run.line("train"));
    return program;
}

TEST(ExplainOutOfMemory, AdvisesFirstToMoveTheTensorsBesideTheGaps) {
    const Finding finding = gaps_beside_tensors(true).finding();
    EXPECT_THAT(text_of(finding), testing::HasSubstr("190 MiB were free in gaps too small for the request."));
    EXPECT_THAT(text_of(finding), testing::HasSubstr("190 MiB lie beside 10 tensors from train.py:10 describe."));
    EXPECT_THAT(finding.fixes.at(0).text, testing::HasSubstr("copy what stays into one tensor"));
    EXPECT_THAT(finding.fixes[0].text, testing::HasSubstr("would then have fit"));
    EXPECT_EQ(finding.fixes[0].bytes, 190 * MiB);
}

TEST(ExplainOutOfMemory, PromisesNoRoomInSegmentsThatContainOtherTensors) {
    const Finding finding = gaps_beside_tensors(false).finding();
    EXPECT_THAT(text_of(finding), testing::HasSubstr("190 MiB lie beside 10 tensors"));
    for (const Fix& fix : finding.fixes) {
        if (fix.text.find("copy what stays") != std::string::npos) {
            EXPECT_EQ(fix.text.find("would then have fit"), std::string::npos);
        }
    }
}

TEST(ExplainExperiments, OmitASettingThatIsOn) {
    const auto trace = open_snapshot("varlen_expandable");
    const AnalysisContext context(std::make_shared<const Analysis>(trace, trace->main_device()), nullptr);
    Progress progress;
    const Experiments experiments = try_settings(context, Words(Language::english), std::nullopt, progress);
    for (const Experiment& experiment : experiments.tried) {
        EXPECT_EQ(experiment.text.find("expandable"), std::string::npos);
    }
    EXPECT_FALSE(try_expandable(context, Words(Language::english), progress).was_tried);
}

TEST(ExplainExperiments, EstimateThePeakIfABlockLiesElsewhere) {
    auto trace = std::make_shared<Trace>(*open_snapshot("s3_varlen"));
    Allocations& all = trace->devices.front().allocations;
    all.address[all.size() - 1] += 512;
    const AnalysisContext context(std::make_shared<const Analysis>(trace, trace->main_device()), nullptr);
    Progress progress;
    const Words words(Language::english);
    EXPECT_FALSE(try_settings(context, words, std::nullopt, progress).was_tried) << "whether a request fits is unknown";
    const Experiments peak = try_expandable(context, words, progress);
    EXPECT_TRUE(peak.was_tried) << peak.why_not;
    EXPECT_THAT(peak.estimate, HasSubstr("is an estimate"));
}

}  // namespace
}  // namespace tidemark::test
