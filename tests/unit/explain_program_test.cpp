// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Diagnoses of the program's own behavior: variables, graphs, operations.
#include <gtest/gtest.h>

#include <algorithm>

#include "storage/explain/composition.h"
#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::MiB;
using test::Program;
using test::RunBuilder;
using test::Training;

Program retaining(const std::string& op) {
    Program program;
    const uint32_t origin = program.run.origin(op);
    program.run.trace.origins.back().phase = Phase::backward;
    const AllocationIndex x = program.labeled(4 * MiB, "main", Category::input);
    const NodeIndex leaf = program.node("AccumulateGrad", {}, {}, x, "");
    const AllocationIndex y = program.run.alloc(4 * MiB, program.run.line("multiply"));
    const NodeIndex mul = program.node("MulBackward0", {leaf}, {}, y, "multiply");
    const AllocationIndex gradient = program.run.alloc(4 * MiB, program.run.line("main"), origin);
    program.graph.label(Program::memory(gradient), program.run.now(), Category::gradient);
    program.runs(mul);
    return program;
}

TEST(ExplainRetainGrad, ReportsClonesOfResults) {
    const Findings findings = retaining("MulBackward0 > aten::clone").diagnose(diagnoses::retain_grad);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 4 * MiB);
    EXPECT_EQ(findings[0].line, "train.py:10 multiply");
}

TEST(ExplainRetainGrad, IgnoresGradientsOfLeaves) {
    EXPECT_TRUE(retaining("MulBackward0 > aten::mul").diagnose(diagnoses::retain_grad).empty());
    EXPECT_TRUE(retaining("torch::autograd::AccumulateGrad > aten::clone").diagnose(diagnoses::retain_grad).empty());
}

/// Returns a run of a line whose result is freed after the next one was allocated, or before.
/// `input`: bytes that each iteration allocates before it.
Program local_of_iterations(bool is_late, bool is_saved = false, const std::string& op = "aten::linear",
                            int64_t input = 0) {
    Program program;
    const uint32_t origin = program.run.origin(op);
    AllocationIndex last = no_allocation;
    for (int i = 0; i < 8; ++i) {
        const AllocationIndex batch =
            input == 0 ? no_allocation : program.run.alloc(static_cast<uint64_t>(input), program.run.line("load"));
        if (!is_late && last != no_allocation) {
            program.run.free(last);
        }
        const AllocationIndex made = program.run.alloc(16 * MiB, program.run.line("decode"), origin);
        if (is_saved) {
            program.node("MulBackward0", {}, {made}, made, "decode");
        }
        if (is_late && last != no_allocation) {
            program.run.free(last);
        }
        last = made;
        program.run.free(program.run.alloc(512, program.run.line("norm")));
        if (batch != no_allocation) {
            program.run.free(batch);
        }
        program.run.step();
    }
    return program;
}

TEST(ExplainStaleLocal, ReportsAResultThatExistsWithItsSuccessor) {
    const Findings findings = local_of_iterations(true).diagnose(diagnoses::stale_local);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 16 * MiB);
    EXPECT_EQ(findings[0].fixes[0].bytes, 16 * MiB - 512);  // the memory of `norm` exists at that time
}

TEST(ExplainStaleLocal, ReportsNothingIfItIsFreedOrNeeded) {
    EXPECT_TRUE(local_of_iterations(false).diagnose(diagnoses::stale_local).empty());
    EXPECT_TRUE(local_of_iterations(true, true).diagnose(diagnoses::stale_local).empty());
    EXPECT_TRUE(local_of_iterations(true, false, "aten::mul").diagnose(diagnoses::stale_local).empty());  // x = x * 2
}

TEST(ExplainStaleLocal, KnowsABufferThatIsJoinedFromItself) {
    const auto joined = [](int64_t input) {
        return local_of_iterations(true, false, "aten::cat", input).diagnose(diagnoses::stale_local);
    };
    EXPECT_TRUE(joined(MiB).empty()) << "bank = torch.cat([bank, new])[-n:]";
    EXPECT_EQ(joined(16 * MiB).size(), 1u) << "what the iteration made is enough for its result";
}

