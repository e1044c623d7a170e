// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Diffs of fixes: exact for lines of a known form, none for any other line.
#include "storage/explain/suggested_change.h"

#include <gtest/gtest.h>

#include "storage/explain/explain.h"
#include "tests/unit/program_builder.h"

namespace tidemark::test {
namespace {

constexpr const char* file = "/home/anna/project/train.py";

/// A trace with the lines of one file from line 1 on, and a stack at one of them.
struct Source {
    Source(const std::vector<std::string>& lines, int32_t at) {
        int32_t number = 0;
        for (const std::string& line : lines) {
            trace.source_text.add(file, ++number, line);
        }
        stack = stack_at(at);
    }
    StackId stack_at(int32_t line) {
        const FrameId frame = trace.stacks.intern(Frame{trace.stacks.intern("main"), trace.stacks.intern(file), line});
        return trace.stacks.intern_stack(std::vector{frame});
    }

    Trace trace;
    StackId stack = 0;
};

std::string diff(int32_t line, const std::string& removed, const std::string& added) {
    return fmt::format("--- train.py\n+++ train.py\n@@ -{0} +{0} @@\n-{1}\n+{2}\n", line, removed, added);
}

TEST(SuggestedChange, AddsTheNumberAndNotTheTensor) {
    const auto changed = [](const std::string& line) {
        const Source source({"for batch in batches:", line}, 2);
        return add_value_diff(source.trace, source.stack, "item()");
    };
    EXPECT_EQ(changed("    total += loss"), diff(2, "    total += loss", "    total += loss.item()"));
    EXPECT_EQ(changed("\tself.total += self.loss"),
              diff(2, "\tself.total += self.loss", "\tself.total += self.loss.item()"));
    EXPECT_EQ(changed("sums['a'] += loss"), diff(2, "sums['a'] += loss", "sums['a'] += loss.item()"));
    EXPECT_EQ(changed("    total = total + loss"),
              diff(2, "    total = total + loss", "    total = total + loss.item()"));
    EXPECT_EQ(changed("total += f(model(x), y)[0]"),
              diff(2, "total += f(model(x), y)[0]", "total += f(model(x), y)[0].item()"));
    for (const char* other : {"    total += loss * 2", "    total += loss.detach()", "    total += f(x) + g(x)",
                              "    total += f(x", "    total += f(')')", "    total += loss  # sum", "total = loss",
                              "    total = sum + loss", "    total += loss.item()", "", "    if bad: total += loss",
                              "total += loss.", "total += 2", "total += -loss"}) {
        EXPECT_EQ(changed(other), "") << other;
    }
}

TEST(SuggestedChange, NamesTheFileFromTheFolderOfTheProgram) {
    Source source({"for batch in batches:", "    total += loss"}, 2);
    source.trace.stacks.intern(
        Frame{source.trace.stacks.intern("f"), source.trace.stacks.intern("/home/anna/models/net.py"), 3});
    source.trace.stacks.intern(Frame{source.trace.stacks.intern("f"), source.trace.stacks.intern("<string>"), 3});
    EXPECT_TRUE(add_value_diff(source.trace, source.stack, "item()")
                    .starts_with("--- project/train.py\n+++ project/train.py\n"));
}

TEST(SuggestedChange, AppendsTheValueWithoutItsGraph) {
    const std::vector<std::string> lines{"def main():",          "    outputs = []",          "    for x in data:",
                                         "        y = model(x)", "        outputs.append(y)", "def other():",
                                         "    outputs.append(z)"};
    Source source(lines, 4);
    EXPECT_EQ(append_value_diff(source.trace, source.stack, "outputs"),
              diff(5, "        outputs.append(y)", "        outputs.append(y.detach().cpu())"));
    EXPECT_EQ(append_value_diff(source.trace, source.stack, "others"), "");
    EXPECT_EQ(append_value_diff(source.trace, source.stack_at(70), "outputs"), "") << "not recorded";
    EXPECT_EQ(append_value_diff(source.trace, source.stack_at(7), "outputs"),
              diff(7, "    outputs.append(z)", "    outputs.append(z.detach().cpu())"));
    const Source two({"outputs.append(a)", "outputs.append(b)"}, 1);
    EXPECT_EQ(append_value_diff(two.trace, two.stack, "outputs"), "") << "which one is unknown";
    const Source call({"outputs.append(model(x))"}, 1);
    EXPECT_EQ(append_value_diff(call.trace, call.stack, "outputs"),
              diff(1, "outputs.append(model(x))", "outputs.append(model(x).detach().cpu())"));
    for (const char* other :
         {"outputs.append((x, y))", "outputs.append(x + y)", "outputs.append(x.detach())",
          "outputs.append(a), outputs.append(b)", "outputs.append(a) # a)", "outputs.append([x])"}) {
        const Source line({other}, 1);
        EXPECT_EQ(append_value_diff(line.trace, line.stack, "outputs"), "") << other;
    }
}

TEST(SuggestedChange, ReleasesTheGraph) {
    const auto changed = [](const std::vector<std::string>& lines) {
        return release_graph_diff(Source(lines, 1).trace);
    };
    EXPECT_EQ(changed({"loss = f(x)", "  scaler.scale(loss).backward(retain_graph=True)"}),
              diff(2, "  scaler.scale(loss).backward(retain_graph=True)", "  scaler.scale(loss).backward()"));
    EXPECT_EQ(changed({"a.backward(retain_graph=True)", "b.backward(retain_graph=True)"}), "")
        << "which one is unknown";
    EXPECT_EQ(changed({"a.backward(retain_graph=keep)"}), "");
    EXPECT_EQ(changed({"a.backward(gradient, retain_graph=True)"}), "");
    EXPECT_EQ(changed({"# a.backward(retain_graph=True)"}), "");
}

TEST(SuggestedChange, DisablesGradientsOnlyWhereNothingIsBackpropagated) {
    for (const bool is_backpropagated : {false, true}) {
        Program program;
        Trace& trace = program.run.trace;
        trace.source_text.add(file, 9, "for batch in batches:");
        trace.source_text.add(file, 10, "    output = model(batch)");
        const AllocationIndex a = program.run.alloc(MiB, program.run.line("validate"));
        const NodeIndex node = program.node("MulBackward0", {}, {a}, a, "validate");
        if (is_backpropagated) {
            program.runs(node);
        }
        const auto context = program.make_context();
        EXPECT_EQ(disable_gradients_diff(*context, context->device().allocations.stack[a], "torch.no_grad()"),
                  is_backpropagated ? ""
                                    : "--- train.py\n+++ train.py\n@@ -10 +10,2 @@\n-    output = model(batch)\n"
                                      "+    with torch.no_grad():\n+        output = model(batch)\n");
    }
}

TEST(SuggestedChange, PutsOnlyWholeStatementsIntoABlock) {
    for (const char* line : {"output = model(batch,", "output = model(batch) + 1", "output = model(batch)  # comment",
                             "if ready: output = model(batch)", "return model(batch)", "    f(output = model(batch))",
                             "output = [model(b) for b in (1, 2]", "output = model('text')"}) {
        Program program;
        program.run.trace.source_text.add(file, 9, "for batch in batches:");
        program.run.trace.source_text.add(file, 10, line);
        const AllocationIndex a = program.run.alloc(MiB, program.run.line("validate"));
        program.node("MulBackward0", {}, {a}, a, "validate");
        const auto context = program.make_context();
        EXPECT_EQ(disable_gradients_diff(*context, context->device().allocations.stack[a], "torch.no_grad()"), "")
            << line;
    }
}

TEST(SuggestedChange, PutsNoPartOfAStatementIntoABlock) {
    struct Around {
        const char *before, *after;
        bool is_whole;
    };
    for (const Around& around : {Around{"for batch in batches:", "    count += 1", true},
                                 {"", "", true},
                                 {"outputs = f(", ")", false},
                                 {"x = a +", "", false},
                                 {"x = 1", ".mean()", false}}) {
        Program program;
        SourceText& source = program.run.trace.source_text;
        source.add(file, 9, around.before);
        source.add(file, 10, "    outputs.append(model(batch))");
        source.add(file, 11, around.after);
        const AllocationIndex a = program.run.alloc(MiB, program.run.line("validate"));
        program.node("MulBackward0", {}, {a}, a, "validate");
        const auto context = program.make_context();
        const StackId stack = context->device().allocations.stack[a];
        EXPECT_EQ(disable_gradients_diff(*context, stack, "torch.no_grad()").empty(), !around.is_whole)
            << around.before;
    }
}

TEST(SuggestedChange, NamesTheVariableOfTheLine) {
    const auto variable = [](const std::vector<std::string>& lines, int32_t at) {
        const Source source(lines, at);
        return assigned_variable(source.trace, source.stack);
    };
    EXPECT_EQ(variable({"    state = cell(x, state)"}, 1), "state");
    EXPECT_EQ(variable({"self.state = cell(x)"}, 1), "self.state");
    EXPECT_EQ(variable({"estimate = [", "    e - p for e, p in pairs", "]"}, 2), "estimate");
    EXPECT_EQ(variable({"estimate = f(x)", "    print(x)"}, 2), "");
    EXPECT_EQ(variable({"if a == b: f(x = 3)"}, 1), "");
    EXPECT_EQ(variable({"outputs.append(x)"}, 1), "");
    EXPECT_EQ(variable({"self.states[name] = y"}, 1), "self.states[name]");
    EXPECT_EQ(variable({"self.states[name].lerp_(new, 0.1)"}, 1), "self.states[name]");
    EXPECT_EQ(variable({"torch.relu_(x)"}, 1), "");
    EXPECT_EQ(variable({"f(x)[0] = y"}, 1), "") << "may be another element each time";
}

TEST(SuggestedChange, AForgedFileNameMakesNoDiff) {
    Trace trace;
    const std::string forged = "train.py\n+import os.py";
    trace.source_text.add(forged, 1, "a.backward(retain_graph=True)");
    EXPECT_EQ(release_graph_diff(trace), "");
}

TEST(SuggestedChange, AFindingHasTheSourceOfItsLine) {
    RunBuilder run;
    run.segment(1 << 30);
    for (int32_t number = 5; number <= 14; ++number) {
        run.trace.source_text.add(file, number, fmt::format("line {}", number));
    }
    for (int i = 0; i < 20; ++i) {
        run.free(run.alloc(4 * MiB, run.line("forward", "/home/anna/project/model.py")));
        run.alloc(2 * MiB, run.line("main"));
    }
    Progress progress;
    const Explanation explanation = explain(*run.make_context(), Words(Language::english), progress);
    const SourceExcerpt& source = explanation.findings.front().source;
    EXPECT_EQ(source.file, file);
    EXPECT_EQ(source.line, 10);
    ASSERT_EQ(source.lines.size(), 5u);
    EXPECT_EQ(source.lines.front(), (SourceLine{8, "line 8"}));
}

}  // namespace
}  // namespace tidemark::test
