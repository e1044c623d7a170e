// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Leaks that grow once in several steps: what one rise adds, and how often it comes.
#include <gtest/gtest.h>

#include <deque>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::RunBuilder;

constexpr uint64_t MiB = 1 << 20;

/// Returns the rises of the first finding about a run of 120 steps; step i retains amounts(i) bytes.
template <class Amounts>
std::optional<Rises> rises_of(Amounts&& amounts) {
    RunBuilder run;
    run.segment(1 << 30);
    for (int i = 0; i < 120; ++i) {
        run.free(run.alloc(4 * MiB, run.line("train")));
        if (const uint64_t bytes = amounts(i)) {
            run.alloc(bytes, run.line("validate"));
        }
        run.step();
    }
    const Explanation explanation = explained(*run.make_context());
    EXPECT_EQ(test::leaks_of(explanation), "unexplained-growth");
    return explanation.findings.at(0).rises;
}

TEST(ExplainRises, TellsHowOftenMemoryGrows) {
    const auto rises = rises_of([](int i) { return i % 10 == 9 ? 3 * MiB : 0; });
    ASSERT_TRUE(rises);
    EXPECT_EQ(rises->count, 12);
    EXPECT_EQ(rises->bytes, 3 * MiB);
    EXPECT_EQ(rises->every, 10);
}

/// Returns the confidence in the leak of a container. added(i) elements are appended to it in step i, and as many of
/// the oldest ones removed as removed(i) says.
template <class Added, class Removed>
Confidence confidence_of(Added&& added, Removed&& removed) {
    test::Program program;
    std::deque<AllocationIndex> kept;
    for (int i = 0; i < 120; ++i) {
        program.run.free(program.run.alloc(4 * MiB, program.run.line("train")));
        for (int element = 0; element < static_cast<int>(added(i)); ++element) {
            kept.push_back(program.run.alloc(3 * MiB, program.run.line("load")));
        }
        for (int element = 0; element < static_cast<int>(removed(i)); ++element) {
            program.run.free(kept.front());
            kept.pop_front();
        }
        program.run.step();
    }
    for (size_t i = 0; i < kept.size(); ++i) {
        program.add_referrer(kept[i], "batches", std::to_string(i));
    }
    const Explanation explanation = explained(*program.make_context());
    EXPECT_EQ(test::leaks_of(explanation), "growing-container");
    return explanation.findings.at(0).confidence;
}

bool never(int) { return false; }
bool always(int) { return true; }

TEST(ExplainRises, FewRisesAreNoCertainLeak) {
    EXPECT_EQ(confidence_of([](int i) { return i % 30 == 24; }, never), Confidence::likely) << "four rises";
    EXPECT_EQ(confidence_of([](int i) { return i % 10 == 9; }, never), Confidence::certain) << "twelve rises";
    EXPECT_EQ(confidence_of([](int i) { return i % 40 != 24; }, never), Confidence::certain) << "almost every step";
}

TEST(ExplainRises, AContainerThatLosesItsOldElementsIsNoCertainLeak) {
    const auto two = [](int) { return 2; };
    EXPECT_EQ(confidence_of(two, always), Confidence::likely);
    EXPECT_EQ(confidence_of(two, [](int i) { return i % 6 == 5; }), Confidence::certain);
}

TEST(ExplainRises, CountsNeighboringStepsAsOneRise) {
    const auto rises = rises_of([](int i) { return i % 10 >= 7 ? 2 * MiB : 0; });
    ASSERT_TRUE(rises);
    EXPECT_EQ(rises->count, 12);
    EXPECT_EQ(rises->bytes, 6 * MiB);
}

TEST(ExplainRises, IgnoresMuchSmallerTensors) {
    const auto rises = rises_of([](int i) { return i % 10 == 9 ? 3 * MiB : i % 10 == 4 ? uint64_t{512} : 0; });
    ASSERT_TRUE(rises);
    EXPECT_EQ(rises->count, 12);
    EXPECT_EQ(rises->every, 10);
}

TEST(ExplainRises, ThereAreNoneInGrowthOfEveryStepOrOfVeryDifferentAmounts) {
    EXPECT_FALSE(rises_of([](int) { return 1 * MiB; }));
    EXPECT_FALSE(rises_of([](int i) { return i % 4 == 0 ? static_cast<uint64_t>(1 + i / 4 % 7) * MiB : 0; }));
}

TEST(ExplainRises, AreAddedToTheText) {
    RunBuilder run;
    run.segment(1 << 30);
    for (int i = 0; i < 60; ++i) {
        run.free(run.alloc(4 * MiB, run.line("train")));
        if (i % 5 == 4) {
            run.alloc(10 * MiB, run.line("validate"));
        }
        run.step();
    }
    const Explanation explanation = explained(*run.make_context());
    const std::vector<std::string>& text = explanation.findings.at(0).text;
    EXPECT_TRUE(std::any_of(text.begin(), text.end(), [](const std::string& sentence) {
        return sentence.starts_with("The memory grew 12 times, about every 5 steps, by 10.0 MiB each time: ") &&
               sentence.ends_with(" per step on average.");
    })) << text.front();
    EXPECT_EQ(test::joined(text).find("Every step"), std::string::npos) << test::joined(text);
}

}  // namespace
}  // namespace tidemark