/// Returns a run of iterations that leave `layers` results of one line, which the next iteration replaces one by one.
Program results_of_layers(int layers, Category category = Category::output, const std::string& op = "aten::softmax",
                          int64_t other = 0, bool are_modules = true) {
    Program program;
    std::vector<uint32_t> origins;
    for (int layer = 0; layer < layers; ++layer) {
        origins.push_back(program.run.origin(op));
        program.run.trace.origins.back().module = are_modules ? "GPT.layers." + std::to_string(layer) : "GPT.head";
    }
    std::vector<AllocationIndex> last(static_cast<size_t>(layers), no_allocation);
    for (int i = 0; i < 8; ++i) {
        const AllocationIndex batch = program.run.alloc(static_cast<uint64_t>(MiB + other), program.run.line("load"));
        for (AllocationIndex& layer : last) {
            const uint32_t origin = origins[static_cast<size_t>(&layer - last.data())];
            const AllocationIndex made = program.run.alloc(4 * MiB, program.run.line("attend"), origin);
            program.graph.label(Program::memory(made), program.run.now(), category);
            if (layer != no_allocation) {
                program.run.free(layer);
            }
            layer = made;
        }
        program.run.free(batch);
        program.run.step();
    }
    program.add_referrer(last.front(), "attention");
    return program;
}

TEST(ExplainRetainedResults, OfSeveralLayersStayUntilTheNextIteration) {
    const Findings findings = results_of_layers(5).diagnose(diagnoses::retained_results);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 20 * MiB);
    EXPECT_EQ(findings[0].count, 5);
    EXPECT_EQ(findings[0].line, "train.py:10 attend");
    EXPECT_NE(findings[0].referrer.find("attention"), std::string::npos) << findings[0].referrer;
    EXPECT_EQ(findings[0].fixes[0].bytes, 16 * MiB) << "one is needed while it is made";
}

TEST(ExplainRetainedResults, ReportsNothingThatIsNeededOrSmall) {
    const auto found = [](Program program) { return program.diagnose(diagnoses::retained_results).size(); };
    EXPECT_EQ(found(results_of_layers(2)), 0u);
    EXPECT_EQ(found(results_of_layers(5, Category::optimizer_state)), 0u);
    EXPECT_EQ(found(results_of_layers(5, Category::output, "aten::cat")), 0u) << "cache = torch.cat([cache, new])";
    EXPECT_EQ(found(results_of_layers(5, Category::output, "aten::softmax", 200 * MiB)), 0u);
    EXPECT_EQ(found(results_of_layers(5, Category::output, "aten::softmax", 0, false)), 0u) << "parts of a batch";
}

/// Returns a run with a tensor from before its iterations, of this category, freed early or never.
Program with_table(Category category, bool stays, int64_t bytes = 64 * MiB) {
    Program program;
    const AllocationIndex table = program.labeled(bytes, "load", category);
    for (int i = 0; i < 8; ++i) {
        const AllocationIndex weights = program.labeled(32 * MiB, "train", Category::input);
        if (i == 4 && !stays) {
            program.run.free(table);
        }
        program.run.free(weights);
        program.run.step();
    }
    program.add_referrer(table, "adjacency");
    return program;
}

TEST(ExplainResidentData, NamesTheLineAndTheVariable) {
    const Findings findings = with_table(Category::input, true).diagnose(diagnoses::resident_data);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 64 * MiB);
    EXPECT_EQ(findings[0].line, "train.py:10 load");
    EXPECT_NE(findings[0].referrer.find("adjacency"), std::string::npos) << findings[0].referrer;
    EXPECT_EQ(findings[0].fixes.at(0).code, "adjacency = adjacency.cpu()");
}

TEST(ExplainResidentData, IsNotCalledNeededBecauseNothingShowsWhetherItIs) {
    const std::string answer = test::joined(explained(*with_table(Category::input, true).make_context()).answer);
    EXPECT_NE(answer.find("Check whether the work needs this: 64.0 MiB of train.py:10 load stay"), std::string::npos)
        << answer;
    EXPECT_EQ(answer.find("No fix is needed"), std::string::npos) << answer;
}

