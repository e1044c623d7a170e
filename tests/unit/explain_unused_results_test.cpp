// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Results inside of a model that its last forward pass left behind.
#include <gtest/gtest.h>

#include "storage/explain/unused_results.h"
#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::MiB;
using test::Program;

constexpr int steps = 40;

/// Passes of a model of two modules, whose results of 32 MiB stay until the next pass; then another model learns.
struct Attribution : Program {
    Attribution() {
        labeled(32 * MiB, "load", Category::parameter, "Scanner.weight");
        scanner_ = module_origin("Scanner");
        modules_ = {module_origin("Net.conv"), module_origin("Net.act")};
    }

    enum class Keeps : uint8_t { last, all, answer };
    void pass(Keeps keeps = Keeps::last, int64_t bytes = 32 * MiB) {
        std::vector<AllocationIndex> results;
        for (const uint32_t module : modules_) {
            run.free(run.alloc(MiB, run.line("explain"), module));  // a workspace
            results.push_back(run.alloc(static_cast<uint64_t>(bytes), run.line("explain"), module));
            graph.label(memory(results.back()), run.now(), Category::output);
        }
        for (const AllocationIndex old : keeps == Keeps::all ? std::vector<AllocationIndex>() : results_) {
            run.free(old);
        }
        if (keeps == Keeps::answer) {
            run.free(results.front());
            results.erase(results.begin());
        }
        results_ = results;
    }
    void learn() {
        run.step();
        for (int step = 0; step < steps; ++step) {
            run.free(run.alloc(MiB, run.line("learn"), scanner_));
            run.step();
        }
    }
    std::vector<UnusedResults> unused() { return find_unused_results(*make_context()); }

    AllocationIndex newest() const { return results_.back(); }

private:
    uint32_t module_origin(const std::string& module) {
        const uint32_t origin = run.origin("aten::conv1d");
        run.trace.origins.back().module = module;
        return origin;
    }

    uint32_t scanner_ = 0;
    std::vector<uint32_t> modules_;
    std::vector<AllocationIndex> results_;
};

using Keeps = Attribution::Keeps;

Attribution explained(int passes, Keeps keeps = Keeps::last) {
    Attribution program;
    for (int pass = 0; pass < passes; ++pass) {
        program.pass(keeps);
    }
    program.learn();
    return program;
}

TEST(ExplainUnusedResults, AreThoseOfTheLastPass) {
    const std::vector<UnusedResults> unused = explained(5).unused();
    ASSERT_EQ(unused.size(), 1u);
    EXPECT_EQ(unused[0].module, "Net");
    EXPECT_EQ(unused[0].bytes, 64 * MiB);
    EXPECT_EQ(unused[0].memory.size(), 2u);
    EXPECT_EQ(unused[0].modules, 2u);
    EXPECT_EQ(unused[0].passes, 5u);
    EXPECT_EQ(unused[0].idle, static_cast<size_t>(steps));
    EXPECT_TRUE(unused[0].referrers.empty());
}

TEST(ExplainUnusedResults, AreReportedWithTheirAttribute) {
    Attribution program = explained(5);
    program.add_referrer(program.newest(), "layers", "3");
    program.graph.tables.referrers.back().links.push_back(
        {PathLinkKind::attribute, program.graph.text("output of ReLU"), 0, 0, 0});
    const Findings findings = program.diagnose(diagnoses::unused_model);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].title, "results inside of `Net` retain 64.0 MiB, but it has not run for 40 steps");
    EXPECT_NE(findings[0].referrer.find("`layers`"), std::string::npos) << findings[0].referrer;
    EXPECT_EQ(findings[0].fixes.at(0).code, "for module in layers:\n    module.output = None");
    EXPECT_EQ(findings[0].line, "train.py:10 explain");
}

TEST(ExplainUnusedResults, NameTheLineThatCalledTheirPhase) {
    Attribution program = explained(5);
    StackTable& stacks = program.run.trace.stacks;
    const StackId earlier = test::stack_of(stacks, {{"train.py", "explain"}, {"train.py", "main"}});
    const StackId later =
        test::stack_of(stacks, {{"train.py", "forward"}, {"train.py", "learn"}, {"train.py", "main"}});
    const StackId explain = program.run.line("explain"), learn = program.run.line("learn");
    const auto text_with = [&](StackId newest) {
        for (StackId& stack : program.run.device().allocations.stack) {
            stack = stack == explain ? earlier : stack == learn || stack == later ? newest : stack;
        }
        return program.diagnose(diagnoses::unused_model).at(0).text;
    };
    EXPECT_EQ(text_with(later).at(1),
              "The phase that allocated this memory was called at train.py:20 main. What only it needs can be released "
              "after that.");
    EXPECT_EQ(text_with(program.run.line("serve")).size(), 1u) << "they part in no function";
}

TEST(ExplainUnusedResults, AreNoneIfTheyAreKeptOnPurpose) {
    EXPECT_TRUE(explained(1).unused().empty()) << "targets, made once";
    EXPECT_TRUE(explained(5, Keeps::all).unused().empty()) << "features of all batches";
    EXPECT_TRUE(explained(5, Keeps::answer).unused().empty()) << "the state that the model computes";
    Attribution growing;
    for (int pass = 1; pass < 5; ++pass) {
        growing.pass(Keeps::last, pass * 32 * MiB);
    }
    growing.learn();
    EXPECT_TRUE(growing.unused().empty()) << "a cache, made larger in each pass";
}

TEST(ExplainUnusedResults, AreNoneIfTheModelRuns) {
    Attribution program = explained(5);
    program.pass();
    program.run.alloc(MiB, program.run.line("keep"));
    EXPECT_TRUE(program.unused().empty());
}

TEST(ExplainUnusedResults, AreNoneIfTheyAreSmallOrParameters) {
    Attribution small;
    for (int pass = 0; pass < 5; ++pass) {
        small.pass(Keeps::last, 2 * MiB);
    }
    small.learn();
    EXPECT_TRUE(small.unused().empty());
    Attribution parameters = explained(5);
    for (CategoryLabel& label : parameters.graph.tables.labels) {
        label.category = Category::parameter;
    }
    EXPECT_TRUE(parameters.unused().empty());
}

}  // namespace
}  // namespace tidemark
