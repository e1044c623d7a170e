// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Diagnoses of the program's own behavior: training steps, variables, graphs, operations.
#include <gtest/gtest.h>

#include "storage/explain/backward_passes.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "tests/unit/graph_builder.h"
#include "tests/unit/run_builder.h"

namespace tidemark {
namespace {

using test::GraphBuilder;
using test::RunBuilder;

constexpr int64_t MiB = 1 << 20;

/// A run together with its graph; memory of device 0.
struct Program {
    Program() {
        run.segment(1 << 30);
        backward = run.origin("MmBackward0 > aten::mm");
        run.trace.origins.back().phase = Phase::backward;
    }

    static AllocationRef memory(AllocationIndex a) { return {0, a}; }
    AllocationIndex labeled(int64_t bytes, const std::string& line, Category category, const std::string& name = "") {
        const AllocationIndex a = run.alloc(static_cast<uint64_t>(bytes), run.line(line));
        graph.label(memory(a), run.now(), category, name);
        return a;
    }
    NodeIndex node(const std::string& type, const std::vector<NodeIndex>& children,
                   const std::vector<AllocationIndex>& saved, AllocationIndex output, const std::string& line) {
        std::vector<AllocationRef> saved_memory;
        for (const AllocationIndex a : saved) {
            saved_memory.push_back(memory(a));
        }
        GraphBuilder::Lifetime lifetime;
        lifetime.created = run.now();
        return graph.node(type, children, saved_memory, lifetime, memory(output), run.line(line));
    }
    void runs(NodeIndex node) { graph.tables.nodes.executed[node] = graph.tables.nodes.released[node] = run.now(); }
    void is_destroyed(NodeIndex node) { graph.tables.nodes.destroyed[node] = run.now(); }
    /// Adds a referrer with this name to the last heap scan.
    void add_referrer(AllocationIndex a, const std::string& name, const std::string& element = "") {
        std::vector<PathLink> links{{PathLinkKind::global, graph.text(name), 0, graph.text("train.py"), 3}};
        if (!element.empty()) {
            links.push_back({PathLinkKind::index, graph.text(element), 0, 0, 0});
        }
        graph.tables.referrers.push_back({0, no_node, memory(a), links});
    }

    std::unique_ptr<AnalysisContext> make_context() {
        graph.tables.scans = {{run.now(), ScanReason::end, 10, 100, 20}};
        return run.make_context(std::make_shared<const GraphTables>(graph.tables));
    }
    Findings diagnose(const Diagnosis& diagnosis, const Findings& earlier = {}) {
        Findings findings;
        Progress progress;
        diagnosis.run(*make_context(), earlier, Words(Language::english), findings, progress);
        return findings;
    }

    RunBuilder run;
    GraphBuilder graph;
    uint32_t backward = 0;
};

/// One parameter of 8 MiB, activations of 4 MiB.
struct Training : Program {
    Training() {
        weight = labeled(8 * MiB, "main", Category::parameter, "weight");
        leaf = node("AccumulateGrad", {}, {}, weight, "");
    }

    void pass() {
        const AllocationIndex input = labeled(512, "batch", Category::input);
        const AllocationIndex activation = run.alloc(4 * MiB, run.line("forward"));
        const NodeIndex mm = node("MmBackward0", {leaf}, {activation, weight}, activation, "forward");
        graph.tables.saved.version.back() = version;
        const AllocationIndex loss = run.alloc(512, run.line("loss"));
        const NodeIndex root = node("SumBackward0", {mm}, {}, loss, "loss");
        if (zero_before_backward) {
            zero_grad();
        }
        runs(root);
        accumulate();
        runs(mm);
        for (const AllocationIndex a : {activation, loss, input}) {
            run.free(a);
        }
        is_destroyed(mm);
        is_destroyed(root);
    }
    void update() {
        ++version;
        run.step();
    }
    void zero_grad() {
        if (gradient != no_allocation) {
            run.free(gradient);
        }
        gradient = no_allocation;
    }

