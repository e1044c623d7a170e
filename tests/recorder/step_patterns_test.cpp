// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/step_patterns.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tidemark::plugin {
namespace {

constexpr uint8_t allocates = 0, frees = 1;

struct Event {
    EventShape shape;
    EventOrigin origin;
};
using Step = std::vector<Event>;

EventOrigin at(uint32_t stack) {
    EventOrigin origin;
    origin.stack = stack;
    origin.lines = static_cast<uint16_t>(stack);
    return origin;
}

/// A step that allocates blocks of these sizes at stacks 10, 11, ..., and frees them.
Step step_of(const std::vector<uint64_t>& sizes, uint32_t first_stack = 10) {
    Step step;
    for (const uint64_t size : sizes) {
        step.push_back({{allocates, 1, size, 0, 0, static_cast<int64_t>(size)}, at(first_stack++)});
    }
    for (const uint64_t size : sizes) {
        step.push_back({{frees, 1, size, 0, 0, -static_cast<int64_t>(size)}, at(first_stack++)});
    }
    return step;
}

/// Adds the step with all details. Returns whether it repeats a known one.
bool add(StepPatterns& patterns, const Step& step) {
    for (const Event& event : step) {
        patterns.add(event.shape, event.origin);
    }
    return patterns.end_step();
}

/// Expects the step as the plugin does: from the first event that is not expected, it adds events with all details.
/// Returns the number of events that were expected, with the origins of the step.
size_t expect(StepPatterns& patterns, const Step& step) {
    size_t expected = 0;
    for (const Event& event : step) {
        const EventOrigin* origin =
            expected == static_cast<size_t>(&event - step.data()) ? patterns.expect(event.shape) : nullptr;
        if (origin == nullptr) {
            patterns.add(event.shape, event.origin);
        } else {
            EXPECT_EQ(origin->stack, event.origin.stack);
            ++expected;
        }
    }
    return expected;
}

TEST(StepPatterns, KnowsTheOriginsOfAStepThatRepeats) {
    StepPatterns patterns;
    const Step step = step_of({100, 200, 100});
    EXPECT_FALSE(add(patterns, step));
    EXPECT_TRUE(add(patterns, step));
    EXPECT_TRUE(add(patterns, step));
    EXPECT_EQ(patterns.repeats(), 2);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(expect(patterns, step), step.size());
        EXPECT_TRUE(patterns.end_step());
    }
    EXPECT_EQ(patterns.repeats(), 5);
}

TEST(StepPatterns, RepeatsOnlyWhatHasTheSameOrigins) {
    StepPatterns patterns;
    add(patterns, step_of({100, 200}));
    EXPECT_FALSE(add(patterns, step_of({100, 200}, 50)));
    EXPECT_EQ(patterns.repeats(), 0);
    EXPECT_TRUE(add(patterns, step_of({100, 200}, 50)));
    EXPECT_EQ(expect(patterns, step_of({100, 200}, 50)), 4u) << "the latest origins hold";
}

TEST(StepPatterns, AModuleMadeAnewInEachStepIsNoOtherOrigin) {
    StepPatterns patterns;
    Step step = step_of({100, 200});
    add(patterns, step);
    step[1].origin.stack = 77;
    EXPECT_TRUE(add(patterns, step)) << "other modules on the stack, the same lines";
}

TEST(StepPatterns, ExpectsNothingOfAnotherShape) {
    const Step step = step_of({100, 200});
    for (const auto& change : std::vector<void (*)(EventShape&)>{
             [](EventShape& shape) { shape.action = 7; }, [](EventShape& shape) { shape.thread = 2; },
             [](EventShape& shape) { shape.size = 201; }, [](EventShape& shape) { shape.stream = 9; },
             [](EventShape& shape) { shape.metadata = 3; }, [](EventShape& shape) { shape.lines = 5; }}) {
        StepPatterns patterns;
        add(patterns, step);
        Step other = step;
        change(other[1].shape);
        EXPECT_NE(patterns.expect(other[0].shape), nullptr);
        EXPECT_EQ(patterns.expect(other[1].shape), nullptr);
    }
}

