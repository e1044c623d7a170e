// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Diagnoses of iterations: backward passes, optimizer, gradients, caches, and that nothing grows.
#include <gtest/gtest.h>

#include "storage/explain/backward_passes.h"
#include "storage/explain/unused_gradients.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::MiB;
using test::Program;
using test::RunBuilder;
using test::Training;

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

TEST(ExplainPasses, AreRecordedFromTheirBegin) {
    Training program;
    for (int i = 0; i < 6; ++i) {
        program.pass();
        program.update();
        program.zero_grad();
    }
    const NodeIndex root = find_backward_passes(*program.make_context())[0].passes[2].root;
    program.graph.tables.nodes.created[root] = before_recording;  // a heap scan found it
    EXPECT_EQ(find_backward_passes(*program.make_context())[0].passes.size(), 5u);
}

/// Two tensors of optimizer state of 8 MiB, allocated by `step` in the first of 8 steps.
Training stepping() {
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
    return program;
}

TEST(ExplainOptimizerState, IsAllocatedAtTheFirstStep) {
    Training program = stepping();
    const Findings findings = program.diagnose(diagnoses::optimizer_state);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::optimizer_state);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 16 * MiB);
    EXPECT_EQ(findings[0].since_iteration, 0);
    EXPECT_NE(findings[0].text[1].find("`exp_avg` and `exp_avg_sq`, each as large"), std::string::npos);
}

/// Returns a run whose optimizer keeps 64 MiB of state for the weight of a layer, and 1 MiB for this parameter.
Findings with_parameter_beside_weight(const std::string& name) {
    Training program;
    for (int i = 0; i < 8; ++i) {
        program.pass();
        if (i == 0) {
            program.labeled(64 * MiB, "step", Category::optimizer_state,
                            "exp_avg of GPT.layers.0.up_proj.linear.weight");
            program.labeled(MiB, "step", Category::optimizer_state, "exp_avg of " + name);
        }
        program.update();
        program.zero_grad();
    }
    return program.diagnose(diagnoses::optimizer_state);
}

TEST(ExplainOptimizerState, OfWeightsBesideAdaptersIsWaste) {
    for (const std::string adapter : {"lora_A", "lora_A.default.weight", "LoRA_down.weight"}) {
        const Findings findings = with_parameter_beside_weight("GPT.layers.0.up_proj." + adapter);
        ASSERT_EQ(findings.size(), 1u);
        EXPECT_EQ(findings[0].severity, Severity::waste) << adapter;
        EXPECT_EQ(findings[0].bytes, 64 * MiB) << "without the adapter's own";
        EXPECT_EQ(findings[0].count, 1);
        EXPECT_EQ(findings[0].memory.allocations.size(), 1u);
        EXPECT_EQ(findings[0].fixes.front().bytes, 64 * MiB);
        EXPECT_NE(findings[0].text.front().find("`GPT.layers.0.up_proj.linear.weight`"), std::string::npos);
    }
    for (const std::string other : {"GPT.layers.0.down_proj.lora_A", "GPT.layers.0.up_proj.bias"}) {
        EXPECT_EQ(with_parameter_beside_weight(other).at(0).severity, Severity::pattern) << other;
    }
}

TEST(ExplainOptimizerState, NamesTheLineOnlyIfItWasRecorded) {
    Training with = stepping(), without = stepping();
    for (StackId& stack : without.run.device().allocations.stack) {
        stack = 0;
    }
    const auto first_words = [](Training& program) {
        const std::string text = program.diagnose(diagnoses::optimizer_state).at(0).text.at(0);
        return text.substr(0, text.find(" allocated"));
    };
    EXPECT_EQ(first_words(with), "The first step() at train.py:10 step");
    EXPECT_EQ(first_words(without), "The first step()");
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

TEST(ExplainGradientsNotCleared, ReportsNothingThatIsSmallBesideThePeak) {
    Training program = keeping_gradients(true, true);
    program.run.alloc(2048 * MiB, program.run.line("main"));
    EXPECT_TRUE(program.diagnose(diagnoses::gradients_not_cleared).empty());
}

/// Returns a training in which a backbone of 32 MiB gets gradients in the first step, which stay. An optimizer updates
/// the rest, and the backbone as well if `updates_backbone`.
Training with_backbone(bool updates_backbone) {
    Training program;
    RunBuilder& run = program.run;
    const AllocationIndex backbone = program.labeled(32 * MiB, "main", Category::parameter, "Net.backbone.weight");
    for (int i = 0; i < 8; ++i) {
        program.pass();
        program.node("MmBackward0", {}, {backbone}, no_allocation, "forward");
        program.graph.tables.saved.version.back() = static_cast<uint16_t>(updates_backbone ? i : 0);
        if (i == 0) {
            program.labeled(32 * MiB, "forward", Category::gradient, "Net.backbone.weight");
            program.labeled(8 * MiB, "step", Category::optimizer_state, "exp_avg of weight");
        }
        run.trace.annotations.push_back({"Optimizer.step#AdamW.step", {}, 0, run.now(), run.now(), true});
        program.update();
        program.zero_grad();
    }
    return program;
}

TEST(ExplainUnusedGradients, AreWasteIfNoOptimizerUpdatesTheParameters) {
    const Findings findings = with_backbone(false).diagnose(diagnoses::gradients_not_cleared);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 32 * MiB);
    EXPECT_EQ(findings[0].referrer, "`.grad` of the parameters of `Net.backbone`");
    EXPECT_NE(findings[0].fixes.at(0).code.find("requires_grad_(False)"), std::string::npos);
    EXPECT_TRUE(with_backbone(false).diagnose(diagnoses::gradient_accumulation).empty());
}