TEST(ExplainResidentData, NamesTheElementOfOneTensorAndMovesIt) {
    Program program = with_table(Category::input, true);
    program.graph.tables.referrers.clear();
    program.add_referrer(0, "graphs", "3");
    const Findings findings = program.diagnose(diagnoses::resident_data);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_NE(findings[0].referrer.find("list `graphs`"), std::string::npos) << findings[0].referrer;
    EXPECT_NE(findings[0].referrer.find("element 3"), std::string::npos) << findings[0].referrer;
    EXPECT_EQ(findings[0].fixes.at(0).code, "graphs[3] = graphs[3].cpu()");
}

TEST(ExplainResidentData, IsNoModelAndNotFreed) {
    EXPECT_TRUE(with_table(Category::parameter, true).diagnose(diagnoses::resident_data).empty());
    EXPECT_TRUE(with_table(Category::input, false).diagnose(diagnoses::resident_data).empty());
    EXPECT_TRUE(with_table(Category::input, true, MiB).diagnose(diagnoses::resident_data).empty());
}

TEST(ExplainStaleLocal, OfASmallPartOfThePeakIsAPattern) {
    const Findings findings =
        local_of_iterations(true, false, "aten::linear", 160 * MiB).diagnose(diagnoses::stale_local);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
}

/// Returns a run in which objects of 2 MiB accumulate and are freed together, four at a time; two remain.
Program garbage_collected(bool by_collection) {
    Program program;
    for (int collection = 0; collection < 3; ++collection) {
        std::vector<AllocationIndex> dead;
        for (int i = 0; i < 4; ++i) {
            dead.push_back(program.run.alloc(2 * MiB, program.run.line("play")));
        }
        const int64_t start = program.run.now() + 1;
        for (const AllocationIndex a : dead) {
            program.run.free(a);
        }
        program.run.trace.annotations.push_back(
            {by_collection ? "garbage collection (40 objects)" : "clear",
             by_collection ? AnnotationKind::garbage_collection : AnnotationKind::user, 0, start, program.run.now(),
             true});
    }
    program.run.alloc(2 * MiB, program.run.line("play"));
    program.run.alloc(2 * MiB, program.run.line("play"));
    return program;
}

TEST(ExplainCycles, ReportsMemoryFreedByGarbageCollections) {
    const Findings findings = garbage_collected(true).diagnose(diagnoses::garbage_cycles);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 4 * MiB);
    EXPECT_EQ(findings[0].count, 2);
    EXPECT_NE(findings[0].title.find("8.00 MiB"), std::string::npos);
}

TEST(ExplainCycles, IgnoresMemoryFreedOtherwise) {
    EXPECT_TRUE(garbage_collected(false).diagnose(diagnoses::garbage_cycles).empty());
}

Program two_types(bool saves_source) {
    Program program;
    const AllocationIndex x = program.run.alloc(8 * MiB, program.run.line("block"));
    const NodeIndex add = program.node("AddBackward0", {}, {}, x, "block");
    const AllocationIndex half = program.run.alloc(4 * MiB, program.run.line("linear"));
    const NodeIndex cast = program.node("ToCopyBackward0", {add}, {}, half, "linear");
    const AllocationIndex y = program.run.alloc(4 * MiB, program.run.line("linear"));
    program.node("AddmmBackward0", {cast}, {half}, y, "linear");
    if (saves_source) {
        const AllocationIndex square = program.run.alloc(512, program.run.line("norm"));
        program.node("PowBackward0", {add}, {x}, square, "norm");
    }
    program.run.alloc(512, program.run.line("loss"));
    return program;
}

TEST(ExplainSavedInTwoDtypes, FindsTheCastBetweenTheTensors) {
    const Findings findings = two_types(true).diagnose(diagnoses::saved_in_two_dtypes);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 4 * MiB);
    EXPECT_NE(findings[0].text[0].find("PowBackward0"), std::string::npos);
}

TEST(ExplainSavedInTwoDtypes, ReportsNothingIfOnlyOneIsSaved) {
    EXPECT_TRUE(two_types(false).diagnose(diagnoses::saved_in_two_dtypes).empty());
}

/// A result of 64 MiB, allocated when the largest tensor had `operand` bytes.
Program result_of(const std::string& op, int64_t operand) {
    Program program;
    const uint32_t origin = program.run.origin(op);
    program.labeled(operand, "main", Category::input);
    program.run.alloc(64 * MiB, program.run.line("expand"), origin);
    return program;
}

