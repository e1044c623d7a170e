// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/pickle_machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/pickle_builder.h"

namespace tidemark {
namespace {

using test::contains;
using test::PickleBuilder;

/// Stores containers as lists of values and prints values like Python's repr().
class TreeConsumer : public PickleConsumer {
public:
    explicit TreeConsumer(TextPool& texts) : texts_(texts) {}

    Result<PickleValue> make_dict() override { return make('{'); }
    Result<PickleValue> make_list() override { return make('['); }
    Result<PickleValue> make_tuple(std::span<const PickleValue> items) override {
        const PickleValue made = make('(');
        nodes_.back().items.assign(items.begin(), items.end());
        return made;
    }
    Status set_items(PickleValue dict, std::span<const PickleValue> items) override { return add(dict, '{', items); }
    Status append(PickleValue list, std::span<const PickleValue> items) override { return add(list, '[', items); }

    std::string show(PickleValue value) const {
        switch (value.kind) {
            case PickleKind::none: return "None";
            case PickleKind::boolean: return value.integer ? "True" : "False";
            case PickleKind::integer: return fmt::format("{}", value.integer);
            case PickleKind::large_unsigned: return fmt::format("{}", value.large_unsigned);
            case PickleKind::real: return fmt::format("{}", value.real);
            case PickleKind::text: return fmt::format("'{}'", texts_[value.text]);
            case PickleKind::bytes: return "bytes";
            default: return show_container(nodes_[value.object]);
        }
    }

private:
    struct Node {
        char open;
        std::vector<PickleValue> items;
    };

    PickleValue make(char open) {
        nodes_.push_back({open, {}});
        return PickleValue::of_object(static_cast<uint32_t>(nodes_.size() - 1));
    }
    Status add(PickleValue target, char open, std::span<const PickleValue> items) {
        if (target.kind != PickleKind::object || nodes_[target.object].open != open) {
            return input_error("That is the wrong container.");
        }
        auto& all = nodes_[target.object].items;
        all.insert(all.end(), items.begin(), items.end());
        return {};
    }
    std::string show_container(const Node& node) const {
        std::string shown(1, node.open);
        for (size_t i = 0; i < node.items.size(); ++i) {
            const bool after_key = node.open == '{' && i % 2 == 1;
            shown += (i == 0 ? "" : after_key ? ": " : ", ") + show(node.items[i]);
        }
        return shown + (node.open == '{' ? "}" : node.open == '[' ? "]" : ")");
    }

