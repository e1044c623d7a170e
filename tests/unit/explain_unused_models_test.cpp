// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Models that ran once and do not run any more.
#include <gtest/gtest.h>

#include "storage/explain/unused_models.h"
#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::MiB;
using test::Program;

/// 40 steps of a teacher and a student. The teacher runs if runs(step).
struct Distillation : Program {
    template <class Runs>
    explicit Distillation(Runs&& runs, int64_t bytes = 64 * MiB, bool has_cuda_graphs = false) {
        if (has_cuda_graphs) {
            run.trace.pools.emplace_back().owner[0] = 7;
            run.segment(8 * MiB, 0, static_cast<uint32_t>(run.trace.pools.size() - 1));
            run.segment(1 << 30);
        }
        const uint32_t teacher = module_origin("Net.teacher.layers.0"), student = module_origin("Net.student.0");
        labeled(bytes, "load", Category::parameter, "Net.teacher.layers.0.weight");
        labeled(512, "load", Category::buffer, "Net.teacher.layers.0.mean");
        labeled(32 * MiB, "load", Category::parameter, "Net.student.0.weight");
        labeled(32 * MiB, "load", Category::optimizer_state, "exp_avg of Net.student.0.weight");
        for (int step = 0; step < 40; ++step) {
            if (runs(step)) {
                run.free(run.alloc(MiB, run.line("teach"), teacher));
            }
            run.free(run.alloc(MiB, run.line("learn"), student));
            run.step();
        }
    }

    uint32_t module_origin(const std::string& module) {
        const uint32_t origin = run.origin("aten::mm");
        run.trace.origins.back().module = module;
        return origin;
    }
    std::vector<UnusedModel> unused() { return find_unused_models(*make_context()); }
};

TEST(ExplainUnusedModels, AreIdleWhileOthersRun) {
    const std::vector<UnusedModel> unused = Distillation([](int step) { return step < 4; }).unused();
    ASSERT_EQ(unused.size(), 1u);
    EXPECT_EQ(unused[0].module, "Net.teacher");
    EXPECT_EQ(unused[0].bytes, 64 * MiB + 512);
    EXPECT_EQ(unused[0].idle, 36u);
    EXPECT_EQ(unused[0].memory.size(), 2u);
}

TEST(ExplainUnusedModels, AreReportedAsWaste) {
    Distillation program([](int step) { return step < 4; });
    const Findings findings = program.diagnose(diagnoses::unused_model);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::unused_model);
    EXPECT_EQ(findings[0].title, "`Net.teacher` has not run for 36 steps, but retains 64.0 MiB");
    EXPECT_EQ(findings[0].fixes.at(0).code, "model.teacher = None");
    EXPECT_EQ(findings[0].line, "train.py:10 load");
}

TEST(ExplainUnusedModels, AreReleasedFromWhatRefersToTheModel) {
    using Kind = PathLinkKind;
    Distillation program([](int step) { return step < 4; });
    auto& graph = program.graph;
    graph.tables.referrers.push_back(
        {0,
         no_node,
         Program::memory(2),  // of the student
         {{Kind::local, graph.text("trainer"), graph.text("main"), graph.text("train.py"), 3},
          {Kind::attribute, graph.text("net of Trainer"), 0, 0, 0},
          {Kind::attribute, graph.text("student of Net"), 0, 0, 0},
          {Kind::attribute, graph.text("weight of Linear"), 0, 0, 0}}});
    const Findings findings = program.diagnose(diagnoses::unused_model);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].referrer, "`trainer.net` of class Trainer (variable of main, train.py:3)");
    EXPECT_EQ(findings[0].fixes.at(0).code, "trainer.net.teacher = None");
}