    AllocationIndex weight = 0, gradient = no_allocation;
    NodeIndex leaf = 0;
    uint16_t version = 0;
    bool zero_before_backward = false;

private:
    void accumulate() {
        const AllocationIndex made = run.alloc(8 * MiB, run.line("forward"), backward);
        if (gradient == no_allocation) {
            gradient = made;
            graph.label(memory(made), run.now(), Category::gradient, "weight");
        } else {
            run.free(made);
        }
    }
};

TEST(ExplainPasses, AreFoundByTheirRoots) {
    Training program;
    for (int i = 0; i < 6; ++i) {
        program.pass();
        program.update();
        program.zero_grad();
    }
    const auto context = program.make_context();
    const std::vector<BackwardPassGroup> groups = find_backward_passes(*context);
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].passes.size(), 6u);
    EXPECT_EQ(groups[0].gradients.size(), 6u);
    EXPECT_EQ(groups[0].gradients[2].first, 2u);
    EXPECT_EQ(groups[0].gradients[2].passes(), 1u);
    EXPECT_EQ(passes_per_update(*context, groups[0]), 1u);
    EXPECT_EQ(activation_bytes(*context, groups[0].passes[1]), 4 * MiB + 512);
}

TEST(ExplainOptimizerState, IsAllocatedAtTheFirstStep) {
    Training program;
    for (int i = 0; i < 8; ++i) {
        program.pass();
        if (i == 0) {
            program.labeled(8 * MiB, "step", Category::optimizer_state, "exp_avg of weight");
            program.labeled(8 * MiB, "step", Category::optimizer_state, "exp_avg_sq of weight");
        }
        program.update();
        program.zero_grad();
    }
    const Findings findings = program.diagnose(diagnoses::optimizer_state);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::optimizer_state);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 16 * MiB);
    EXPECT_EQ(findings[0].since_iteration, 0);
    EXPECT_NE(findings[0].text[1].find("`exp_avg` and `exp_avg_sq`, each as large"), std::string::npos);
}

TEST(ExplainOptimizerState, ExcludesMemoryAllocatedInEveryStep) {
    Training program;
    for (int i = 0; i < 8; ++i) {
        program.pass();
        program.labeled(1 * MiB, "step", Category::optimizer_state, "history of weight");
        program.update();
        program.zero_grad();
    }
    EXPECT_TRUE(program.diagnose(diagnoses::optimizer_state).empty());
}

Training accumulating(int passes) {
    Training program;
    for (int i = 0; i < 6; ++i) {
        for (int p = 0; p < passes; ++p) {
            program.pass();
        }
        program.update();
        program.zero_grad();
    }
    return program;
}

TEST(ExplainGradientAccumulation, CountsPassesThatShareGradients) {
    const Findings findings = accumulating(4).diagnose(diagnoses::gradient_accumulation);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 8 * MiB);
    EXPECT_EQ(findings[0].count, 4);
}

TEST(ExplainGradientAccumulation, ReportsNothingIfEachPassIsFollowedByAStep) {
    EXPECT_TRUE(accumulating(1).diagnose(diagnoses::gradient_accumulation).empty());
}

Training keeping_gradients(bool keep, bool update) {
    Training program;
    for (int i = 0; i < 8; ++i) {
        program.pass();
        if (update) {
            program.update();
        }
        if (!keep) {
            program.zero_grad();
        }
    }
    return program;
}

TEST(ExplainGradientsNotCleared, ReportsGradientsThatOutliveUpdates) {
    const Findings findings = keeping_gradients(true, true).diagnose(diagnoses::gradients_not_cleared);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 8 * MiB);
    EXPECT_EQ(findings[0].fixes[0].bytes, 4 * MiB + 512);
}

TEST(ExplainGradientsNotCleared, ReportsNothingIfTheyAreFreedOrAccumulated) {
    EXPECT_TRUE(keeping_gradients(false, true).diagnose(diagnoses::gradients_not_cleared).empty());
    EXPECT_TRUE(keeping_gradients(true, false).diagnose(diagnoses::gradients_not_cleared).empty());
    EXPECT_TRUE(accumulating(4).diagnose(diagnoses::gradients_not_cleared).empty());
}

TEST(ExplainSecondIterationPeak, IncludesTheFirstGradients) {
    Training program;
    program.zero_before_backward = true;
    for (int i = 0; i < 6; ++i) {
        program.pass();
        program.update();
    }
    const Findings findings = program.diagnose(diagnoses::second_iteration_peak);
    EXPECT_TRUE(findings.empty());  // the peak of a backward pass is the same in both iterations

    const Findings without_update = keeping_gradients(true, false).diagnose(diagnoses::second_iteration_peak);
    ASSERT_EQ(without_update.size(), 1u);
    EXPECT_EQ(without_update[0].severity, Severity::pattern);
    EXPECT_EQ(without_update[0].bytes, 8 * MiB);
}

