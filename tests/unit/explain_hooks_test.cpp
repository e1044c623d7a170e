// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Hooks that are registered again and again, and hooks that retain what their object refers to.
#include <gtest/gtest.h>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::MiB;
using test::Program;
using test::RunBuilder;

/// Eight epochs of four batches and a validation step. In epoch e one call of a module calls `function` runs(e) times,
/// which stores 1 MiB each time until the end of the epoch.
template <class Runs>
Explanation hooked(Runs&& runs, const std::string& function = "Monitor.observe") {
    RunBuilder run;
    run.segment(1 << 30);
    const StackId stack =
        test::stack_of(run.trace.stacks, {{"/home/anna/project/train.py", function},
                                          {"/home/anna/site-packages/torch/nn/modules/module.py", "Module._call_impl"},
                                          {"/home/anna/project/train.py", "main"}});
    const uint32_t origin = run.origin("aten::clone");
    run.trace.origins.back().module = "Net.encoder";
    for (int epoch = 0; epoch < 8; ++epoch) {
        std::vector<AllocationIndex> stored;
        for (int batch = 0; batch < 4; ++batch) {
            const AllocationIndex work = run.alloc(4 * MiB, run.line("forward"));
            for (int i = 0; i < runs(epoch); ++i) {
                stored.push_back(run.alloc(MiB, stack, origin));
            }
            run.free(work);
            run.step();
        }
        for (const AllocationIndex a : stored) {
            run.free(a);
        }
        run.free(run.alloc(4 * MiB, run.line("validate")));
        run.step();
    }
    return explained(*run.make_context());
}

TEST(ExplainRepeatedHooks, AreALeakAlthoughTheirMemoryIsFreed) {
    const Explanation explanation = hooked([](int epoch) { return epoch + 1; });
    ASSERT_EQ(test::leaks_of(explanation), "hook-retains-activations");
    const Finding& leak = explanation.findings[0];
    EXPECT_EQ(leak.title, "One call of module `Net.encoder` runs the hook train.py:10 Monitor.observe 8 times");
    EXPECT_EQ(leak.bytes, static_cast<int64_t>(32 * MiB));
    EXPECT_EQ(leak.confidence, Confidence::likely);
    EXPECT_EQ(test::find(explanation, FindingKind::steady), nullptr);
    const std::string summary = test::joined(explanation.summary);
    EXPECT_NE(summary.find("The peaks of memory rise."), std::string::npos) << summary;
}

TEST(ExplainRepeatedHooks, MayHaveBeenRegisteredBeforeTheFirstCall) {
    const Explanation explanation = hooked([](int epoch) { return epoch + 3; });
    ASSERT_EQ(test::leaks_of(explanation), "hook-retains-activations");
    const std::string text = test::joined(explanation.findings[0].text);
    EXPECT_NE(text.find("ran the hook train.py:10 Monitor.observe 3 times at first, and now runs it 10 times"),
              std::string::npos)
        << text;
}

TEST(ExplainRepeatedHooks, ExplainTheGrowthOfTheirLine) {
    RunBuilder run;
    run.segment(1 << 30);
    const StackId stack =
        test::stack_of(run.trace.stacks, {{"/home/anna/project/train.py", "Monitor.observe"},
                                          {"/home/anna/site-packages/torch/nn/modules/module.py", "Module._call_impl"},
                                          {"/home/anna/project/train.py", "main"}});
    const uint32_t origin = run.origin("aten::clone");
    run.trace.origins.back().module = "Net.encoder";
    std::vector<AllocationIndex> stored;
    for (int epoch = 1; epoch <= 10; ++epoch) {
        for (int batch = 0; batch < 3; ++batch) {
            const AllocationIndex work = run.alloc(4 * MiB, run.line("forward"));
            for (const AllocationIndex a : stored) {
                run.free(a);
            }
            stored.clear();
            for (int i = 0; i < epoch; ++i) {
                stored.push_back(run.alloc(MiB, stack, origin));
            }
            run.free(work);
            run.step();
        }
    }
    const Explanation explanation = explained(*run.make_context());
    ASSERT_EQ(test::leaks_of(explanation), "hook-retains-activations");
    EXPECT_GT(explanation.findings[0].per_iteration.value_or(0), 0);
}

