// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Optimizers that do not step any more while the program goes on.
#include <gtest/gtest.h>

#include "storage/explain/unused_gradients.h"
#include "storage/explain/unused_optimizers.h"
#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::MiB;
using test::Program;

constexpr int steps = 40;

/// 40 iterations of 20 allocations. Each optimizer keeps the state that its first step allocates.
struct TwoPhases : Program {
    TwoPhases() { labeled(32 * MiB, "main", Category::parameter, "Net.weight"); }

    void iterate() {
        for (int i = 0; i < 20; ++i) {
            run.free(run.alloc(MiB, run.line("forward")));
        }
    }

    /// A step of AdamW that `function` calls. Allocates its state of 64 MiB, or a temporary tensor.
    void step(const std::string& function, bool is_first) {
        const int64_t start = run.now() + 1;
        const StackId stack = test::stack_of(
            run.trace.stacks, {{"/venv/lib/python3.12/site-packages/torch/optim/adam.py", "Adam._init_group"},
                               {"/venv/lib/python3.12/site-packages/torch/optim/optimizer.py",
                                "Optimizer.profile_hook_step.<locals>.wrapper"},
                               {"/home/anna/project/train.py", function}});
        const AllocationIndex a = is_first || !is_fused ? run.alloc(64 * MiB, stack) : no_allocation;
        if (is_first) {
            graph.label(memory(a), run.now(), Category::optimizer_state, "exp_avg of Net.weight");
            state = a;
        } else if (!is_fused) {
            run.free(a);
        }
        run.trace.annotations.push_back({"Optimizer.step#AdamW.step", {}, 0, start, run.now(), true});
    }

    std::vector<UnusedOptimizer> unused() { return find_unused_optimizers(*make_context()); }

    AllocationIndex state = no_allocation;
    bool is_fused = false;  ///< only the first step allocates
};

/// `first(i)` and `second(i)`: whether the first and the second optimizer step in this iteration.
template <class First, class Second>
TwoPhases training(First&& first, Second&& second) {
    TwoPhases program;
    bool has_first = false, has_second = false;
    for (int i = 0; i < steps; ++i) {
        program.iterate();
        if (first(i)) {
            program.step("pretrain", !std::exchange(has_first, true));
        }
        if (second(i)) {
            program.step("tune", !std::exchange(has_second, true));
        }
    }
    return program;
}

bool in_first_half(int i) { return i < steps / 2; }
bool in_second_half(int i) { return i >= steps / 2; }
bool always(int) { return true; }
bool never_again(int) { return false; }

TEST(ExplainUnusedOptimizers, AreIdleWhileAnotherSteps) {
    const std::vector<UnusedOptimizer> unused = training(in_first_half, in_second_half).unused();
    ASSERT_EQ(unused.size(), 1u);
    EXPECT_EQ(unused[0].name, "AdamW");
    EXPECT_EQ(unused[0].bytes, 64 * MiB);
    EXPECT_EQ(unused[0].steps, 20u);
    EXPECT_EQ(unused[0].later_steps, 20u);
}

TEST(ExplainUnusedOptimizers, LeaveGradientsThatNothingUses) {
    TwoPhases program;
    program.labeled(32 * MiB, "forward", Category::gradient, "Net.weight");
    for (int i = 0; i < steps; ++i) {
        program.iterate();
        program.step(in_first_half(i) ? "pretrain" : "tune", i == 0 || i == steps / 2);
    }
    EXPECT_FALSE(find_unused_gradients(*program.make_context())) << "the second optimizer has the parameter, too";
    program.graph.tables.labels.back().name = program.graph.text("exp_avg of Net.head.weight");
    const std::optional<UnusedGradients> unused = find_unused_gradients(*program.make_context());
    ASSERT_TRUE(unused);
    EXPECT_EQ(unused->because, UnusedBecause::optimizer_ended);
    EXPECT_EQ(unused->steps, 20u);
}

TEST(ExplainUnusedOptimizers, AreIdleInALongEvaluation) {
    EXPECT_EQ(training(in_first_half, never_again).unused().size(), 1u);
    EXPECT_TRUE(training([](int i) { return i < 30; }, never_again).unused().empty()) << "a short evaluation";
}

TEST(ExplainUnusedOptimizers, AreNoneIfTheyMayStepAgain) {
    EXPECT_TRUE(training(always, always).unused().empty()) << "two networks that are trained in turn";
    EXPECT_TRUE(training([](int i) { return i % 15 == 0; }, always).unused().empty()) << "a rare step";
    EXPECT_TRUE(training([](int i) { return i < 2; }, always).unused().empty()) << "no typical pause is known";
}

/// Only its first step shows which line called a fused optimizer.
TEST(ExplainUnusedOptimizers, AreIdleWhileAFusedOneSteps) {
    const auto fused = [](bool in_turn) {
        TwoPhases program;
        program.is_fused = true;
        for (int i = 0; i < steps; ++i) {
            program.iterate();
            if (in_turn || in_first_half(i)) {
                program.step("pretrain", i == 0);
            }
            if (in_turn || in_second_half(i)) {
                program.step("tune", i == (in_turn ? 0 : steps / 2));
            }
            program.run.alloc(512, program.run.line("log"));
            program.run.step();
        }
        return program.unused();
    };
    ASSERT_EQ(fused(false).size(), 1u);
    EXPECT_EQ(fused(false)[0].steps, 20u);
    EXPECT_EQ(fused(false)[0].later_steps, 20u);
    EXPECT_TRUE(fused(true).empty()) << "two networks that are trained in turn";
}

