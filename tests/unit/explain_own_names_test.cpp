// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Fixes use the names that the program has for its objects, and change only what is the program's own.
#include <gtest/gtest.h>

#include "tests/unit/explained.h"
#include "tests/unit/failing_program.h"
#include "tests/unit/program_builder.h"

namespace tidemark::test {
namespace {

using Kind = PathLinkKind;

/// A function of the program allocates 1 MiB in each of 30 steps. "#" in a path: the number of the step.
struct Growth30 : Program {
    void grow(const std::vector<PathLink>& path, const std::string& line = "forward") {
        paths_.push_back({path, line});
    }
    /// Adds a stack that proves the class of a library.
    void add_method(const std::string& file, const std::string& function) {
        stack_of(run.trace.stacks, {{packages + file, function}, {own, "main"}});
    }
    void add_own_method(const std::string& function) { stack_of(run.trace.stacks, {{own, function}}); }
    PathLink link(PathLinkKind kind, const std::string& name, const std::string& function = "") {
        return {kind, graph.text(name), function.empty() ? 0 : graph.text(function), 0, 0};
    }

    Explanation explanation() {
        for (int i = 0; i < 30; ++i) {
            const AllocationIndex work = run.alloc(4 * MiB, run.line("train"));
            for (const auto& [path, line] : paths_) {
                const AllocationIndex kept = run.alloc(MiB, run.line(line));
                std::vector<PathLink> links = path;
                for (PathLink& l : links) {
                    l.name = graph.tables.texts[l.name] == "#" ? graph.text(std::to_string(i)) : l.name;
                }
                graph.tables.referrers.push_back({0, no_node, memory(kept), links});
            }
            run.free(work);
            run.step();
        }
        return explained(*make_context());
    }

private:
    std::vector<std::pair<std::vector<PathLink>, std::string>> paths_;
};

TEST(ExplainOwnNames, AMetricIsResetByItsOutermostObject) {
    Growth30 program;
    program.add_method("torchmetrics/classification/auroc.py", "BinaryAUROC.update");
    program.add_method("torchmetrics/collections.py", "MetricCollection.update");
    program.grow({program.link(Kind::local, "stats", "main"), program.link(Kind::attribute, "quality of Stats"),
                  program.link(Kind::attribute, "auc of MetricCollection"),
                  program.link(Kind::attribute, "preds of BinaryAUROC"), program.link(Kind::index, "#")});
    const Finding finding = program.explanation().findings.front();
    ASSERT_EQ(finding.fixes.size(), 1u) << "the program does not fill the list of the metric: "
                                        << finding.fixes[1].code;
    EXPECT_EQ(finding.fixes[0].code, "stats.quality.reset()\n# or\nBinaryAUROC(..., compute_on_cpu=True)");
}

TEST(ExplainOwnNames, AnEntryIsRemovedByTheKeyOfTheProgram) {
    const auto code_with = [](const std::string& line) {
        Growth30 program;
        program.run.trace.source_text.add(own, 14, line);
        program.add_own_method("Service.open");
        program.grow({program.link(Kind::local, "service", "main"), program.link(Kind::attribute, "talks of Service"),
                      program.link(Kind::item, "#")});
        return program.explanation().findings.at(0).fixes.at(1).code;
    };
    EXPECT_EQ(code_with("        self.talks[number] = Talk(x)"), "service.talks.pop(number, None)");
    EXPECT_EQ(code_with("        self.talks[hash(x)] = Talk(x)"), "service.talks.pop(key, None)");
    EXPECT_EQ(code_with("        talks = {}"), "service.talks.pop(key, None)");
}

TEST(ExplainOwnNames, LightningsOutputsAreClearedInTheMethodOfTheProgram) {
    Growth30 program;
    program.run.trace.source_text.add(own, 45, "    def on_validation_epoch_end(self):");
    program.add_own_method("Segmenter.validation_step");
    const StackId stack =
        stack_of(program.run.trace.stacks,
                 {{own, "Segmenter.validation_step"}, {packages + "lightning/loops/evaluation_loop.py", "run"}});
    for (int i = 0; i < 30; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("train"));
        const AllocationIndex kept = program.run.alloc(MiB, stack);
        program.graph.tables.referrers.push_back(
            {0,
             no_node,
             Program::memory(kept),
             {program.link(Kind::local, "model", "main"), program.link(Kind::attribute, "scores of Segmenter"),
              program.link(Kind::index, std::to_string(i))}});
        program.run.free(work);
        program.run.step();
    }
    const Finding finding = explained(*program.make_context()).findings.front();
    EXPECT_EQ(finding.fixes.at(0).code, "self.scores.clear()  # last line of on_validation_epoch_end(), train.py:45");
}

TEST(ExplainOwnNames, OnlyTensorsAreDetached) {
    const auto code_for = [](const std::vector<std::pair<PathLinkKind, std::string>>& rest) {
        Growth30 program;
        std::vector<PathLink> path{program.link(Kind::global, "kept"), program.link(Kind::index, "#")};
        for (const auto& [kind, name] : rest) {
            path.push_back(program.link(kind, name));
        }
        program.grow(path);
        return program.explanation().findings.front().fixes.front().code;
    };
    EXPECT_EQ(code_for({}), "kept.append(tensor.detach().cpu())");
    EXPECT_EQ(code_for({{Kind::item, "'scores'"}}),
              "element['scores'] = element['scores'].detach().cpu()\nkept.append(element)");
    EXPECT_EQ(code_for({{Kind::attribute, "image of Sample"}}),
              "element.image = element.image.detach().cpu()\nkept.append(element)");
    EXPECT_EQ(code_for({{Kind::attribute, "_result of Future"}}), "") << "it is private";
    EXPECT_EQ(code_for({{Kind::index, "0"}}), "") << "tuples cannot be changed";
    EXPECT_EQ(code_for({{Kind::attribute, "cache of Talk"}, {Kind::attribute, "keys of Cache"}}), "");
}

TEST(ExplainOwnNames, PartsOfElementsFromOneLineAreOneFinding) {
    Growth30 program;
    for (const char* attribute : {"tokens of Talk", "cache of Talk"}) {
        program.grow({program.link(Kind::global, "talks"), program.link(Kind::item, "#"),
                      program.link(Kind::attribute, attribute)});
    }
    const Explanation explanation = program.explanation();
    EXPECT_EQ(leaks_of(explanation), "growing-container");
    EXPECT_EQ(explanation.findings.front().count, 60);
}

/// Returns the last paragraph about tensors of train.py:10 in the list `rows` of an object, with these lines around it.
std::string text_about_rows(const std::vector<std::pair<int32_t, std::string>>& lines) {
    Growth30 program;
    for (const auto& [number, text] : lines) {
        program.run.trace.source_text.add(own, number, text);
    }
    program.add_own_method("Tap.__call__");
    program.grow({program.link(Kind::local, "tap", "main"), program.link(Kind::attribute, "rows of Tap"),
                  program.link(Kind::index, "#")});
    return program.explanation().findings.at(0).text.back();
}

TEST(ExplainOwnNames, TheLineThatStoresTensorsIsNamed) {
    using testing::HasSubstr;
    using testing::Not;
    EXPECT_EQ(text_about_rows({{10, "    x = model(x)"}, {14, "        self.rows[name].append(x)"}}),
              "train.py:14 stores them: `self.rows[name].append(x)`.");
    EXPECT_EQ(text_about_rows({{14, "self.rows[key(step)] = x"}}),
              "train.py:14 stores them: `self.rows[key(step)] = x`.");
    const auto stores = HasSubstr("stores them");
    EXPECT_THAT(text_about_rows({{14, "tap.rows.append(x)"}, {15, "tap.rows.append(y)"}}), Not(stores)) << "which one?";
    EXPECT_THAT(text_about_rows({{10, "tap.rows.append(model(x))"}}), Not(stores)) << "it is the finding's line";
    for (const char* other :
         {"rows.append(x)", "self.arrows.append(x)", "self.rows_of.append(x)", "# self.rows.append(x)",
          "self.rows.clear()", "if self.rows[0] == x:", "n = len(self.rows)", "self.rows[", "self.rows = []"}) {
        EXPECT_THAT(text_about_rows({{14, other}}), Not(stores)) << other;
    }
}

TEST(ExplainOwnNames, TheLineThatRemovesTensorsIsNamed) {
    using testing::HasSubstr;
    using testing::Not;
    EXPECT_EQ(text_about_rows({{14, "self.rows[key] = x"}, {17, "    _, old = self.rows.popitem(last=False)"}}),
              "train.py:17 removes from it: `_, old = self.rows.popitem(last=False)`. Check when that line runs, and "
              "whether there is a limit that was not reached yet.");
    const auto removes = HasSubstr("removes from it");
    EXPECT_THAT(text_about_rows({{14, "tap.rows.append(x)"}, {15, "del tap.rows[0]"}}), removes);
    EXPECT_THAT(text_about_rows({{10, "tap.rows.append(x)"}, {15, "tap.rows.popleft()"}}), removes);
    for (const char* other : {"rows.popleft()", "self.arrows.pop()", "print(del_, self.rows[0])", "x = self.rows[0]"}) {
        EXPECT_THAT(text_about_rows({{14, "self.rows.append(x)"}, {15, other}}), Not(removes)) << other;
    }
}

TEST(ExplainOwnNames, AMetricInACycleThatAFunctionLeftIsNamedByItsClass) {
    Growth30 program;
    program.add_method("torchmetrics/classification/auroc.py", "BinaryAUROC.update");
    program.grow({program.link(Kind::cycle, "BinaryAUROC.update → method → BinaryAUROC → BinaryAUROC.update"),
                  program.link(Kind::attribute, "preds of BinaryAUROC"), program.link(Kind::index, "#")});
    const Explanation explanation = program.explanation();
    ASSERT_FALSE(explanation.findings.empty());
    const Finding& finding = explanation.findings.front();
    EXPECT_EQ(finding.referrer, "list `preds` of class BinaryAUROC in a reference cycle, elements 0 to 29");
    ASSERT_FALSE(finding.fixes.empty());
    EXPECT_EQ(finding.fixes.front().code, "metric.reset()\n# or\nBinaryAUROC(..., compute_on_cpu=True)");
}

TEST(ExplainOwnNames, AFunctionThatCallsItselfIsOneCycle) {
    const std::string cycle = "loss.<locals>.level → loss.<locals>.level";
    Growth30 program;
    program.grow({program.link(Kind::cycle, cycle), program.link(Kind::closure, "prediction", "loss.<locals>.level")});
    program.grow({program.link(Kind::cycle, cycle), program.link(Kind::closure, "target", "loss.<locals>.level")},
                 "load");
    program.explanation();
    program.graph.tables.scans = {{program.run.now() - 1, ScanReason::growing_sites, 10, 100, 20},
                                  {program.run.now(), ScanReason::end, 10, 100, 20}};
    const Explanation explanation =
        explained(*program.run.make_context(std::make_shared<const GraphTables>(program.graph.tables)));
    ASSERT_EQ(leaks_of(explanation), "garbage-cycles");
    const Finding& finding = explanation.findings.front();
    EXPECT_EQ(finding.title, "60 tensors stay in reference cycles: the garbage collector does not run");
    EXPECT_EQ(finding.referrer, "reference cycle `" + cycle + "`");
    EXPECT_EQ(finding.fixes.front().code, "result = level(...)\nlevel = None");
}

TEST(ExplainOwnNames, ValuesOfAnEvaluationAreKeptInTheLineThatAppendsThem) {
    Program program;
    program.run.trace.source_text.add(own, 9, "    for x in batches:");
    program.run.trace.source_text.add(own, 10, "        scores.append(model(x))");
    for (int i = 0; i < 30; ++i) {
        const AllocationIndex work = program.run.alloc(4 * MiB, program.run.line("train"));
        const AllocationIndex saved = program.run.alloc(MiB, program.run.line("forward"));
        const AllocationIndex output = program.run.alloc(512, program.run.line("evaluate"));
        const NodeIndex root = program.node("MmBackward0", {}, {saved}, output, "evaluate");
        program.graph.tables.referrers.push_back({0,
                                                  root,
                                                  Program::memory(output),
                                                  {{Kind::global, program.graph.text("scores"), 0, 0, 0},
                                                   {Kind::index, program.graph.text(std::to_string(i)), 0, 0, 0}}});
        program.run.free(work);
        program.run.step();
    }
    const Finding finding = explained(*program.make_context()).findings.front();
    ASSERT_EQ(finding.kind, FindingKind::eval_without_no_grad);
    EXPECT_TRUE(finding.fixes.back().diff.ends_with("+        scores.append(model(x).detach().cpu())\n"))
        << finding.fixes.back().diff;
}

TEST(ExplainOwnNames, GrowthBeginsWithItsFirstMemory) {
    Growth30 program;
    program.grow({program.link(Kind::global, "kept"), program.link(Kind::index, "#")});
    const Finding finding = program.explanation().findings.front();
    EXPECT_EQ(finding.since_iteration, 0);
    EXPECT_GT(finding.since, 0) << "the first step begins with the recording";
}

}  // namespace
}  // namespace tidemark::test
