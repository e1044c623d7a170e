// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "storage/text/words.h"

namespace tidemark {
namespace {

const Words english(Language::english), chinese(Language::chinese);

TEST(Words, FillsPlaceholdersAnywhere) {
    EXPECT_EQ(english("{a} of {b}, {a}", with("a", 1), with("b", "two")), "1 of two, 1");
    EXPECT_EQ(english("nothing to fill"), "nothing to fill");
    EXPECT_EQ(english(""), "");
}

TEST(Words, KeepsOtherBraces) {
    EXPECT_EQ(english("{known} and {unknown}", with("known", "x")), "x and {unknown}");
    EXPECT_EQ(english("open { and {a", with("a", 1)), "open { and {a");
    EXPECT_EQ(english("{} {a}", with("a", 1)), "{} 1");
}

TEST(Words, DoesNotFillPlaceholdersInsideValues) {
    EXPECT_EQ(english("{a} {b}", with("a", "{b}"), with("b", "x")), "{b} x");
}

/// A value may begin with a Chinese or a Latin word, so its sentence cannot have the spaces.
TEST(Words, SeparatesLatinWordsFromChineseCharacters) {
    EXPECT_EQ(english("由{a}引用", with("a", "Cache 类的列表 `layers`")), "由 Cache 类的列表 `layers` 引用");
    EXPECT_EQ(english("由{a}引用", with("a", "列表")), "由列表引用");
    EXPECT_EQ(english("由 {a} 引用，{a}。", with("a", "x")), "由 x 引用，x。");
    EXPECT_EQ(english("`{a}` {a}", with("a", "列表")), "`列表` 列表") << "code stays as it is";
    EXPECT_EQ(english("由{a}引用", with("a", "")), "由引用");
}

TEST(Words, ComparesRanksWithoutStraySpaces) {
    const auto title = [](const std::string& others) {
        return chinese.plural(1, "{ranks} retains {bytes} more than {others}",
                              "{ranks} retain {bytes} more than {others}", with("ranks", "rank 1"),
                              with("bytes", "2 MiB"), with("others", others));
    };
    EXPECT_EQ(title("rank 0"), "rank 1 比 rank 0 多保留 2 MiB");
    EXPECT_EQ(title(chinese("most other ranks")), "rank 1 比大多数其他 rank 多保留 2 MiB");
}

TEST(Words, SelectsThePluralForm) {
    EXPECT_EQ(english.plural(1, "{n} tensor", "{n} tensors"), "1 tensor");
    EXPECT_EQ(english.plural(0, "{n} tensor", "{n} tensors"), "0 tensors");
    EXPECT_EQ(english.plural(12'345, "{n} tensor", "{n} tensors"), "12,345 tensors");
    EXPECT_EQ(chinese.plural(1, "{n} tensor", "{n} tensors"), "1 个张量");
    EXPECT_EQ(chinese.plural(3, "{n} tensor", "{n} tensors"), "3 个张量");
    EXPECT_EQ(english.plural(1, "{n} is kept by {name}", "{n} are kept by {name}", with("name", "x")),
              "1 is kept by x");
    EXPECT_EQ(english.plural(2, "{n} is kept by {name}", "{n} are kept by {name}", with("name", "x")),
              "2 are kept by x");
}

TEST(Words, JoinsListsInEachLanguage) {
    EXPECT_EQ(english.list({}), "");
    EXPECT_EQ(english.list({"a"}), "a");
    EXPECT_EQ(english.list({"a", "b"}), "a and b");
    EXPECT_EQ(english.list({"a", "b", "c"}), "a, b and c");
    EXPECT_EQ(chinese.list({"甲", "乙", "丙"}), "甲、乙、丙");
}

TEST(Words, ShowsDecimalsOfSmallPercentages) {
    EXPECT_EQ(Words::percent(0), "0 %");
    EXPECT_EQ(Words::percent(0.0123), "1.2 %");
    EXPECT_EQ(Words::percent(0.0994), "9.9 %");
    EXPECT_EQ(Words::percent(0.0996), "10 %");
    EXPECT_EQ(Words::percent(0.636), "64 %");
    EXPECT_EQ(Words::percent(-0.02), "-2.0 %");
}

TEST(Words, FindsLanguagesByLocaleNames) {
    for (const char* name : {"zh", "zh_CN", "zh_CN.UTF-8", "zh-Hans", "zh.UTF-8", "zh@pinyin"}) {
        EXPECT_EQ(language_from_name(name), Language::chinese) << name;
    }
    for (const char* name : {"en", "en_GB.UTF-8", "C", "C.UTF-8", "POSIX", "de_DE@euro", "zhx"}) {
        EXPECT_EQ(language_from_name(name), Language::english) << name;
    }
    for (const char* name : {"", "_CN", "12", "zh CN", "/usr"}) {
        EXPECT_EQ(language_from_name(name), std::nullopt) << name;
    }
    EXPECT_EQ(language_from_name(language_name(Language::chinese)), Language::chinese);
    EXPECT_EQ(language_from_name(language_name(Language::english)), Language::english);
}

TEST(Words, TranslatesByTheEnglishSentence) {
    EXPECT_EQ(chinese("the end of {iteration}", with("iteration", chinese("step {number}", with("number", 7)))),
              "第 7 步结束");
    EXPECT_EQ(chinese("{type} is said nowhere", with("type", "this")), "this is said nowhere");
}

TEST(Words, JoinsSentencesInEachLanguage) {
    EXPECT_EQ(english.sentences({"One.", "", "Two.", "Three."}), "One. Two. Three.");
    EXPECT_EQ(chinese.sentences({"", "一。", "二。"}), "一。二。");
    EXPECT_EQ(english.sentences({}), "");
}

TEST(Words, KeepsUntranslatedSentences) {
    EXPECT_EQ(chinese("no catalog has this: {x}", with("x", 1)), "no catalog has this: 1");
    EXPECT_EQ(chinese.plural(2, "{n} nonesuch", "{n} nonesuches"), "2 nonesuches");
    EXPECT_EQ(chinese(""), "");
}

}  // namespace
}  // namespace tidemark
