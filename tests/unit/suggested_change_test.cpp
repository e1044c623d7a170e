// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Diffs of fixes: exact for lines of a known form, none for any other line.
#include "storage/explain/suggested_change.h"

#include <gtest/gtest.h>

#include "storage/explain/explain.h"
#include "tests/unit/program_builder.h"
#include "tests/unit/source_builder.h"

namespace tidemark::test {
namespace {

constexpr const char* file = source_file;

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
                              "    total += f(x", "    total += f('", "    total += loss  # sum", "total = loss",
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

TEST(SuggestedChange, LimitsAQueue) {
    const auto changed = [](const std::string& line) {
        const Source source({line});
        return limit_queue_diff(source.trace, source.place(1), 4);
    };
    EXPECT_EQ(changed("  self.jobs = queue.Queue()"),
              diff(1, "  self.jobs = queue.Queue()", "  self.jobs = queue.Queue(maxsize=4)"));
    EXPECT_EQ(changed("jobs = Queue()"), diff(1, "jobs = Queue()", "jobs = Queue(maxsize=4)"));
    for (const char* other : {"jobs = queue.Queue(maxsize=2)", "jobs = SimpleQueue()", "a, b = Queue(), Queue()"}) {
        EXPECT_EQ(changed(other), "") << other;
    }
}

TEST(SuggestedChange, LoadsInHostMemory) {
    const auto changed = [](const std::string& line) {
        const Source source({line});
        return load_on_host_diff(source.trace, source.stack);
    };
    EXPECT_EQ(changed("    ckpt = torch.load(folder / f'{name}.pt')[\"ema\"]"),
              diff(1, "    ckpt = torch.load(folder / f'{name}.pt')[\"ema\"]",
                   "    ckpt = torch.load(folder / f'{name}.pt', map_location=\"cpu\")[\"ema\"]"));
    for (const char* other : {"a = torch.load(path, map_location=device)", "a = torch.load(", "a = load(path)"}) {
        EXPECT_EQ(changed(other), "") << other;
    }
}

TEST(SuggestedChange, LimitsACache) {
    const auto changed = [](const std::string& decorator) {
        return limit_cache_diff(Source({decorator, "def mask(length):", "    return f(length)"}).trace, "mask", 16);
    };
    EXPECT_EQ(changed("@functools.lru_cache(maxsize=2048)"),
              diff(1, "@functools.lru_cache(maxsize=2048)", "@functools.lru_cache(maxsize=16)"));
    EXPECT_EQ(changed("@lru_cache"), diff(1, "@lru_cache", "@lru_cache(maxsize=16)"));
    EXPECT_EQ(changed("@functools.cache"), diff(1, "@functools.cache", "@functools.lru_cache(maxsize=16)"));
    for (const char* other : {"@cache", "@own.cached", "x = 1", "@lru_cache  # a cache", ""}) {
        EXPECT_EQ(changed(other), "") << other;
    }
}

TEST(SuggestedChange, FreezesAModule) {
    EXPECT_EQ(freeze_diff(Source({"for module in parts:", "    module.requires_grad = False"}).trace),
              diff(2, "    module.requires_grad = False", "    module.requires_grad_(False)"));
    EXPECT_EQ(freeze_diff(Source({"requires_grad = False"}).trace), "");
    EXPECT_EQ(freeze_diff(Source({"a.requires_grad = False", "b.requires_grad = False"}).trace), "");
}

TEST(SuggestedChange, ClearsTheNameOfARecursiveFunction) {
    const std::vector<std::string> lines{"def loss(x):", "    def walk(level):", "        return walk(level + 1)",
                                         "    return walk(0)"};
    EXPECT_EQ(clear_function_diff(Source(lines).trace, "walk"),
              "--- train.py\n+++ train.py\n@@ -4 +4,3 @@\n-    return walk(0)\n+    result = walk(0)\n"
              "+    walk = None\n+    return result\n");
    EXPECT_EQ(clear_function_diff(Source(lines).trace, "loss"), "") << "not nested";
    EXPECT_EQ(clear_function_diff(Source({"def f():", "    def g():", "        g()", "    g()"}).trace, "g"), "");
}

TEST(SuggestedChange, DetachesAStateBeforeItIsUsed) {
    const auto changed = [](const std::string& first) {
        const Source source({first, "for x in data:", "    state = cell(x, state)"}, 3);
        return detach_before_diff(source.trace, source.stack, "state");
    };
    EXPECT_EQ(changed("state = torch.zeros(4)"),
              diff_before(3, "    state = state.detach()", "    state = cell(x, state)"));
    EXPECT_EQ(changed("state = None"), "");
    EXPECT_EQ(changed("states = torch.zeros(4)"), "");
}

TEST(SuggestedChange, ClearsTheGradientsOfADerivative) {
    const std::vector<std::string> lines{"def probe(net):", "    loss.backward(create_graph=True)",
                                         "    grads = [p.grad for p in params]", "    return sum(grads).item()"};
    const Source source(lines);
    EXPECT_EQ(backward_with_graph(source.trace)->number, 2);
    EXPECT_EQ(clear_gradients_diff(source.trace),
              "--- train.py\n+++ train.py\n@@ -4 +4,3 @@\n-    return sum(grads).item()\n+    for parameter in "
              "params:\n+        parameter.grad = None\n"
              "+    return sum(grads).item()\n");
    EXPECT_EQ(clear_gradients_diff(Source({"loss.backward(create_graph=True)"}).trace), "");
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
                             "output = [model(b) for b in (1, 2]", "output = model('text"}) {
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