TEST(ExplainBroadcast, ReportsACopyFromAResult) {
    const Findings copy = result_of("aten::contiguous", 1 * MiB).diagnose(diagnoses::broadcast_materialized);
    ASSERT_EQ(copy.size(), 1u);
    EXPECT_EQ(copy[0].severity, Severity::waste);
    EXPECT_EQ(copy[0].bytes, 64 * MiB);
    EXPECT_EQ(copy[0].confidence, Confidence::certain);
    const Findings sum = result_of("aten::add", 1 * MiB).diagnose(diagnoses::broadcast_materialized);
    ASSERT_EQ(sum.size(), 1u);
    EXPECT_EQ(sum[0].severity, Severity::pattern);
}

TEST(ExplainBroadcast, ReportsNothingIfAnOperandIsLargeEnough) {
    EXPECT_TRUE(result_of("aten::contiguous", 64 * MiB).diagnose(diagnoses::broadcast_materialized).empty());
    EXPECT_TRUE(result_of("aten::add", 8 * MiB).diagnose(diagnoses::broadcast_materialized).empty());
    EXPECT_TRUE(result_of("aten::randn", 1 * MiB).diagnose(diagnoses::broadcast_materialized).empty());
}

/// z = 2 * (x * x), backward once or twice.
Program second_backward(bool is_tried) {
    Program program;
    const AllocationIndex x = program.labeled(4 * MiB, "main", Category::input);
    const AllocationIndex square = program.run.alloc(4 * MiB, program.run.line("square"));
    const NodeIndex inner = program.node("MulBackward0", {}, {x}, square, "square");
    const AllocationIndex z = program.run.alloc(512, program.run.line("sum"));
    const NodeIndex root = program.node("SumBackward0", {inner}, {}, z, "sum");
    program.add_referrer(z, "z");
    program.runs(root);
    program.run.free(square);
    program.runs(inner);
    program.run.alloc(4 * MiB, program.run.line("gradient"), program.backward);
    if (is_tried) {
        program.graph.tables.nodes.executed[root] = program.run.now();
    }
    program.run.alloc(512, program.run.line("after"));
    return program;
}

TEST(ExplainReleasedGraph, ReportsTheNodeWithoutSavedTensors) {
    const Findings findings = second_backward(true).diagnose(diagnoses::released_graph);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 4 * MiB);
    EXPECT_EQ(findings[0].count, 1);
    EXPECT_NE(findings[0].title.find("MulBackward0"), std::string::npos);
}

TEST(ExplainReleasedGraph, ReportsNothingAfterOneBackward) {
    EXPECT_TRUE(second_backward(false).diagnose(diagnoses::released_graph).empty());
}

/// Returns a run in which the backward pass of one line allocates a temporary of 16 MiB, `times` times.
Program temporaries(int times) {
    Program program;
    const uint32_t origin = program.run.origin("MeanBackward0 > aten::div");
    program.run.trace.origins.back().phase = Phase::backward;
    const AllocationIndex x = program.labeled(16 * MiB, "main", Category::input);
    program.add_referrer(x, "x");
    for (int i = 0; i < times; ++i) {
        program.run.free(program.run.alloc(16 * MiB, program.run.line("mean"), origin));
    }
    program.run.alloc(512, program.run.line("after"));
    return program;
}

TEST(ExplainOpTemporary, ListsTheMemoryAtThePeak) {
    const Findings findings = temporaries(1).diagnose(diagnoses::op_temporary);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 16 * MiB);
    EXPECT_NE(findings[0].text[0].find("the node MeanBackward0"), std::string::npos);
    EXPECT_NE(findings[0].text[2].find("16.0 MiB `x`"), std::string::npos);
}

TEST(ExplainOpTemporary, IgnoresTheUsualWorkOfALine) {
    EXPECT_TRUE(temporaries(6).diagnose(diagnoses::op_temporary).empty());
}

Program variables(int count) {
    Program program;
    for (int i = 0; i < count; ++i) {
        program.add_referrer(program.labeled(4 * MiB, "main", Category::input),
                             std::string(1, static_cast<char>('a' + i)));
    }
    return program;
}

TEST(ExplainLiveVariables, NamesTheVariables) {
    const Findings findings = variables(6).diagnose(diagnoses::live_variables);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 24 * MiB);
    EXPECT_NE(findings[0].text[0].find("`a`, `b`, `c`, `d`, `e` and `f`"), std::string::npos);
}

