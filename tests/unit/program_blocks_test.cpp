// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Blocks of the program's recorded lines, by their indentation, and lines that are added to them.
#include "storage/explain/program_blocks.h"

#include <gtest/gtest.h>

#include "storage/explain/python_code.h"
#include "tests/unit/source_builder.h"

namespace tidemark::test {
namespace {

const std::vector<std::string> lines{
    "class Net(nn.Module):",         // 1
    "    def forward(",              // 2
    "        self, x",               // 3
    "    ):",                        // 4
    "        for layer in layers:",  // 5
    "            # not indented:",   // 6
    "            x = layer(x)",      // 7
    "",                              // 8
    "        return x",              // 9
    "",                              // 10
    "def main():",                   // 11
    "    while True:",               // 12
    "        if ready:",             // 13
    "            break",             // 14
    "    train(",                    // 15
    "        model)",                // 16
};

TEST(ProgramBlocks, AreFoundByTheirIndentation) {
    const Source source(lines);
    EXPECT_EQ(function_around(source.trace, source.place(7))->number, 2);
    EXPECT_EQ(loop_around(source.trace, source.place(7))->number, 5);
    EXPECT_FALSE(loop_around(source.trace, source.place(9)));
    EXPECT_EQ(class_around(source.trace, source.place(7)), "Net");
    EXPECT_EQ(loop_around(source.trace, source.place(14))->number, 12);
    EXPECT_EQ(class_around(source.trace, source.place(14)), "");
    EXPECT_FALSE(function_around(source.trace, source.place(11)));
    EXPECT_EQ(definitions_of(source.trace, "forward").size(), 1u);
    EXPECT_EQ(lines_of_block(source.trace, source.place(5)).size(), 1u);
    EXPECT_EQ(name_of_function("    async def run(self):"), "run");
    EXPECT_EQ(name_of_function("    run(self)"), "");
}

TEST(ProgramBlocks, EndWhereNothingWasRecorded) {
    Source source({});
    source.trace.source_text.add(source_file, 3, "    for x in data:");
    source.trace.source_text.add(source_file, 5, "        f(x)");
    EXPECT_FALSE(loop_around(source.trace, source.place(5)));
}

TEST(ProgramBlocks, GetLinesBeforeTheyAreLeft) {
    const Source source(lines);
    EXPECT_EQ(append_to_block_diff(source.trace, source.place(2), "self.clear()"),
              diff_before(9, "        self.clear()", "        return x"));
    EXPECT_EQ(append_to_block_diff(source.trace, source.place(2), "del x", {"x"}), "") << "it is returned";
    EXPECT_EQ(append_to_block_diff(source.trace, source.place(11), "clear()"),
              diff_after(16, "        model)", "    clear()"));
    const Source early({"def f():", "    if a:", "        return 1", "    g()"});
    EXPECT_EQ(append_to_block_diff(early.trace, early.place(1), "clear()"), "");
}

TEST(PythonCode, SplitsArguments) {
    using namespace python_code;
    EXPECT_EQ(split_arguments("a, f(b, c), 'x, y', d=[1, 2],"),
              (std::vector<std::string_view>{"a", "f(b, c)", "'x, y'", "d=[1, 2]"}));
    EXPECT_TRUE(split_arguments("a, (b").empty());
    EXPECT_EQ(length_of_brackets("(')', \"(\")x"), 10u);
    EXPECT_TRUE(is_operand("outputs[\"features\"].float()"));
    EXPECT_FALSE(is_operand("a + b"));
    EXPECT_EQ(find_name("self.losses, loss", "loss"), 13u);
    EXPECT_EQ(find_begin_of_name("do_reset(x); reset(y)", "reset("), 13u);
}

}  // namespace
}  // namespace tidemark::test
