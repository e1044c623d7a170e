// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Attributes of one object that retain growing memory: one cause, one finding.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::MiB;
using test::Program;
using Kind = PathLinkKind;
/// "#" in a name: the number of the step.
using Path = std::vector<std::pair<Kind, std::string>>;

/// Returns the leaks of 40 steps, one in `every` of which retains a tensor of 1 MiB by each path, from a line of its
/// own. The second path begins `late` steps later.
Findings leaks_of(const std::vector<Path>& paths, int every = 1, int late = 0) {
    Program program;
    for (int step = 0; step < 40; ++step) {
        program.run.free(program.run.alloc(4 * MiB, program.run.line("train")));
        for (size_t path = 0; path < paths.size(); ++path) {
            if (step % every > 0 || (path == 1 && step < late)) {
                continue;
            }
            const AllocationIndex a = program.run.alloc(MiB, program.run.line("collect" + std::to_string(path)));
            std::vector<PathLink> links;
            for (const auto& [kind, name] : paths[path]) {
                const uint32_t function = kind == Kind::local ? program.graph.text("main") : 0;
                links.push_back({kind, program.graph.text(name == "#" ? std::to_string(step) : name), function, 0, 0});
            }
            program.graph.tables.referrers.push_back({0, no_node, Program::memory(a), links});
        }
        program.run.step();
    }
    Findings leaks = test::explained(*program.make_context()).findings;
    std::erase_if(leaks, [](const Finding& finding) { return finding.severity != Severity::leak; });
    return leaks;
}

Path list_of_metric(const std::string& attribute) {
    return {{Kind::local, "net"}, {Kind::attribute, "ap of Net"}, {Kind::attribute, attribute}, {Kind::index, "#"}};
}

TEST(ExplainAttributes, OfOneObjectAreOneFinding) {
    const Findings leaks = leaks_of({list_of_metric("preds of Precision"), list_of_metric("target of Precision")});
    ASSERT_EQ(leaks.size(), 1u);
    EXPECT_EQ(leaks[0].kind, FindingKind::growing_container);
    EXPECT_EQ(leaks[0].title, "80 tensors retained by `net.ap` of class Net (variable of main)");
    EXPECT_EQ(leaks[0].bytes, 80 * MiB);
    EXPECT_EQ(leaks[0].per_iteration, 2 * MiB);
    EXPECT_NE(test::joined(leaks[0].text).find("attributes of class Precision: `preds` and `target`."),
              std::string::npos)
        << test::joined(leaks[0].text);
    EXPECT_EQ(leaks[0].fixes.at(1).code, "net.ap.preds.clear()\nnet.ap.target.clear()");
}

TEST(ExplainAttributes, MayBeManyOfOneObject) {
    const Findings leaks = leaks_of({list_of_metric("preds of Precision"), list_of_metric("target of Precision"),
                                     list_of_metric("indexes of Precision")});
    ASSERT_EQ(leaks.size(), 1u);
    EXPECT_EQ(leaks[0].count, 120);
    EXPECT_EQ(leaks[0].fixes.at(1).code, "net.ap.preds.clear()\nnet.ap.target.clear()\nnet.ap.indexes.clear()");
}

TEST(ExplainAttributes, OfElementsAreOneFindingAboutTheirContainer) {
    const auto cells = [](const std::string& attribute) {
        return Path{{Kind::local, "cells"}, {Kind::index, "#"}, {Kind::attribute, attribute}};
    };
    const Findings leaks = leaks_of({cells("image of Cell"), cells("mask of Cell")});
    ASSERT_EQ(leaks.size(), 1u);
    EXPECT_EQ(leaks[0].title, "80 tensors retained by list `cells` (variable of main), elements 0 to 39");
    EXPECT_EQ(leaks[0].fixes.at(1).code, "cells.clear()");
    EXPECT_EQ(leaks[0].fixes.at(0).code,
              "element.image = element.image.detach().cpu()\nelement.mask = element.mask.detach().cpu()\n"
              "cells.append(element)")
        << "one element, stored once";
}

TEST(ExplainAttributes, RiseTogether) {
    const std::vector<Path> lists{list_of_metric("preds of Precision"), list_of_metric("target of Precision")};
    const Findings leaks = leaks_of(lists, 4);
    ASSERT_EQ(leaks.size(), 1u);
    ASSERT_TRUE(leaks[0].rises);
    EXPECT_EQ(leaks[0].rises->bytes, 2 * MiB);
    EXPECT_EQ(leaks_of(lists, 1, 2).size(), 1u) << "the first tensors of a list may be missed";
    EXPECT_EQ(leaks_of(lists, 1, 12).size(), 2u);
}

TEST(ExplainAttributes, OfOtherObjectsOrOfAVariableAreFindingsOfTheirOwn) {
    EXPECT_EQ(leaks_of({list_of_metric("preds of Precision"), list_of_metric("preds of Recall")}).size(), 2u);
    const auto list_of_variable = [](const std::string& attribute) {
        return Path{{Kind::local, "self"}, {Kind::attribute, attribute}, {Kind::index, "#"}};
    };
    EXPECT_EQ(leaks_of({list_of_variable("losses of Trainer"), list_of_variable("images of Trainer")}).size(), 2u);
}

}  // namespace
}  // namespace tidemark
