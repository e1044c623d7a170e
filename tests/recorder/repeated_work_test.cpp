// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/repeated_work.h"

#include <gtest/gtest.h>

#include "recorder/torch/op_observer.h"

namespace tidemark::plugin {

namespace {

bool is_suspended = false;

}  // namespace

// In place of PyTorch's.
void suspend_ops(bool suspended) { is_suspended = suspended; }

namespace {

class RepeatedWork : public testing::Test {
protected:
    RepeatedWork() { begin_repeated_work(); }
    ~RepeatedWork() override { begin_repeated_work(); }

    /// Runs one piece of work to its end. Returns whether ops were observed at its begin.
    static bool is_observed(Work work = Work::backward, bool does_something_new = false) {
        work_begins(work);
        const bool observed = !is_suspended;
        if (does_something_new) {
            observe_rest_of_work();
            EXPECT_FALSE(is_suspended);
        }
        work_ends(work);
        EXPECT_FALSE(is_suspended) << "between two pieces of work";
        return observed;
    }

    static int observed_of(int count) {
        int observed = 0;
        for (int i = 0; i < count; ++i) {
            observed += is_observed();
        }
        return observed;
    }

    Wish wish, other;  ///< of two threads
};

TEST_F(RepeatedWork, TheFirstPassesAndEvery64thAreObserved) {
    EXPECT_EQ(observed_of(3), 3);
    EXPECT_EQ(observed_of(60), 0);
    EXPECT_TRUE(is_observed());
    EXPECT_EQ(observed_of(63), 0);
}

TEST_F(RepeatedWork, OptimizerStepsAreCountedByThemselves) {
    observed_of(10);
    EXPECT_TRUE(is_observed(Work::optimizer));
}

TEST_F(RepeatedWork, APassThatDoesSomethingNewIsObservedAndSoAreTheNext) {
    observed_of(3);
    is_observed(Work::backward, true);
    EXPECT_EQ(observed_of(10), 2);
    is_observed(Work::backward, true);
    EXPECT_EQ(observed_of(10), 2) << "passes were left out between the two";
    is_observed(Work::backward, true);
    observed_of(2);
    is_observed(Work::backward, true);
    EXPECT_EQ(observed_of(10), 4) << "each time that the first pass after them does something new, it is twice as many";
}

TEST_F(RepeatedWork, NodesThatRunPythonAreObserved) {
    observed_of(3);
    work_begins(Work::backward);
    EXPECT_TRUE(is_suspended);
    EXPECT_FALSE(ops_are_observed(wish));
    node_begins(true, wish);
    EXPECT_FALSE(is_suspended);
    EXPECT_TRUE(ops_are_observed(wish));
    EXPECT_FALSE(ops_are_observed(other)) << "for certain";
    node_begins(false, other);
    EXPECT_FALSE(is_suspended) << "a node of another thread does not matter";
    node_begins(false, wish);
    EXPECT_TRUE(is_suspended);
    node_begins(true, wish);
    work_ends(Work::backward);
    EXPECT_FALSE(is_suspended);
    work_begins(Work::backward);
    EXPECT_TRUE(is_suspended) << "the wishes of the last pass are forgotten";
    work_ends(Work::backward);
}

TEST_F(RepeatedWork, NestedPassesEndWithTheOuterOne) {
    observed_of(3);
    work_begins(Work::backward);
    work_begins(Work::backward);
    EXPECT_FALSE(work_ends(Work::backward));
    EXPECT_TRUE(is_suspended);
    EXPECT_TRUE(work_ends(Work::backward));
    EXPECT_FALSE(work_ends(Work::backward)) << "an end without a begin changes nothing";
    EXPECT_FALSE(is_suspended);
}

TEST_F(RepeatedWork, WhileSeveralThreadsAllocateAllIsObserved) {
    observed_of(3);
    allocates_in_forward(wish);
    EXPECT_EQ(observed_of(2), 0);
    allocates_in_forward(other);
    EXPECT_TRUE(is_observed());
    EXPECT_EQ(observed_of(2), 0);
    allocates_in_forward(wish);
    EXPECT_TRUE(is_observed());
}

TEST_F(RepeatedWork, ForwardPassesOfStepsAreNotObservedOnceTheyRepeat) {
    for (int step = 0; step < 3; ++step) {
        step_begins(true);
        EXPECT_FALSE(is_suspended);
    }
    step_begins(true);
    EXPECT_TRUE(is_suspended);
    EXPECT_FALSE(ops_are_observed(wish));
    work_begins(Work::backward);
    EXPECT_FALSE(is_suspended) << "this is the first backward pass";
    work_ends(Work::backward);
    EXPECT_TRUE(is_suspended);
    observe_rest_of_work();
    EXPECT_FALSE(is_suspended);
    for (int step = 0; step < 2; ++step) {
        step_begins(true);
        EXPECT_FALSE(is_suspended) << "after a pass that did something new";
    }
    step_begins(true);
    EXPECT_TRUE(is_suspended);
    step_begins(false);
    EXPECT_FALSE(is_suspended) << "memory of the last step stays";
}

TEST_F(RepeatedWork, AForwardPassKnowsNothingOfWorkInIt) {
    observed_of(3);
    for (int step = 0; step < 4; ++step) {
        step_begins(true);
    }
    work_begins(Work::backward);
    EXPECT_TRUE(is_suspended);
    observe_rest_of_work();
    EXPECT_FALSE(is_suspended);
    work_ends(Work::backward);
    EXPECT_TRUE(is_suspended) << "only the backward pass did something new";
    observe_next_forward();
    EXPECT_TRUE(is_suspended);
    step_begins(true);
    EXPECT_FALSE(is_suspended);
}

TEST_F(RepeatedWork, NoForwardPassIsLeftOutAfterAStepInWhichSeveralThreadsAllocate) {
    for (int step = 0; step < 4; ++step) {
        step_begins(true);
    }
    allocates_in_forward(wish);
    allocates_in_forward(other);
    work_begins(Work::optimizer);
    work_ends(Work::optimizer);
    step_begins(true);
    EXPECT_FALSE(is_suspended);
    step_begins(true);
    EXPECT_TRUE(is_suspended);
}

TEST_F(RepeatedWork, InferenceThatRepeatsIsNotObservedInAProgramWithoutSteps) {
    for (int stretch = 0; stretch < 3; ++stretch) {
        inference_goes_on();
        EXPECT_FALSE(is_suspended);
    }
    inference_goes_on();
    EXPECT_TRUE(is_suspended);
    observe_rest_of_work();
    EXPECT_FALSE(is_suspended) << "something new, or gradients are enabled";
    for (int stretch = 0; stretch < 2; ++stretch) {
        inference_goes_on();
        EXPECT_FALSE(is_suspended) << "after a stretch that did something new";
    }
    inference_goes_on();
    EXPECT_TRUE(is_suspended);
    allocates_in_forward(wish);
    allocates_in_forward(other);
    inference_goes_on();
    EXPECT_FALSE(is_suspended) << "several threads";
}

TEST_F(RepeatedWork, TheFirstStepKnowsNothingOfTheInferenceBeforeIt) {
    for (int stretch = 0; stretch < 20; ++stretch) {
        inference_goes_on();
    }
    EXPECT_TRUE(is_suspended);
    for (int step = 0; step < 3; ++step) {
        step_begins(true);
        EXPECT_FALSE(is_suspended);
        EXPECT_TRUE(has_steps());
        inference_goes_on();
        EXPECT_FALSE(is_suspended) << "an evaluation between steps belongs to the step";
    }
    step_begins(true);
    EXPECT_TRUE(is_suspended);
}

}  // namespace

}  // namespace tidemark::plugin