TEST(ExplainUnusedOptimizers, AreOneIfTheyStepAtOneLine) {
    TwoPhases program;
    for (int i = 0; i < steps; ++i) {
        program.iterate();
        program.step("train", i == 0 || i == steps / 2);
    }
    EXPECT_TRUE(program.unused().empty());
}

TEST(ExplainUnusedOptimizers, AreReportedAsWasteInPlaceOfTheirState) {
    TwoPhases program = training(in_first_half, never_again);
    program.graph.tables.referrers.push_back(
        {0,
         no_node,
         Program::memory(program.state),
         {{PathLinkKind::local, program.graph.text("self"), program.graph.text("Trainer.fit"), 0, 0},
          {PathLinkKind::attribute, program.graph.text("optimizer of Trainer"), 0, 0, 0},
          {PathLinkKind::attribute, program.graph.text("state of AdamW"), 0, 0, 0},
          {PathLinkKind::item, program.graph.text("exp_avg"), 0, 0, 0}}});
    const Findings findings = program.diagnose(diagnoses::unused_model);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].title, "`AdamW` has not stepped for 1.20 s, but retains 64.0 MiB");
    EXPECT_EQ(findings[0].referrer, "`self.optimizer` of class Trainer (variable of Trainer.fit)");
    EXPECT_EQ(findings[0].fixes.at(0).code, "self.optimizer = None");
    EXPECT_TRUE(program.diagnose(diagnoses::optimizer_state).empty());
}

/// Two phases whose optimizers an Accelerator keeps in a list. `bytes`: of the second phase's model.
struct Prepared : TwoPhases {
    explicit Prepared(int64_t bytes, const std::string& owner = "Accelerator") {
        const StackId stack =
            test::stack_of(run.trace.stacks,
                           {{"/venv/lib/python3.12/site-packages/accelerate/accelerator.py", owner + ".prepare_model"},
                            {"/home/anna/project/train.py", "setup"}});
        for (const int64_t size : {64 * MiB, bytes}) {
            parameters.push_back(run.alloc(static_cast<uint64_t>(size), stack));
            graph.label(memory(parameters.back()), run.now(), Category::parameter, "Net.weight");
        }
        for (int i = 0; i < steps; ++i) {
            iterate();
            step(in_first_half(i) ? "pretrain" : "tune", i == 0 || i == steps / 2);
        }
    }

    /// The path to a parameter through the optimizer at this index of the list.
    void retained(AllocationIndex a, const std::string& index) {
        graph.tables.referrers.push_back({0,
                                          no_node,
                                          memory(a),
                                          {{PathLinkKind::global, graph.text("accelerator"), 0, 0, 0},
                                           {PathLinkKind::attribute, graph.text("_optimizers of Accelerator"), 0, 0, 0},
                                           {PathLinkKind::index, graph.text(index), 0, 0, 0},
                                           {PathLinkKind::attribute, graph.text("state of AdamW"), 0, 0, 0},
                                           {PathLinkKind::element, 0, 0, 0, 0}}});
    }

    std::vector<AllocationIndex> parameters;
};

TEST(ExplainUnusedOptimizers, AreRetainedByWhatRetainsTheirParameters) {
    Prepared program(16 * MiB);
    program.graph.tables.labels.back().name = program.graph.text("exp_avg of Other.weight");
    program.retained(program.parameters[0], "0");
    const Findings findings = program.diagnose(diagnoses::unused_model);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].referrer, "list `accelerator._optimizers` of class Accelerator (global variable)");
    EXPECT_NE(findings[0].fixes.at(0).code.find("accelerator.free_memory("), std::string::npos);
    EXPECT_EQ(findings[0].fixes[0].bytes, 64 * MiB);
}

TEST(ExplainUnusedOptimizers, AreInTheListOfWhatPreparedTheirParameters) {
    for (const char* owner : {"Accelerator", "Mover"}) {
        Prepared program(16 * MiB, owner);
        program.graph.tables.labels.back().name = program.graph.text("exp_avg of Other.weight");
        program.retained(program.parameters[1], "1");
        const std::vector<UnusedOptimizer> unused = program.unused();
        ASSERT_EQ(unused.size(), 1u);
        EXPECT_EQ(unused[0].is_other_element, owner == std::string("Accelerator"));
        EXPECT_EQ(unused[0].referrer != nullptr, unused[0].is_other_element);
    }
}

TEST(ExplainUnusedOptimizers, HaveNoParametersOfWhichAnotherHasState) {
    Prepared program(16 * MiB);
    program.retained(program.parameters[0], "0");
    ASSERT_EQ(program.unused().size(), 1u);
    EXPECT_EQ(program.unused()[0].referrer, nullptr) << "both optimizers have a state of this name and size";
}

}  // namespace
}  // namespace tidemark