TEST(ExplainLiveVariables, ReportsNothingForTwoVariables) {
    EXPECT_TRUE(variables(2).diagnose(diagnoses::live_variables).empty());
}

TEST(ExplainIterations, ExcludeGarbageCollections) {
    const auto context = garbage_collected(true).make_context();
    EXPECT_NE(context->iterations().source(), IterationSource::marks);
}

/// Forward passes whose outputs are dropped, with or without a backward pass.
Program evaluations(bool is_run) {
    Program program;
    for (int i = 0; i < 6; ++i) {
        const AllocationIndex activation = program.run.alloc(8 * MiB, program.run.line("forward"));
        const NodeIndex node = program.node("MulBackward0", {}, {activation}, activation, "forward");
        if (is_run) {
            program.runs(node);
        }
        program.run.free(activation);
        program.is_destroyed(node);
        program.run.step();
    }
    program.run.alloc(512, program.run.line("after"));
    return program;
}

TEST(ExplainEvaluationGraph, ReportsGraphsWithoutABackward) {
    const Findings findings = evaluations(false).diagnose(diagnoses::eval_without_no_grad);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::eval_without_no_grad);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 8 * MiB);
    EXPECT_EQ(findings[0].count, 5);  // the last may be work in progress
}

TEST(ExplainEvaluationGraph, ReportsNothingIfABackwardRan) {
    EXPECT_TRUE(evaluations(true).diagnose(diagnoses::eval_without_no_grad).empty());
}

TEST(ExplainEvaluationGraph, ReportsNothingIfTheGraphWasFoundByAScan) {
    Program program = evaluations(false);
    auto& stacks = program.graph.tables.nodes.stack;
    std::fill(stacks.begin(), stacks.end(), 0);  // whether these were executed is unknown
    EXPECT_TRUE(program.diagnose(diagnoses::eval_without_no_grad).empty());
}

TEST(ExplainEvaluationGraph, ReportsNothingIfADerivativeWasTaken) {
    Program program;
    for (int i = 0; i < 6; ++i) {
        const AllocationIndex activation = program.run.alloc(8 * MiB, program.run.line("forward"));
        const NodeIndex output = program.node("TanhBackward0", {}, {activation}, activation, "forward");
        program.runs(output);  // by autograd.grad(create_graph=True)
        const AllocationIndex first = program.run.alloc(8 * MiB, program.run.line("forward"));
        const NodeIndex derivative = program.node("TanhBackwardBackward0", {output}, {first}, first, "forward");
        const NodeIndex residual = program.node("SubBackward0", {derivative}, {}, no_allocation, "residual");
        program.run.free(activation);
        program.run.free(first);
        for (const NodeIndex node : {output, derivative, residual}) {
            program.is_destroyed(node);
        }
        program.run.step();
    }
    program.run.alloc(512, program.run.line("after"));
    EXPECT_TRUE(program.diagnose(diagnoses::eval_without_no_grad).empty());
}

TEST(ExplainEvaluationGraph, OfDerivativesIsNotToBeComputedWithoutGradients) {
    Program program;
    for (int i = 0; i < 20; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("sample"));
        const AllocationIndex first = program.run.alloc(MiB, program.run.line("residual"));
        const NodeIndex output = program.node("TanhBackward0", {}, {}, no_allocation, "forward");
        program.runs(output);
        program.node("TanhBackwardBackward0", {output}, {first}, first, "residual");
        program.run.free(work);
        program.run.step();
    }
    const Findings findings = program.diagnose(diagnoses::growth);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::eval_without_no_grad);
    ASSERT_EQ(findings[0].fixes.size(), 1u);
    EXPECT_EQ(findings[0].fixes[0].text, "Keep only the values.");
}

TEST(ExplainComposition, AddsUp) {
    Training program;
    program.pass();
    const auto context = program.make_context();
    const EventNumber end = context->device().event_count();
    const Composition composition = composition_at(*context, end);
    EXPECT_EQ(composition.of(Category::parameter), 8 * MiB);
    EXPECT_EQ(composition.of(Category::gradient), 8 * MiB);
    EXPECT_EQ(composition.total(), context->curves().value(Series::allocated, end));
    EXPECT_EQ(composition_words(Words(Language::english), composition), "parameters 8.00 MiB and gradients 8.00 MiB");
}

