// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Models whose parameters were stacked into copies.
#include <gtest/gtest.h>

#include "storage/explain/stacked_models.h"
#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::MiB;
using test::Program;

/// Four members of 16 MiB, retained by `members`, whose parameters torch.stack() copies. 20 steps train the copy.
struct Ensemble : Program {
    /// `each(ensemble)` runs in each step.
    template <class Each>
    explicit Ensemble(Each&& each, int64_t bytes = 16 * MiB, const std::string& op = "StackBackward0") {
        for (int member = 0; member < 4; ++member) {
            members.push_back(labeled(bytes, "create", Category::parameter, "Forecaster.layer.weight"));
            add_referrer(members.back(), "members", std::to_string(member));
        }
        copy = labeled(4 * bytes, "stack", Category::parameter, "param_groups[0][0]");
        std::vector<NodeIndex> leaves;
        for (const AllocationIndex member : members) {
            leaves.push_back(node("AccumulateGrad", {}, {}, member, ""));
        }
        stack = node(op, leaves, {}, copy, "stack");
        is_destroyed(stack);
        for (int step = 0; step < 20; ++step) {
            use(copy);
            run.free(run.alloc(MiB, functional_call(), module()));
            each(*this);
            run.step();
        }
    }
    Ensemble() : Ensemble([](Ensemble&) {}) {}

    /// Uses the parameter in an operation of the graph.
    void use(AllocationIndex parameter) {
        const NodeIndex leaf = node("AccumulateGrad", {}, {}, parameter, "");
        const AllocationIndex result = run.alloc(512, run.line("forward"));
        const NodeIndex mm = node("MmBackward0", {leaf}, {}, result, "forward");
        runs(mm);
        run.free(result);
        is_destroyed(mm);
        is_destroyed(leaf);
    }
    /// Frees them in the 15th step.
    void free_once(const std::vector<AllocationIndex>& memory) {
        for (const AllocationIndex a : memory) {
            if (run.trace.steps.size() == 14) {
                run.free(a);
            }
        }
    }
    uint32_t module() {
        const uint32_t origin = run.origin("aten::mm");
        run.trace.origins.back().module = "Forecaster.layer";
        return origin;
    }
    StackId functional_call() {
        return test::stack_of(
            run.trace.stacks,
            {{"/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", "Linear.forward"},
             {"/venv/lib/python3.12/site-packages/torch/_functorch/functional_call.py", "functional_call"},
             {"/home/anna/project/train.py", "predict"}});
    }
    std::vector<StackedModels> stacked() { return find_stacked_models(*make_context()); }

    std::vector<AllocationIndex> members;
    AllocationIndex copy = no_allocation;
    NodeIndex stack = no_node;
};

TEST(ExplainStackedModels, AreWasteIfOnlyTheirCopiesAreUsed) {
    const Findings findings = Ensemble().diagnose(diagnoses::unused_model);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].confidence, Confidence::likely);
    EXPECT_EQ(findings[0].title,
              "4 parameters were copied by torch.stack() and are not used any more, but retain 64.0 MiB");
    EXPECT_NE(findings[0].referrer.find("`members`"), std::string::npos) << findings[0].referrer;
    EXPECT_NE(findings[0].fixes.at(0).code.find("del members"), std::string::npos);
    EXPECT_EQ(Ensemble().stacked().at(0).idle, 20u);
    EXPECT_EQ(Ensemble().stacked().at(0).model, "Forecaster");
}

TEST(ExplainStackedModels, AreInUseIfTheGraphSaysSo) {
    EXPECT_TRUE(Ensemble([](Ensemble& e) {
                    for (const AllocationIndex member : e.members) {
                        e.use(member);
                    }
                })
                    .stacked()
                    .empty());
    Ensemble saved;
    saved.node("MmBackward0", {}, saved.members, saved.run.alloc(512, saved.run.line("forward")), "forward");
    EXPECT_TRUE(saved.stacked().empty()) << "a frozen parameter that a backward pass needs";
    Ensemble trained;
    trained.runs(trained.stack);
    EXPECT_TRUE(trained.stacked().empty()) << "gradients flow through the copy to the originals";
}

TEST(ExplainStackedModels, AreInUseIfTheirModulesRunWithoutGraph) {
    EXPECT_TRUE(Ensemble([](Ensemble& e) { e.run.free(e.run.alloc(MiB, e.run.line("evaluate"), e.module())); })
                    .stacked()
                    .empty());
}

TEST(ExplainStackedModels, AreNoneWithoutCopiesThatAreUsed) {
    EXPECT_TRUE(Ensemble([](Ensemble&) {}, MiB).stacked().empty()) << "a small part";
    EXPECT_TRUE(Ensemble([](Ensemble&) {}, 16 * MiB, "AddBackward0").stacked().empty()) << "not a copy";
    EXPECT_TRUE(Ensemble([](Ensemble& e) { e.free_once(e.members); }).stacked().empty());
    EXPECT_TRUE(Ensemble([](Ensemble& e) { e.free_once({e.copy}); }).stacked().empty())
        << "only the originals are left";
}

}  // namespace
}  // namespace tidemark
