// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/facts.h"

#include <gtest/gtest.h>

#include "storage/text/data_gap_words.h"
#include "storage/text/fact_words.h"

namespace tidemark {
namespace {

const Words english(Language::english), chinese(Language::chinese);

template <class Kind>
class FactWordsOf : public testing::Test {};
using Kinds = testing::Types<PathLinkKind, DriverMemoryKind, Phase, ScanReason, ProcessEnd, StepSource, SampleSource,
                             AnnotationKind, DataGapReason>;
TYPED_TEST_SUITE(FactWordsOf, Kinds);

TYPED_TEST(FactWordsOf, WordsRoundTrip) {
    for (const FactWord<TypeParam>& entry : fact_words<TypeParam>()) {
        const Fact<TypeParam> fact(entry.kind, entry.has_text ? "a text of its own" : "");
        const std::string word = word_of(fact);
        EXPECT_EQ(word, std::string(entry.word) + fact.text);
        EXPECT_EQ(fact_from_word<TypeParam>(word), fact) << word;
    }
}

TYPED_TEST(FactWordsOf, UnknownWordsKeepTheirText) {
    const auto fact = fact_from_word<TypeParam>("a word of tomorrow");
    EXPECT_EQ(fact.text, "a word of tomorrow");
    EXPECT_EQ(fact.kind, fact_words<TypeParam>().back().kind);
    EXPECT_EQ(word_of(fact), "a word of tomorrow");
}

TEST(Facts, SeparateWordsFromTheirText) {
    EXPECT_EQ(fact_from_word<ScanReason>("mark epoch 3"), Fact(ScanReason::mark, "epoch 3"));
    EXPECT_EQ(fact_from_word<ProcessEnd>("exception: ValueError: no"), Fact(ProcessEnd::exception, "ValueError: no"));
    EXPECT_EQ(fact_from_word<ProcessEnd>("killed by signal 9"), Fact(ProcessEnd::killed, "9"));
    EXPECT_EQ(fact_from_word<Phase>("warm-up"), Fact(Phase::named, "warm-up"));
    EXPECT_EQ(fact_from_word<Phase>(""), Phase::none);
}

TEST(DataGapWords, EachReasonHasAnEnglishAndAChineseSentence) {
    for (const FactWord<DataGapReason>& entry : fact_words<DataGapReason>()) {
        if (entry.kind == DataGapReason::none || entry.kind == DataGapReason::unknown) {
            continue;
        }
        DataGap data_gap;
        data_gap.reason = entry.kind;
        data_gap.arguments = {{"what", "paths,names,source"}};
        const std::string text = data_gap_words(english, data_gap);
        EXPECT_FALSE(text.empty()) << entry.word;
        EXPECT_EQ(text.find("{"), std::string::npos) << text;
        EXPECT_NE(data_gap_words(chinese, data_gap), text) << entry.word;
    }
}

TEST(DataGapWords, KeepTheTextOfUnknownReasons) {
    DataGap data_gap;
    data_gap.reason = fact_from_word<DataGapReason>("a_reason_of_tomorrow");
    data_gap.text = "Something new is missing.";
    EXPECT_EQ(data_gap_words(chinese, data_gap), "Something new is missing.");
}

TEST(FactWords, NameEveryValueInBothLanguages) {
    for (int kind = 0; kind <= static_cast<int>(ComponentKind::unknown); ++kind) {
        const auto component = static_cast<ComponentKind>(kind);
        EXPECT_NE(component_name(english, component), component_name(chinese, component));
        EXPECT_NE(component_help(english, component), component_help(chinese, component));
    }
    for (int category = 0; category < category_count; ++category) {
        EXPECT_NE(category_name(english, static_cast<Category>(category)),
                  category_name(chinese, static_cast<Category>(category)));
    }
}

TEST(FactWords, TranslateTheGroupsThatStorageNames) {
    EXPECT_EQ(group_words(english, GroupBy::category, "saved for backward"), "saved for backward");
    EXPECT_EQ(group_words(chinese, GroupBy::category, "saved for backward"), category_name(chinese, Category::saved));
    EXPECT_EQ(group_words(chinese, GroupBy::module, "no module"), "无模块");
    EXPECT_EQ(group_words(chinese, GroupBy::pool, "default pool"), "默认内存池");
    // Names of the program stay, also those that are words of another grouping.
    EXPECT_EQ(group_words(chinese, GroupBy::module, "parameter"), "parameter");
    EXPECT_EQ(group_words(chinese, GroupBy::stack, "train.py:42 forward"), "train.py:42 forward");
}

TEST(FactWords, DescribeTheEndOfAProcess) {
    Process process;
    process.how_ended = {ProcessEnd::killed, "9"};
    EXPECT_EQ(process_end_words(english, process), "The program was killed by signal 9.");
    process.how_ended = {ProcessEnd::exited, "3"};
    EXPECT_EQ(process_end_words(english, process), "The program exited with status 3.");
    process.how_ended = {ProcessEnd::unknown, "abducted"};
    EXPECT_EQ(process_end_words(chinese, process), "abducted");
}

}  // namespace
}  // namespace tidemark