/// A training whose teacher runs in the first steps only; a scan found the teacher while it ran, and later what
/// retains the state of this parameter's optimizer.
Distillation with_optimizer_of(const std::string& parameter) {
    using Kind = PathLinkKind;
    Distillation program([](int step) { return step < 4; });
    auto& graph = program.graph;
    const AllocationIndex state =
        program.labeled(16 * MiB, "step", Category::optimizer_state, "exp_avg of " + parameter);
    program.run.free(program.run.alloc(MiB, program.run.line("learn")));
    program.run.step();
    graph.tables.scans = {{2'000'000, ScanReason::memory_grows, 10, 100, 20},
                          {program.run.now(), ScanReason::memory_grows, 10, 100, 20}};
    graph.tables.referrers.push_back(
        {0,
         no_node,
         Program::memory(0),
         {{Kind::local, graph.text("model"), graph.text("pretrain"), graph.text("train.py"), 3},
          {Kind::attribute, graph.text("teacher of Net"), 0, 0, 0}}});
    graph.tables.referrers.push_back({1,
                                      no_node,
                                      Program::memory(state),
                                      {{Kind::local, graph.text("self"), graph.text("main"), graph.text("train.py"), 3},
                                       {Kind::attribute, graph.text("schedule of Trainer"), 0, 0, 0},
                                       {Kind::attribute, graph.text("optimizer of LambdaLR"), 0, 0, 0},
                                       {Kind::attribute, graph.text("state of AdamW"), 0, 0, 0}}});
    return program;
}

TEST(ExplainUnusedModels, AreRetainedByAnOptimizer) {
    for (const std::string parameter : {"Net.teacher.layers.0.weight", "Net.scale"}) {
        const Findings findings = with_optimizer_of(parameter).diagnose(diagnoses::unused_model);
        ASSERT_EQ(findings.size(), 1u);
        EXPECT_EQ(findings[0].referrer, "`self.schedule.optimizer` of class LambdaLR (variable of main, train.py:3)");
        EXPECT_EQ(findings[0].fixes.at(0).code, "self.schedule.optimizer = None");
    }
}

TEST(ExplainUnusedModels, AreNotRetainedByTheOptimizerOfWhatRuns) {
    const Findings findings = with_optimizer_of("Net.student.0.weight").diagnose(diagnoses::unused_model);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].text.at(1),
              "At 0.002000 s, while it ran, a heap scan found the model retained by `model` (variable of pretrain, "
              "train.py:3).");
    EXPECT_EQ(findings[0].fixes.at(0).code, "model.teacher = None");
}

TEST(ExplainUnusedModels, AreNoneIfTheyMayRunAgain) {
    EXPECT_TRUE(Distillation([](int) { return true; }).unused().empty());
    EXPECT_TRUE(Distillation([](int step) { return step % 15 == 0; }).unused().empty());  // a rare evaluation
    EXPECT_TRUE(Distillation([](int step) { return step < 25; }).unused().empty());       // idle for a short time
    EXPECT_TRUE(Distillation([](int) { return false; }).unused().empty());  // not known to run in modules at all
}

TEST(ExplainUnusedModels, AreNoneIfTheyAreSmallOrReplayedByCudaGraphs) {
    const auto early = [](int step) { return step < 4; };
    EXPECT_TRUE(Distillation(early, MiB).unused().empty());
    EXPECT_TRUE(Distillation(early, 64 * MiB, true).unused().empty());
}

TEST(ExplainUnusedModels, RunAfterTheLastStepToo) {
    const auto evaluate = [](Distillation& program, const std::string& module) {
        const uint32_t origin = program.module_origin(module);
        for (int batch = 0; batch < 10; ++batch) {
            program.run.free(program.run.alloc(MiB, program.run.line("evaluate"), origin));
        }
        program.run.alloc(MiB, program.run.line("keep"));
        return program.unused();
    };
    Distillation both([](int step) { return step < 4; });
    EXPECT_TRUE(evaluate(both, "Net.teacher.layers.0").empty());
    Distillation student([](int step) { return step < 4; });
    const std::vector<UnusedModel> unused = evaluate(student, "Net.student.0");
    ASSERT_EQ(unused.size(), 1u);
    EXPECT_EQ(unused[0].module, "Net.teacher");
    EXPECT_EQ(unused[0].idle, 36u);
}

TEST(ExplainUnusedModels, IgnoreNamesWithMoreLevelsThanModelsHave) {
    Distillation program([](int step) { return step < 4; });
    std::string deep = "Net";
    for (int level = 0; level < 300; ++level) {
        deep += ".layer";
    }
    for (Origin& origin : program.run.trace.origins) {
        origin.module = origin.module == "Net.teacher.layers.0" ? deep : origin.module;
    }
    EXPECT_TRUE(program.unused().empty());
}

}  // namespace
}  // namespace tidemark