TEST(ExplainRepeatedHooks, AreNoneIfTheirNumberIsConstantOrFalls) {
    EXPECT_EQ(test::leaks_of(hooked([](int) { return 3; })), "");
    EXPECT_EQ(test::leaks_of(hooked([](int epoch) { return epoch == 6 ? 1 : epoch + 1; })), "");
    EXPECT_EQ(test::leaks_of(hooked([](int epoch) { return epoch < 4 ? 1 : 2; })), "") << "only two levels";
}

TEST(ExplainRepeatedHooks, AreNotTheModulesOwnFunction) {
    EXPECT_EQ(test::leaks_of(hooked([](int epoch) { return epoch + 1; }, "Rollout.forward")), "");
}

/// Steps of which each creates a model with a hook: a method of the model, which caches the output of a graph that is
/// never backpropagated. A scan while the steps ran found the models' weights at a variable, one at the end did not.
class ModelsWithHooks : public Program {
public:
    ModelsWithHooks() {
        for (int i = 0; i < 30; ++i) {
            step();
        }
        graph.tables.referrers = while_running_;
        graph.tables.referrers.insert(graph.tables.referrers.end(), at_end_.begin(), at_end_.end());
        graph.tables.scans = {{run.now() / 2, ScanReason::growing_sites, 10, 100, 20},
                              {run.now(), ScanReason::end, 10, 100, 20}};
    }

    Explanation explanation() {
        return explained(*run.make_context(std::make_shared<const GraphTables>(graph.tables)));
    }

private:
    void step() {
        const AllocationIndex work = run.alloc(4 * MiB, run.line("train"));
        const AllocationIndex weight = labeled(MiB, "build", Category::parameter, "Head.up.weight");
        const AllocationIndex saved = run.alloc(2 * MiB, run.line("forward"));
        const AllocationIndex result = run.alloc(512, run.line("forward"));
        const NodeIndex root = node("TanhBackward0", {}, {saved}, result, "forward");
        while_running_.push_back({0,
                                  no_node,
                                  memory(weight),
                                  {{PathLinkKind::local, graph.text("optimizer"), graph.text("fit"), 0, 9},
                                   attribute("param_groups of SGD")}});
        at_end_.push_back({1, root, memory(result), over_hook({attribute("cache of Head")})});
        at_end_.push_back(
            {1, no_node, memory(weight), over_hook({attribute("up of Head"), attribute("weight of Linear")})});
        run.free(work);
        run.step();
    }

    PathLink attribute(const std::string& name) { return {PathLinkKind::attribute, graph.text(name), 0, 0, 0}; }

    std::vector<PathLink> over_hook(const std::vector<PathLink>& rest) {
        std::vector<PathLink> links{{PathLinkKind::native, graph.text("OrderedDict"), 0, 0, 0},
                                    {PathLinkKind::hook, graph.text("gradient hook"), graph.text("Head.on_backward"),
                                     graph.text("train.py"), 7},
                                    attribute("self of Head.on_backward")};
        links.insert(links.end(), rest.begin(), rest.end());
        return links;
    }

    std::vector<Referrer> while_running_, at_end_;
};

TEST(ExplainHooksOfGraphs, RetainTheModelWhoseMethodTheyAre) {
    const Explanation explanation = ModelsWithHooks().explanation();
    ASSERT_EQ(test::leaks_of(explanation), "hook-reference-cycle");
    const Finding& leak = explanation.findings.front();
    EXPECT_EQ(leak.title,
              "The hook Head.on_backward, train.py:7 forms a reference cycle with the graph it is registered on");
    EXPECT_GE(leak.bytes, 80 * MiB) << "the models belong to it";
    EXPECT_NE(test::joined(leak.text).find("retains `self.cache`"), std::string::npos) << test::joined(leak.text);
    EXPECT_NE(leak.fixes.front().code.find("weakref.WeakMethod(self.on_backward)"), std::string::npos);
    EXPECT_EQ(leak.fixes.back().code, "self.cache = None\nhandle.remove()");
}

}  // namespace
}  // namespace tidemark
