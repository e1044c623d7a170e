// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/sentence.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "storage/base/result.h"
#include "storage/base/system_reason.h"
#include "storage/text/words.h"

namespace tidemark {
namespace {

const Words english(Language::english), chinese(Language::chinese);

std::string english_reason(int error) { return Sentence("{reason}", with("reason", system_reason(error))).english(); }

TEST(Sentence, FillsPlaceholdersByName) {
    EXPECT_EQ(Sentence("{a} of {b}, {a}", with("a", 1), with("b", "two")).english(), "1 of two, 1");
    EXPECT_EQ(Sentence("nothing to fill").english(), "nothing to fill");
}

TEST(Sentence, UnknownPlaceholdersStay) {
    EXPECT_EQ(Sentence("{known} and {unknown}", with("known", "x"), with("other", "y")).english(), "x and {unknown}");
    EXPECT_EQ(Sentence("open { and {a", with("a", 1)).english(), "open { and {a");
}

TEST(Sentence, ValuesAreNotFilledAgain) {
    EXPECT_EQ(Sentence("{a} {b}", with("a", "{b}"), with("b", "x")).english(), "{b} x");
    const Sentence inner("{a}", with("a", "{b}"));
    EXPECT_EQ(Sentence("{inner} {b}", with("inner", inner), with("b", "x")).english(), "{b} x");
}

TEST(Sentence, ValuesMayBeSentencesInSentences) {
    const Sentence reason("because of {what}", with("what", Sentence("the {n}th", with("n", 4))));
    EXPECT_EQ(Sentence("{path}: {reason}", with("path", "a.tide"), with("reason", reason)).english(),
              "a.tide: because of the 4th");
}

TEST(Sentence, PluralFormsFollowTheNumber) {
    const auto items = [](int64_t n) { return Sentence::plural(n, "a list of {n} item", "a list of {n} items"); };
    EXPECT_EQ(items(1).english(), "a list of 1 item");
    EXPECT_EQ(items(0).english(), "a list of 0 items");
    EXPECT_EQ(items(12'345).english(), "a list of 12,345 items");
    EXPECT_EQ(english.translate(items(2)), "a list of 2 items");
    EXPECT_EQ(chinese.translate(items(1)), "含 1 个元素的 list");
    EXPECT_EQ(chinese.translate(items(2)), "含 2 个元素的 list");
}

TEST(Sentence, IsTranslatedWithTheSentencesInIt) {
    const Error error = environment_error("{path} cannot be opened: {reason}.", with("path", "a.tide"),
                                          with("reason", system_reason(ENOENT)));
    EXPECT_EQ(error.sentence.english(), "a.tide cannot be opened: No such file or directory.");
    EXPECT_EQ(english.translate(error.sentence), error.sentence.english());
    EXPECT_EQ(chinese.translate(error.sentence), "无法打开 a.tide：没有那个文件或目录。");
}

TEST(Sentence, FillsSentencesOfWords) {
    EXPECT_EQ(chinese("the end of {iteration}", with("iteration", Sentence("step {number}", with("number", 7)))),
              "第 7 步结束");
}

TEST(Sentence, WithoutTranslationStaysEnglish) {
    EXPECT_EQ(chinese.translate(Sentence("no catalog has this: {x}", with("x", 1))), "no catalog has this: 1");
    EXPECT_EQ(chinese.translate(Sentence::plural(2, "{n} nonesuch", "{n} nonesuches")), "2 nonesuches");
}

TEST(SystemReason, EqualsTheTextOfTheSystem) {
    for (int error = 1; error < 134; ++error) {
        // A copy: a later call of strerror frees the text of an unknown error.
        const std::string expected = std::strerror(error);
        EXPECT_EQ(english_reason(error), expected) << error;
    }
}

}  // namespace
}  // namespace tidemark