TEST(ExplainUnusedGradients, AreNoneIfTheParametersChange) {
    EXPECT_FALSE(find_unused_gradients(*with_backbone(true).make_context()));
}

/// Returns a training of an encoder of 32 MiB, and then of the rest in `steps`. The gradient of the encoder stays, and
/// the state of its optimizer unless `frees_state`.
Training in_two_stages(bool frees_state, int steps) {
    Training program;
    RunBuilder& run = program.run;
    const AllocationIndex weight = program.labeled(32 * MiB, "main", Category::parameter, "Encoder.weight");
    const auto step = [&](const std::string& optimizer) {
        run.trace.annotations.push_back(
            {"Optimizer.step#" + optimizer + ".step", {}, 0, run.now() - 1, run.now(), true});
        program.update();
    };
    AllocationIndex state = no_allocation;
    for (int i = 0; i < 5; ++i) {
        program.node("MmBackward0", {}, {weight}, no_allocation, "forward");
        program.graph.tables.saved.version.back() = static_cast<uint16_t>(i);
        if (i == 0) {
            state = program.labeled(64 * MiB, "step", Category::optimizer_state, "exp_avg of Encoder.weight");
            program.labeled(32 * MiB, "forward", Category::gradient, "Encoder.weight");
        }
        step("Adam");
    }
    if (frees_state) {
        run.free(state);
    }
    program.labeled(MiB, "fit_heads", Category::optimizer_state, "exp_avg of weight");
    for (int i = 0; i < steps; ++i) {
        program.pass();
        program.zero_grad();
        step("AdamW");
    }
    return program;
}

TEST(ExplainUnusedGradients, AreWasteAfterTheirOptimizerIsReleased) {
    const Findings findings = in_two_stages(true, 40).diagnose(diagnoses::gradients_not_cleared);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].bytes, 32 * MiB);
    EXPECT_NE(findings[0].text.at(1).find("the 40 optimizer steps since then"), std::string::npos)
        << findings[0].text.at(1);
    EXPECT_EQ(findings[0].fixes.at(0).code, "model.zero_grad(set_to_none=True)");
}

TEST(ExplainUnusedGradients, AreNoneWhileTheirOptimizerKeepsState) {
    EXPECT_FALSE(find_unused_gradients(*in_two_stages(false, 40).make_context()));
    EXPECT_FALSE(find_unused_gradients(*in_two_stages(true, 2).make_context())) << "it may be made again";
}

/// Returns a program with two backward passes and then 100 requests.
Training served(bool trains_meanwhile) {
    Training program;
    RunBuilder& run = program.run;
    program.labeled(64 * MiB, "forward", Category::gradient, "Net.weight");
    program.pass();
    program.pass();
    for (int i = 0; i < 100; ++i) {
        run.free(run.alloc(MiB, run.line("serve")));
        if (trains_meanwhile && i % 10 == 0) {
            program.pass();
        }
    }
    return program;
}

TEST(ExplainUnusedGradients, AreWasteAfterTheLastBackwardPass) {
    const Findings findings = served(false).diagnose(diagnoses::gradients_not_cleared);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].bytes, 72 * MiB);
    EXPECT_NE(findings[0].fixes.at(0).code.find("zero_grad(set_to_none=True)"), std::string::npos);
    EXPECT_FALSE(find_unused_gradients(*served(true).make_context())) << "they may be added up";
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

/// Each iteration adds an entry of 1 MiB to `cache`; beyond `most` entries the oldest is freed. `library`: the file of
/// the function that allocates the entries, below site-packages.
Program cache(size_t most, const std::string& library = "") {
    Program program;
    const std::string file = "/venv/lib/python3.12/site-packages/" + library;
    const StackId line =
        library.empty()
            ? program.run.line("encode")
            : test::stack_of(program.run.trace.stacks, {{file, "__call__"}, {"/home/anna/project/train.py", "encode"}});
    std::vector<AllocationIndex> entries;
    for (int i = 0; i < 30; ++i) {
        if (entries.size() == most) {
            program.run.free(entries.front());
            entries.erase(entries.begin());
        }
        entries.push_back(program.run.alloc(1 * MiB, line));
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

TEST(ExplainBoundedCache, RecommendsWhatTheLibraryOffers) {
    const Findings findings = cache(8, "transformers/generation/logits_process.py").diagnose(diagnoses::bounded_cache);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_NE(findings[0].fixes.at(0).code.find("output_scores=False"), std::string::npos);
    EXPECT_EQ(findings[0].fixes.at(0).bytes, 8 * MiB);
}

TEST(ExplainBoundedCache, DoesNotSayThatNothingIsRemoved) {
    const Findings findings =
        cache(8, "pytorch_lightning/loops/training_epoch_loop.py").diagnose(diagnoses::bounded_cache);
    ASSERT_EQ(findings.size(), 1u);
    ASSERT_EQ(findings[0].fixes.size(), 1u);
    EXPECT_EQ(findings[0].fixes[0].code, "entry = entry.to(\"cpu\")");
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

}  // namespace
}  // namespace tidemark