TEST(ExplainSecondIterationPeak, ReportsNothingIfAlreadyReportedOrNothingIsLeft) {
    EXPECT_TRUE(keeping_gradients(false, true).diagnose(diagnoses::second_iteration_peak).empty());
    Finding reported;
    reported.kind = FindingKind::gradients_not_cleared;
    EXPECT_TRUE(keeping_gradients(true, false).diagnose(diagnoses::second_iteration_peak, {reported}).empty());
}

/// Twelve steps; step 7 works on `times` the data, or does other work of that size.
Program steps_with_one(uint64_t times, bool is_other_work = false) {
    Program program;
    program.run.alloc(4 * MiB, program.run.line("model"));
    for (uint64_t i = 0; i < 12; ++i) {
        const uint64_t by = i == 7 && !is_other_work ? times : 1;
        const AllocationIndex batch = program.run.alloc(by * 512, program.run.line("batch"));
        const AllocationIndex work = program.run.alloc(by * 4 * MiB, program.run.line("forward"));
        const bool is_other = i == 7 && is_other_work;
        const AllocationIndex other =
            program.run.alloc(is_other ? (times - 1) * 4 * MiB : 512, program.run.line(is_other ? "evaluate" : "norm"));
        const AllocationIndex loss = program.run.alloc(512, program.run.line("loss"));
        program.run.free(other);
        program.run.free(work);
        program.run.free(loss);
        program.run.free(batch);
        program.run.step();
    }
    return program;
}

TEST(ExplainOutlierIteration, ReportsTheSameWorkOnMoreData) {
    const Findings findings = steps_with_one(4).diagnose(diagnoses::outlier_iteration);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].since_iteration, 7);
    EXPECT_EQ(findings[0].bytes, 12 * MiB + 3 * 512);
    EXPECT_NE(findings[0].text[1].find("4.0 times"), std::string::npos);
}

TEST(ExplainOutlierIteration, IgnoresOtherWorkAndTypicalIterations) {
    EXPECT_TRUE(steps_with_one(1).diagnose(diagnoses::outlier_iteration).empty());
    EXPECT_TRUE(steps_with_one(4, true).diagnose(diagnoses::outlier_iteration).empty());
}

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
Program local_of_iterations(bool is_late, bool is_saved = false, const std::string& op = "aten::linear") {
    Program program;
    const uint32_t origin = program.run.origin(op);
    AllocationIndex last = no_allocation;
    for (int i = 0; i < 8; ++i) {
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

/// Each iteration adds an entry of 1 MiB to `cache`; beyond `most` entries the oldest is freed.
Program cache(size_t most) {
    Program program;
    std::vector<AllocationIndex> entries;
    for (int i = 0; i < 30; ++i) {
        if (entries.size() == most) {
            program.run.free(entries.front());
            entries.erase(entries.begin());
        }
        entries.push_back(program.run.alloc(1 * MiB, program.run.line("encode")));
        program.run.step();
    }
    for (size_t i = 0; i < entries.size(); ++i) {
        program.add_referrer(entries[i], "cache", std::to_string(i));
    }
    return program;
}

TEST(ExplainBoundedCache, ReportsACacheThatFillsAndStays) {
    const Findings findings = cache(8).diagnose(diagnoses::bounded_cache);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 8 * MiB);
    EXPECT_NE(findings[0].referrer.find("`cache`"), std::string::npos);
}

TEST(ExplainBoundedCache, ReportsNothingIfItGrows) {
    EXPECT_TRUE(cache(100).diagnose(diagnoses::bounded_cache).empty());
}

TEST(ExplainSteady, ReportsThatNothingStays) {
    const Findings findings = keeping_gradients(false, true).diagnose(diagnoses::steady);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 0);
    EXPECT_NE(findings[0].text[1].find("Destroyed: 16"), std::string::npos);
}

TEST(ExplainSteady, ReportsNothingIfMemoryGrows) {
    EXPECT_TRUE(cache(100).diagnose(diagnoses::steady).empty());
    Finding leak;
    leak.severity = Severity::leak;
    EXPECT_TRUE(keeping_gradients(false, true).diagnose(diagnoses::steady, {leak}).empty());
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

}  // namespace
}  // namespace tidemark