    TextPool& texts_;
    std::vector<Node> nodes_;
};

/// Returns the pickle's value as text, or the error message.
std::string run(const std::vector<uint8_t>& bytes) {
    auto source = ByteSource::from_memory(bytes);
    if (!source) {
        return source.error().sentence.english();
    }
    TextPool texts;
    TreeConsumer consumer(texts);
    Progress progress;
    PickleMachine machine(**source, texts, consumer, progress, "test");
    const auto value = machine.run();
    return value ? consumer.show(*value) : value.error().sentence.english();
}

std::string run(const PickleBuilder& builder) { return run(builder.done()); }

/// Runs a pickle of one opcode followed by these bytes.
std::string run_op(uint8_t code, std::string_view bytes = {}) { return run(PickleBuilder(4).op(code).bytes(bytes)); }

std::string_view raw(const char* bytes, size_t size) { return {bytes, size}; }

TEST(PickleMachine, ReadsConstants) {
    EXPECT_EQ(run_op(opcode::none), "None");
    EXPECT_EQ(run_op(opcode::newtrue), "True");
    EXPECT_EQ(run_op(opcode::newfalse), "False");
}

TEST(PickleMachine, ReadsIntegers) {
    EXPECT_EQ(run_op(opcode::binint1, "\xff"), "255");
    EXPECT_EQ(run_op(opcode::binint2, "\xff\xff"), "65535");
    EXPECT_EQ(run_op(opcode::binint, "\xfe\xff\xff\xff"), "-2");
    EXPECT_EQ(run_op(opcode::int_text, "-12\n"), "-12");
    EXPECT_EQ(run_op(opcode::int_text, "01\n"), "True");
    EXPECT_EQ(run_op(opcode::int_text, "00\n"), "False");
    EXPECT_EQ(run_op(opcode::long_text, "140311883939840L\n"), "140311883939840");
    EXPECT_EQ(run_op(opcode::long_text, "18446744073709551615L\n"), "18446744073709551615");
    EXPECT_TRUE(contains(run_op(opcode::long_text, "18446744073709551616L\n"), "no number of 64 bits"));
    EXPECT_TRUE(contains(run_op(opcode::int_text, "twelve\n"), "\"twelve\" at byte 2"));
}

TEST(PickleMachine, ReadsLongs) {
    EXPECT_EQ(run_op(opcode::long1, raw("\0", 1)), "0");
    EXPECT_EQ(run_op(opcode::long1, "\1\xff"), "-1");
    EXPECT_EQ(run_op(opcode::long1, raw("\2\xff\0", 3)), "255");
    EXPECT_EQ(run_op(opcode::long1, "\x08\xff\xff\xff\xff\xff\xff\xff\x7f"), "9223372036854775807");
    EXPECT_EQ(run_op(opcode::long1, raw("\x08\0\0\0\0\0\0\0\x80", 9)), "-9223372036854775808");
    EXPECT_EQ(run_op(opcode::long1, raw("\x09\xff\xff\xff\xff\xff\xff\xff\xff\0", 10)), "18446744073709551615");
    EXPECT_EQ(run_op(opcode::long1, raw("\x09\1\0\0\0\0\0\0\0\0", 10)), "1");
    EXPECT_EQ(run_op(opcode::long4, raw("\2\0\0\0\xff\0", 6)), "255");
    EXPECT_TRUE(contains(run_op(opcode::long1, raw("\x09\0\0\0\0\0\0\0\0\1", 10)), "does not fit 64 bits"));
    EXPECT_TRUE(contains(run_op(opcode::long1, "\x0a"), "A number of 10 bytes at byte 2"));
    EXPECT_TRUE(contains(run_op(opcode::long4, "\xff\xff\xff\xff"), "A number of 4294967295 bytes"));
}

TEST(PickleMachine, ReadsReals) {
    EXPECT_EQ(run(PickleBuilder().real(-0.5)), fmt::format("{}", -0.5));
    EXPECT_EQ(run_op(opcode::float_text, "1.25\n"), "1.25");
    EXPECT_TRUE(contains(run_op(opcode::float_text, "1.25x\n"), "is no number"));
}

TEST(PickleMachine, ReadsTexts) {
    EXPECT_EQ(run_op(opcode::short_binunicode, "\3abc"), "'abc'");
    EXPECT_EQ(run_op(opcode::binunicode, raw("\3\0\0\0abc", 7)), "'abc'");
    EXPECT_EQ(run_op(opcode::binunicode8, raw("\3\0\0\0\0\0\0\0abc", 11)), "'abc'");
    EXPECT_EQ(run_op(opcode::short_binstring, "\3abc"), "'abc'");
    EXPECT_EQ(run_op(opcode::binstring, raw("\3\0\0\0abc", 7)), "'abc'");
    EXPECT_EQ(run_op(opcode::unicode_text, "a\\u00e9\\U0001f600\xe9\n"), "'a\u00e9\U0001f600\u00e9'");
    EXPECT_EQ(run_op(opcode::string_text, "'a\\n\\x41\\'b'\n"), "'a\nA'b'");
    EXPECT_TRUE(contains(run_op(opcode::string_text, "'a\n"), "malformed"));
    EXPECT_TRUE(contains(run_op(opcode::string_text, "'\\'\n"), "malformed"));
    EXPECT_TRUE(contains(run_op(opcode::unicode_text, "\\u12\n"), "malformed"));
}

TEST(PickleMachine, ReadsALongText) {
    const std::string text(700'000, 'x');
    EXPECT_EQ(run(PickleBuilder().text(text)), "'" + text + "'");
}

TEST(PickleMachine, SkipsBytes) {
    EXPECT_EQ(run_op(opcode::short_binbytes, "\3abc"), "bytes");
    EXPECT_EQ(run_op(opcode::binbytes, raw("\3\0\0\0abc", 7)), "bytes");
    EXPECT_EQ(run_op(opcode::binbytes8, raw("\3\0\0\0\0\0\0\0abc", 11)), "bytes");
    EXPECT_EQ(run_op(opcode::bytearray8, raw("\3\0\0\0\0\0\0\0abc", 11)), "bytes");
}

TEST(PickleMachine, RejectsLengthsBeyondTheFile) {
    EXPECT_TRUE(contains(run_op(opcode::binunicode, "\xff\xff\xff\xff"), "a text of 4294967295 bytes"));
    EXPECT_TRUE(
        contains(run_op(opcode::binunicode8, "\xff\xff\xff\xff\xff\xff\xff\xff"), "a text of 18446744073709551615"));
    EXPECT_TRUE(contains(run_op(opcode::binbytes8, "\xff\xff\xff\xff\xff\xff\xff\xff"), "ends in the middle"));
}

TEST(PickleMachine, ReadsLists) {
    EXPECT_EQ(run_op(opcode::empty_list), "[]");
    EXPECT_EQ(run(PickleBuilder().op(opcode::empty_list).integer(7).op(opcode::append)), "[7]");
    EXPECT_EQ(run(PickleBuilder().op(opcode::empty_list).op(opcode::mark).integer(7).integer(8).op(opcode::appends)),
              "[7, 8]");
    EXPECT_EQ(run(PickleBuilder().op(opcode::empty_list).op(opcode::mark).op(opcode::appends)), "[]");
    EXPECT_EQ(run(PickleBuilder().op(opcode::mark).integer(7).integer(8).op(opcode::list)), "[7, 8]");
}

TEST(PickleMachine, ReadsDicts) {
    EXPECT_EQ(run_op(opcode::empty_dict), "{}");
    EXPECT_EQ(run(PickleBuilder().op(opcode::empty_dict).text("a").integer(1).op(opcode::setitem)), "{'a': 1}");
    PickleBuilder two;
    two.op(opcode::empty_dict).op(opcode::mark).text("a").integer(1).text("b").integer(2).op(opcode::setitems);
    EXPECT_EQ(run(two), "{'a': 1, 'b': 2}");
    EXPECT_EQ(run(PickleBuilder().op(opcode::mark).text("a").integer(1).op(opcode::dict)), "{'a': 1}");
}

TEST(PickleMachine, ReadsTuplesAndSets) {
    EXPECT_EQ(run_op(opcode::empty_tuple), "()");
    EXPECT_EQ(run(PickleBuilder().integer(1).op(opcode::tuple1)), "(1)");
    EXPECT_EQ(run(PickleBuilder().integer(1).integer(2).op(opcode::tuple2)), "(1, 2)");
    EXPECT_EQ(run(PickleBuilder().integer(1).integer(2).integer(3).op(opcode::tuple3)), "(1, 2, 3)");
    EXPECT_EQ(run(PickleBuilder().op(opcode::mark).integer(1).integer(2).op(opcode::tuple)), "(1, 2)");
    EXPECT_EQ(run(PickleBuilder().op(opcode::mark).integer(1).op(opcode::frozenset)), "(1)");
    EXPECT_EQ(run(PickleBuilder().op(opcode::empty_set).op(opcode::mark).integer(1).op(opcode::additems)), "[1]");
}

TEST(PickleMachine, ExecutesStackOpcodes) {
    EXPECT_EQ(run(PickleBuilder().integer(1).integer(2).op(opcode::pop)), "1");
    EXPECT_EQ(run(PickleBuilder().integer(1).op(opcode::mark).integer(2).op(opcode::pop_mark)), "1");
    EXPECT_EQ(run(PickleBuilder().integer(1).op(opcode::mark).op(opcode::pop)), "1");
    EXPECT_EQ(run(PickleBuilder().integer(1).op(opcode::dup).op(opcode::tuple2)), "(1, 1)");
    EXPECT_EQ(run(PickleBuilder().op(opcode::frame).number(uint64_t{99}).integer(1)), "1");
}

TEST(PickleMachine, MemoizesEveryKindOfValue) {
    const double real = 2.5;
    const int64_t numbers[]{0, -1, INT64_MAX, INT64_MIN, int64_t{1} << 55, (int64_t{1} << 55) - 1, -(int64_t{1} << 55)};
    for (const int64_t number : numbers) {
        PickleBuilder builder;
        builder.integer(number).memoize();
        EXPECT_EQ(run(builder.op(opcode::pop).get(0)), fmt::format("{}", number));
    }
    PickleBuilder others;
    others.op(opcode::mark);
    others.real(real).memoize();
    others.address(UINT64_MAX).memoize();
    others.op(opcode::newtrue).memoize();
    others.op(opcode::none).memoize();
    others.text("t").memoize();
    others.op(opcode::empty_list).memoize();
    others.get(0).get(1).get(2).get(3).get(4).get(5).op(opcode::tuple);
    EXPECT_EQ(run(others),
              "(2.5, 18446744073709551615, True, None, 't', [], 2.5, 18446744073709551615, True, None, 't', [])");
}

TEST(PickleMachine, ExecutesEveryMemoOpcode) {
    PickleBuilder text_form(0);
    text_form.bytes("(lp0\nI5\nag0\n0.");
    EXPECT_EQ(run(text_form), "[5]");
    EXPECT_EQ(
        run(PickleBuilder(2).integer(5).op(opcode::binput).bytes("\7").op(opcode::pop).op(opcode::binget).bytes("\7")),
        "5");
    PickleBuilder far(2);
    far.integer(5).op(opcode::long_binput).number(uint32_t{60'000}).op(opcode::pop);
    EXPECT_EQ(run(far.op(opcode::long_binget).number(uint32_t{60'000})), "5");
}

TEST(PickleMachine, NumbersMemoEntriesLikePython) {
    PickleBuilder builder;
    builder.integer(1).op(opcode::binput).bytes("\5").integer(2).op(opcode::memoize).op(opcode::pop).op(opcode::pop);
    EXPECT_EQ(run(builder.op(opcode::binget).bytes("\1")), "2");
}

TEST(PickleMachine, MemoizesListsBeforeTheyAreFilled) {
    PickleBuilder builder;
    builder.op(opcode::empty_list).memoize();
    builder.integer(1).op(opcode::append).get(0).op(opcode::tuple2);
    EXPECT_EQ(run(builder), "([1], [1])");
}

TEST(PickleMachine, RejectsInvalidMemoNumbers) {
    EXPECT_TRUE(contains(run_op(opcode::binget, "\7"), "memo number 7, which was never stored"));
    EXPECT_TRUE(contains(run(PickleBuilder().integer(1).op(opcode::binput).bytes("\5").op(opcode::binget).bytes("\1")),
                         "memo number 1, which was never stored"));
    EXPECT_TRUE(
        contains(run(PickleBuilder().integer(1).op(opcode::long_binput).number(UINT32_MAX)), "4294967295 at byte 4"));
    EXPECT_TRUE(contains(run_op(opcode::get, "-1\n"), "no memo number"));
}

TEST(PickleMachine, RejectsOpcodesThatRunCodeByName) {
    const uint8_t codes[]{opcode::reduce, opcode::build, opcode::obj, opcode::newobj, opcode::newobj_ex};
    for (const uint8_t code : codes) {
        const std::string sentence = run_op(code);
        EXPECT_EQ(sentence,
                  fmt::format("This pickle wants to run code (opcode {} at byte 2). A memory snapshot holds only "
                              "data; Tidemark does not execute pickles.",
                              opcode::name(code)));
    }
}

TEST(PickleMachine, NamesTheRequestedGlobal) {
    EXPECT_TRUE(contains(run_op(opcode::global, "os\nsystem\n"), "(opcode GLOBAL at byte 2 asks for os.system)"));
    EXPECT_TRUE(contains(run_op(opcode::inst, "os\nsystem\n"), "(opcode INST at byte 2 asks for os.system)"));
    EXPECT_TRUE(contains(run(PickleBuilder().text("posix").text("system").op(opcode::stack_global)),
                         "(opcode STACK_GLOBAL at byte 17 asks for posix.system)"));
    EXPECT_TRUE(contains(run(PickleBuilder().integer(1).text("x").op(opcode::stack_global)), "asks for ?.x)"));
    EXPECT_TRUE(contains(run_op(opcode::global, "o\x1b[2Js\nsystem\n"), "asks for o\\x1b[2Js.system)"));
}

TEST(PickleMachine, RejectsExternalReferencesByName) {
    const uint8_t codes[]{opcode::persid, opcode::binpersid,   opcode::ext1,           opcode::ext2,
                          opcode::ext4,   opcode::next_buffer, opcode::readonly_buffer};
    for (const uint8_t code : codes) {
        EXPECT_TRUE(
            contains(run_op(code, "1\n"),
                     fmt::format("refers to something outside the file (opcode {} at byte 2)", opcode::name(code))));
    }
}

TEST(PickleMachine, RejectsOsSystem) {
    const std::string attack = "cos\nsystem\n(S'true'\ntR.";
    EXPECT_TRUE(contains(run({attack.begin(), attack.end()}), "opcode GLOBAL at byte 0 asks for os.system"));
}

TEST(PickleMachine, RejectsUnknownOpcodes) {
    EXPECT_TRUE(contains(run_op(0xff), "byte 2 holds 0xff, which is no pickle opcode"));
    EXPECT_TRUE(contains(run({opcode::proto, 6, opcode::none, opcode::stop}), "protocol 6"));
}

TEST(PickleMachine, ReadsOrRejectsEveryOpcode) {
    for (int code = 0; code < 256; ++code) {
        const std::string outcome = run_op(static_cast<uint8_t>(code), "1\n");
        const bool named = opcode::name(static_cast<uint8_t>(code)) != nullptr;
        EXPECT_EQ(outcome.find("byte 2 holds") != std::string::npos, !named) << code;
    }
}

TEST(PickleMachine, DetectsMissingValues) {
    const uint8_t codes[]{opcode::append,    opcode::appends, opcode::setitem,     opcode::setitems, opcode::tuple,
                          opcode::tuple1,    opcode::tuple2,  opcode::tuple3,      opcode::list,     opcode::dict,
                          opcode::pop,       opcode::dup,     opcode::pop_mark,    opcode::memoize,  opcode::additems,
                          opcode::frozenset, opcode::stop,    opcode::stack_global};
    for (const uint8_t code : codes) {
        EXPECT_TRUE(contains(run_op(code),
                             fmt::format("opcode {} at byte 2 lacks the values it works on", opcode::name(code))));
    }
    EXPECT_TRUE(contains(run(PickleBuilder().integer(1).op(opcode::mark).op(opcode::tuple1)), "lacks the values"));
    EXPECT_TRUE(contains(run(PickleBuilder().op(opcode::mark).integer(1).op(opcode::dict)), "lacks the values"));
    EXPECT_TRUE(
        contains(run(PickleBuilder().op(opcode::mark).op(opcode::mark).op(opcode::appends)), "lacks the values"));
}

TEST(PickleMachine, ReportsWhereAConsumerFailed) {
    EXPECT_EQ(run(PickleBuilder().integer(1).integer(2).op(opcode::append)),
              "Near byte 6: That is the wrong container.");
    EXPECT_EQ(run(PickleBuilder().integer(1).op(opcode::mark).integer(2).integer(3).op(opcode::setitems)),
              "Near byte 9: That is the wrong container.");
}

TEST(PickleMachine, LimitsNesting) {
    EXPECT_TRUE(contains(run_op(opcode::mark, std::string(20'000, '(')), "nested more than 10000 deep"));
}

TEST(PickleMachine, DetectsEveryTruncation) {
    PickleBuilder builder;
    builder.op(opcode::empty_dict).memoize();
    builder.op(opcode::mark).text("numbers").op(opcode::empty_list).op(opcode::mark);
    builder.integer(1).integer(300).integer(70'000).integer(int64_t{1} << 40).real(1.5).op(opcode::appends);
    const auto bytes = builder.text("key").get(0).op(opcode::setitems).done();
    for (size_t size = 1; size < bytes.size(); ++size) {
        EXPECT_TRUE(contains(run({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)}),
                             fmt::format("ends in the middle of the snapshot (after {} bytes)", size)));
    }
}

TEST(PickleMachine, IgnoresBytesAfterStop) {
    auto bytes = PickleBuilder().integer(1).done();
    bytes.push_back(0xff);
    EXPECT_EQ(run(bytes), "1");
}

TEST(PickleMachine, StopsWhenCanceled) {
    const auto bytes = PickleBuilder().text(std::string(1 << 20, 'x')).done();
    auto source = ByteSource::from_memory(bytes);
    ASSERT_TRUE(source);
    Progress progress;
    progress.canceled = true;
    (*source)->stop_on(&progress.canceled);
    TextPool texts;
    TreeConsumer consumer(texts);
    const auto value = PickleMachine(**source, texts, consumer, progress, "test").run();
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().kind, ErrorKind::canceled);
}

}  // namespace
}  // namespace tidemark