/// The plugin finds out the lines of few events only.
TEST(StepPatterns, TwoCallersOfTheSameWorkAreTwoSteps) {
    StepPatterns patterns;
    std::vector<size_t> compared;
    const auto called_at = [&](uint16_t line) {
        Step step = step_of(std::vector<uint64_t>(50, 100));
        for (size_t i = 0; i < step.size(); i += 64) {
            step[i].shape.lines = step[i].origin.lines = line;
        }
        return step;
    };
    for (const Event& event : called_at(7)) {
        if (patterns.compares_lines()) {
            compared.push_back(static_cast<size_t>(event.shape.lines));
        }
        patterns.add(event.shape, event.origin);
    }
    EXPECT_EQ(compared, (std::vector<size_t>{7, 7}));
    patterns.end_step();
    EXPECT_EQ(patterns.expect(called_at(8)[0].shape), nullptr) << "its origins are others";
    EXPECT_FALSE(add(patterns, called_at(8)));
    for (const uint16_t line : {uint16_t{7}, uint16_t{8}, uint16_t{7}, uint16_t{8}}) {
        EXPECT_EQ(expect(patterns, called_at(line)), 100u) << "both are known";
        EXPECT_TRUE(patterns.end_step());
    }
}

TEST(StepPatterns, LearnsAStepThatDiffersAtItsEnd) {
    StepPatterns patterns;
    const Step usual = step_of({100, 200});
    Step logging = usual;
    logging.push_back({{allocates, 1, 512, 0, 0, 512}, at(90)});
    logging.push_back({{frees, 1, 512, 0, 0, -512}, at(91)});
    add(patterns, usual);
    EXPECT_EQ(expect(patterns, logging), usual.size());
    EXPECT_FALSE(patterns.end_step());
    EXPECT_EQ(expect(patterns, usual), usual.size());
    EXPECT_TRUE(patterns.end_step());
    EXPECT_EQ(expect(patterns, logging), logging.size()) << "its beginning was known, its end is now";
    EXPECT_TRUE(patterns.end_step());
}

TEST(StepPatterns, AStepThatEndsEarlyRepeatsNone) {
    StepPatterns patterns;
    Step step = step_of({100, 200});
    add(patterns, step);
    step.pop_back();
    expect(patterns, step);
    EXPECT_FALSE(patterns.end_step());
    expect(patterns, step);
    EXPECT_TRUE(patterns.end_step()) << "it is known now";
}

TEST(StepPatterns, AStepThatRetainsMemoryRepeatsNone) {
    StepPatterns patterns;
    Step step = step_of({100'000, 200'000});
    step.pop_back();
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(add(patterns, step));
    }
    EXPECT_EQ(patterns.expect(step[0].shape), nullptr);
}

TEST(StepPatterns, AStepWithAnotherKindOfEventRepeatsNone) {
    StepPatterns patterns;
    const Step step = step_of({100});
    add(patterns, step);
    patterns.add(step[0].shape, step[0].origin);
    patterns.set_unlike();
    EXPECT_EQ(patterns.expect(step[1].shape), nullptr);
    patterns.add(step[1].shape, step[1].origin);
    EXPECT_FALSE(patterns.end_step());
    EXPECT_TRUE(add(patterns, step)) << "the next one is not affected";
}

TEST(StepPatterns, ForgetsTheStepsThatWereNotRepeatedForTheLongestTime) {
    StepPatterns patterns;
    const Step usual = step_of({100});
    add(patterns, usual);
    for (uint64_t size = 1; size < 20; ++size) {
        EXPECT_FALSE(add(patterns, step_of({1000 + size})));
        EXPECT_TRUE(add(patterns, usual));
    }
    EXPECT_EQ(patterns.expect(step_of({1001})[0].shape), nullptr);
    EXPECT_NE(patterns.expect(usual[0].shape), nullptr);
}

TEST(StepPatterns, LongStepsAreNotKnown) {
    StepPatterns patterns;
    const Step step = step_of(std::vector<uint64_t>(40'000, 8));
    EXPECT_FALSE(add(patterns, step));
    EXPECT_FALSE(add(patterns, step));
    EXPECT_EQ(patterns.expect(step[0].shape), nullptr);
}

}  // namespace
}  // namespace tidemark::plugin