/// Returns a run of steps that each return their segment to the driver, by a call from this file. `work`: the number of
/// other tensors in a step, which take 3 ms each.
RunBuilder returning(const std::string& file, int work = 0) {
    RunBuilder run;
    const StackId empty_cache = test::stack_of(
        run.trace.stacks,
        {{"/home/anna/env/lib/python3.12/site-packages/torch/cuda/memory.py", "empty_cache"}, {file, "begin"}});
    for (int i = 0; i < 12; ++i) {
        const uint32_t segment = run.segment(64 * MiB);
        run.device().segments[segment].stack = run.line("train");
        for (int j = 0; j <= work; ++j) {
            run.free(run.alloc(MiB, run.line("train"), 0, segment));
        }
        const uint64_t address = run.device().segments[segment].address;
        run.trace.driver_allocations.push_back({DriverMemoryKind::device, 0, address, 64 * MiB, run.now(),
                                                run.now() + 2 * RunBuilder::millisecond, "libc10_cuda.so", 0, true});
        run.return_segment(segment, empty_cache);
        run.step();
    }
    return run;
}

TEST(ExplainEmptyCache, IsThrashIfTheProgramCallsIt) {
    const auto findings = [](const std::string& file) {
        return test::diagnose(diagnoses::empty_cache_thrash, *returning(file).make_context()).size();
    };
    EXPECT_EQ(findings("/home/anna/project/train.py"), 1u);
    EXPECT_EQ(findings("/home/anna/env/lib/python3.12/site-packages/torch/cuda/graphs.py"), 0u);
}

TEST(ExplainEmptyCache, OncePerLongIterationIsAPattern) {
    const auto severity = [](int work) {
        const auto context = returning("/home/anna/project/train.py", work).make_context();
        return test::diagnose(diagnoses::empty_cache_thrash, *context).at(0).severity;
    };
    EXPECT_EQ(severity(0), Severity::waste);
    EXPECT_EQ(severity(200), Severity::pattern) << "2 of 600 ms";
}

/// Returns a run of 10 calls of a language model, with prompts of 1 and of 100 positions in turn. The program uses the
/// logits of one position, or of all; the model computes a loss from all of them if `has_loss`.
RunBuilder language_model(bool uses_all, bool has_loss) {
    constexpr uint64_t position = 2 << 20;
    RunBuilder run;
    run.segment(1 << 30);
    const std::string layers = "/home/anna/env/lib/python3.12/site-packages/torch/nn/modules/linear.py";
    const std::string model = "/home/anna/env/lib/python3.12/site-packages/transformers/models/llama/modeling_llama.py";
    const std::string program = "/home/anna/project/train.py";
    const StackId head = test::stack_of(
        run.trace.stacks, {{layers, "Linear.forward"}, {model, "LlamaForCausalLM.forward"}, {program, "complete"}});
    const StackId loss = test::stack_of(
        run.trace.stacks, {{model, "loss_function"}, {model, "LlamaForCausalLM.forward"}, {program, "complete"}});
    for (int i = 0; i < 10; ++i) {
        const uint64_t positions = i % 2 == 0 ? 1 : 100;
        const AllocationIndex logits = run.alloc(position * positions, head);
        if (has_loss) {
            run.free(run.alloc(position * positions, loss));
        }
        run.free(run.alloc(2 * position * (uses_all ? positions : 1), run.line("pick")));
        run.free(logits);
    }
    return run;
}

TEST(ExplainLogits, OfAllPositionsAreWasteIfTheUseHasAFixedSize) {
    const Findings findings =
        test::diagnose(diagnoses::logits_of_all_positions, *language_model(false, false).make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::logits_of_all_positions);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 99 * (2 << 20));
    EXPECT_NE(findings[0].line.find("complete"), std::string::npos) << findings[0].line;
}

TEST(ExplainLogits, AreNoWasteIfAllAreUsed) {
    for (const auto& [uses_all, has_loss] : {std::pair(true, false), std::pair(false, true)}) {
        EXPECT_TRUE(
            test::diagnose(diagnoses::logits_of_all_positions, *language_model(uses_all, has_loss).make_context())
                .empty());
    }
}

}  // namespace
}  // namespace tidemark
