// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The line that stores tensors in a container, changed so that it stores copies.
#include "storage/explain/stored_copies.h"

#include <gtest/gtest.h>

#include "storage/explain/registered_call.h"
#include "tests/unit/program_builder.h"
#include "tests/unit/source_builder.h"

namespace tidemark::test {
namespace {

using Kind = PathLinkKind;

struct Link {
    Kind kind;
    std::string name;
};

/// A program with the source, and tensors behind the element of the variable `kept`, by these further links.
struct Stored : Program {
    Stored(const std::vector<std::string>& lines, const std::vector<std::vector<Link>>& parts) {
        add_source(run.trace, lines);
        const StackId stack = run.line("main", source_file);
        for (const std::vector<Link>& part : parts) {
            std::vector<PathLink> links{
                {Kind::local, graph.text("kept"), graph.text("main"), graph.text(source_file), 2}};
            for (const Link& link : part) {
                links.push_back({link.kind, graph.text(link.name), 0, 0, 0});
            }
            graph.tables.referrers.push_back({0, no_node, memory(run.alloc(MiB, stack)), links});
        }
    }
    std::optional<StoringLine> line() {
        const auto context = make_context();
        const std::vector<PathLink>& path = context->graph()->tables().referrers.front().links;
        auto found = storing_line(*context, {path, 1, 1}, GpuLibrary::pytorch);
        if (found) {  // its texts are those of the context
            found->place = {};
            found->value = {};
        }
        return found;
    }
};

const std::vector<Link> element{{Kind::index, "0"}};

TEST(StoredCopies, CopyTheTensorInTheLine) {
    const auto changed = [](const std::string& line) { return Stored({"def main():", line}, {element}).line()->diff; };
    EXPECT_EQ(changed("    kept.append(y)"), diff(2, "    kept.append(y)", "    kept.append(y.detach().cpu())"));
    EXPECT_EQ(changed("    kept.insert(0, y * 2)"),
              diff(2, "    kept.insert(0, y * 2)", "    kept.insert(0, (y * 2).detach().cpu())"));
    EXPECT_EQ(changed("    if x: kept.append(f(\"a\").detach())  # last"),
              diff(2, "    if x: kept.append(f(\"a\").detach())  # last",
                   "    if x: kept.append(f(\"a\").detach().cpu())  # last"));
    EXPECT_EQ(changed("    kept[name] = y"), diff(2, "    kept[name] = y", "    kept[name] = y.detach().cpu()"));
    for (const char* other : {"    kept.extend(y)", "    kept.append(y.cpu())", "    kept.append(y", "    kept += [y]",
                              "    kept.append([x for x in y])", "    kept.append((x, y))"}) {
        EXPECT_EQ(changed(other), "") << other;
    }
}

TEST(StoredCopies, CopyEachPartThatIsATensor) {
    const std::vector<std::vector<Link>> of_tuple{{{Kind::index, "0"}, {Kind::index, "1"}},
                                                  {{Kind::index, "3"}, {Kind::index, "2"}}};
    EXPECT_EQ(Stored({"def main():", "    kept.put((step, x, f(y)))"}, of_tuple).line()->diff,
              diff(2, "    kept.put((step, x, f(y)))", "    kept.put((step, x.detach().cpu(), f(y).detach().cpu()))"));
    const std::vector<std::vector<Link>> of_dict{{{Kind::index, "0"}, {Kind::item, "'x'"}}};
    EXPECT_EQ(Stored({"def main():", "    kept.append({\"n\": 1, \"x\": x})"}, of_dict).line()->diff,
              diff(2, "    kept.append({\"n\": 1, \"x\": x})", "    kept.append({\"n\": 1, \"x\": x.detach().cpu()})"));
    EXPECT_EQ(Stored({"def main():", "    kept.append(output)"}, of_dict).line()->diff,
              diff(2, "    kept.append(output)", "    kept.append({**output, \"x\": output[\"x\"].detach().cpu()})"));
    const std::vector<std::vector<Link>> of_object{{{Kind::index, "0"}, {Kind::attribute, "loss of Step"}}};
    EXPECT_EQ(Stored({"def main():", "    kept.append(Step(n=1, loss=loss))"}, of_object).line()->diff,
              diff(2, "    kept.append(Step(n=1, loss=loss))", "    kept.append(Step(n=1, loss=loss.detach().cpu()))"));
    const auto unknown = Stored({"def main():", "    kept.append(step)"}, of_object).line();
    EXPECT_EQ(unknown->diff, "");
    EXPECT_EQ(unknown->parts, std::vector<std::string>{"step.loss"});
}

TEST(StoredCopies, CopyADictOfTensors) {
    std::vector<std::vector<Link>> parts;
    for (const char* name : {"'a'", "'b'", "'c'", "'d'"}) {
        parts.push_back({{Kind::index, "0"}, {Kind::item, name}});
    }
    EXPECT_EQ(Stored({"def main():", "    kept.append(weights)"}, parts).line()->diff,
              diff(2, "    kept.append(weights)",
                   "    kept.append({name: tensor.detach().cpu() for name, tensor in weights.items()})"));
}

TEST(StoredCopies, NeedOneLineOfTheFunction) {
    EXPECT_FALSE(Stored({"def main():", "    kept.append(x)", "    kept.append(y)"}, {element}).line());
    EXPECT_FALSE(Stored({"def main():", "    other.append(x)"}, {element}).line());
    EXPECT_TRUE(Stored({"def main():", "    kept.append(x)", "    kept.append(None)", "def f():", "    kept.append(y)"},
                       {element})
                    .line());
}

TEST(RegisteredCall, CopiesTheArgumentOfAPartial) {
    const auto call = [](const std::string& line, const std::string& link) {
        Stored program({"def main():", line}, {{{Kind::attribute, link}}});
        const auto context = program.make_context();
        const auto found = registered_call(*context, context->graph()->tables().referrers.front().links);
        return found ? found->diff : "none";
    };
    EXPECT_EQ(
        call("    atexit.register(partial(draw, 1, x))", "argument 1 of partial(draw)"),
        diff(2, "    atexit.register(partial(draw, 1, x))", "    atexit.register(partial(draw, 1, x.detach().cpu()))"));
    EXPECT_EQ(call("    add(partial(self.draw, mask=x))", "argument mask of partial(method)"),
              diff(2, "    add(partial(self.draw, mask=x))", "    add(partial(self.draw, mask=x.detach().cpu()))"));
    EXPECT_EQ(call("    add(partial(self.draw, *x))", "argument 3 of partial(method)"), "");
    EXPECT_EQ(call("    add(partial(other, x))", "argument 0 of partial(draw)"), "none");
    EXPECT_EQ(call("    add(partial(draw, x))", "kept of Trainer"), "none");
}

}  // namespace
}  // namespace tidemark::test
