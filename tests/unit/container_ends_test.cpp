// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Containers that are dropped or full before the program ends, and graphs that two containers retain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"
#include "tests/unit/source_builder.h"

namespace tidemark::test {
namespace {

using Kind = PathLinkKind;
using testing::HasSubstr;
using testing::Not;

/// Tensors that a variable of this function collects, each iteration one.
struct Collected : Program {
    explicit Collected(const std::string& function, const std::string& container = "",
                       const std::vector<std::string>& lines = {}) {
        add_source(run.trace, lines);
        const StackId stack = stack_of(run.trace.stacks, {{source_file, function}, {source_file, "main"}});
        for (int i = 0; i < 30; ++i) {
            const AllocationIndex a = run.alloc(MiB, stack);
            graph.tables.referrers.push_back(
                {0,
                 no_node,
                 memory(a),
                 {{Kind::local, graph.text("kept"), graph.text(function), graph.text(source_file), 3},
                  {Kind::index, graph.text(std::to_string(i)), graph.text(container), 0, 0}}});
            run.step();
        }
    }
    Explanation explanation() { return explained(*make_context()); }
    Finding finding() { return explanation().findings.front(); }
};

TEST(ContainerEnds, WhenItsFunctionReturns) {
    // The caller is at line 20.
    std::vector<std::string> lines{"def main():", "    for epoch in range(9):"};
    lines.resize(19, "        work()");
    lines.emplace_back("        evaluate()");
    const Explanation explanation = Collected("evaluate", "", lines).explanation();
    EXPECT_TRUE(explanation.findings.front().ends_with_variable);
    EXPECT_THAT(joined(explanation.findings.front().text), HasSubstr("`kept` is a variable of evaluate"));
    EXPECT_THAT(joined(explanation.summary), HasSubstr("until the variable that retains it goes"));
    const Explanation never = Collected("evaluate").explanation();
    EXPECT_FALSE(never.findings.front().ends_with_variable) << "one call may last until the end";
    EXPECT_THAT(joined(never.summary), HasSubstr("never freed"));
}

TEST(ContainerEnds, WhereALoopMakesItAnew) {
    const std::vector<std::string> lines{"def main():", "    for epoch in range(9):", "        kept = []",
                                         "        for x in data:", "            kept.append(f(x))"};
    EXPECT_THAT(joined(Collected("main", "", lines).finding().text),
                HasSubstr("train.py:3 makes `kept` anew: `kept = []`."));
    EXPECT_FALSE(Collected("main", "", {"def main():", "    kept = []"}).finding().ends_with_variable);
}

TEST(ContainerEnds, WhenADequeIsFull) {
    const Finding full = Collected("main", "deque(maxlen=50)").finding();
    EXPECT_EQ(full.severity, Severity::pattern);
    EXPECT_THAT(joined(full.text), HasSubstr("maxlen=50"));
    EXPECT_THAT(full.referrer, HasSubstr("deque `kept`"));
    const Finding endless = Collected("main", "deque").finding();
    EXPECT_EQ(endless.severity, Severity::leak);
    EXPECT_THAT(endless.title, HasSubstr("deque `kept`"));
}

/// Each iteration has a graph, of which these lists have an output each.
Finding graphs_in(const std::vector<std::string>& lists) {
    Program program;
    add_source(program.run.trace, {"def main():", "    losses.append(loss)", "    values.append(value)"});
    for (int i = 0; i < 30; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("train"));
        const AllocationIndex saved = program.run.alloc(MiB, program.run.line("forward"));
        for (const std::string& list : lists) {
            const AllocationIndex output = program.run.alloc(512, program.run.line("main", source_file));
            const NodeIndex root = program.node("MmBackward0", {}, {saved}, output, "main");
            program.graph.tables.referrers.push_back(
                {0,
                 root,
                 Program::memory(output),
                 {{Kind::global, program.graph.text(list), 0, program.graph.text(source_file), 0},
                  {Kind::index, program.graph.text(std::to_string(i)), 0, 0, 0}}});
        }
        program.run.free(work);
        program.run.step();
    }
    const Explanation explanation = explained(*program.make_context());
    const Finding* finding = find(explanation, FindingKind::eval_without_no_grad);
    return finding ? *finding : Finding();
}

TEST(GraphReferrers, AFixNamesAllContainers) {
    const Finding both = graphs_in({"losses", "values"});
    ASSERT_FALSE(both.fixes.empty());
    EXPECT_THAT(both.fixes.back().diff, HasSubstr("+    losses.append(loss.detach().cpu())"));
    EXPECT_THAT(both.fixes.back().text, HasSubstr("list `values` (global variable, train.py) retains the same graphs: "
                                                  "change train.py:3, too, `values.append(value)`."));
    const Finding one = graphs_in({"losses"});
    ASSERT_FALSE(one.fixes.empty());
    EXPECT_THAT(one.fixes.back().text, Not(HasSubstr("retains the same graphs")));
    EXPECT_EQ(one.fixes.back().diff, diff(2, "    losses.append(loss)", "    losses.append(loss.detach().cpu())"));
}

}  // namespace
}  // namespace tidemark::test
