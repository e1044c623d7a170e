// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The order of leaks, and the forecast of when the device is full.
#include <gtest/gtest.h>

#include "tests/unit/explained.h"
#include "tests/unit/program_builder.h"

namespace tidemark {
namespace {

using test::explained;
using test::RunBuilder;

constexpr int64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

/// Adds an iteration of this many temporaries, which retains `bytes` from this line.
void iterate(RunBuilder& run, int temporaries, uint64_t bytes, const std::string& line) {
    for (int i = 0; i < temporaries; ++i) {
        const AllocationIndex work = run.alloc(4 * MiB, run.line(line + "_work"));
        if (i == 0) {
            run.alloc(bytes, run.line(line));
        }
        run.free(work);
    }
}

/// Returns ten steps of `temporaries` that retain 1 MiB each, and then iterations that retain 256 KiB each.
RunBuilder train_and_serve(int temporaries, int served = 40) {
    RunBuilder run;
    run.segment(GiB);
    for (int i = 0; i < 10; ++i) {
        iterate(run, temporaries, MiB, "train");
        run.step();
    }
    for (int i = 0; i < served; ++i) {
        iterate(run, 1, 256 * KiB, "serve");
    }
    return run;
}

TEST(ExplainOrder, LeaksAreSortedByBytesPerSecond) {
    const Explanation explanation = explained(*train_and_serve(50).make_context());
    ASSERT_EQ(test::leaks_of(explanation), "unexplained-growth unexplained-growth");
    const Finding& first = explanation.findings[0];
    const Finding& second = explanation.findings[1];
    EXPECT_EQ(first.unit, IterationSource::loop);
    EXPECT_EQ(first.per_iteration, 256 * KiB) << "less per iteration, but the iterations are shorter";
    EXPECT_EQ(second.unit, IterationSource::steps);
    EXPECT_EQ(second.per_iteration, MiB);
    EXPECT_NEAR(first.rate, 256 * KiB / 0.004, 256 * KiB / 0.004 * 0.1) << "an iteration takes 4 ms";
    EXPECT_NEAR(second.rate, MiB / 0.151, MiB / 0.151 * 0.1) << "a step takes 151 ms";
    const std::string summary = test::joined(explanation.summary);
    EXPECT_NE(summary.find("Memory grows by 256 KiB per iteration"), std::string::npos) << summary;
}

TEST(ExplainOrder, BytesOfDifferentUnitsAreNotAdded) {
    const Explanation explanation = explained(*train_and_serve(3, 7).make_context());
    ASSERT_EQ(explanation.findings[0].unit, IterationSource::steps) << "the steps are short here";
    const std::string summary = test::joined(explanation.summary);
    EXPECT_NE(summary.find("Memory grows by 1.00 MiB per step"), std::string::npos) << summary;
}

TEST(ExplainOrder, ThatNothingIsWrongIsInferred) {
    const Explanation explanation = explained(*train_and_serve(3, 0).make_context());
    ASSERT_EQ(explanation.findings[0].severity, Severity::leak);
    EXPECT_EQ(explanation.findings[0].basis.find("inferred"), std::string::npos);

    RunBuilder run;
    run.segment(GiB);
    run.alloc(64 * MiB, run.line("load"));
    for (int i = 0; i < 20; ++i) {
        run.free(run.alloc(4 * MiB, run.line("train")));
        run.step();
    }
    const Finding first = explained(*run.make_context()).findings.at(0);
    ASSERT_EQ(first.severity, Severity::pattern);
    EXPECT_EQ(first.confidence, Confidence::likely);
    EXPECT_TRUE(first.basis.ends_with("nothing in the recording shows a leak or waste.")) << first.basis;
}

/// Returns twenty steps that retain 2 MiB each, on a device of this size.
RunBuilder on_device(int64_t total) {
    RunBuilder run;
    run.device().total_bytes = total;
    run.segment(GiB);
    for (int i = 0; i < 20; ++i) {
        iterate(run, 1, 2 * MiB, "train");
        run.step();
    }
    return run;
}

TEST(ExplainOrder, TheErrorComesFirstAndNamesALeakThatFilledTheDevice) {
    for (const uint64_t model : {uint64_t{1}, uint64_t{400}}) {
        RunBuilder run;
        run.segment(GiB);
        run.alloc(model * MiB, run.line("build"));
        for (int i = 0; i < 40; ++i) {
            iterate(run, 1, MiB, "train");
            run.step();
        }
        run.out_of_memory(GiB, 0, run.line("forward"));
        const Explanation explanation = explained(*run.make_context());
        ASSERT_GE(explanation.findings.size(), 2u);
        EXPECT_EQ(explanation.findings[0].kind, FindingKind::out_of_memory);
        EXPECT_EQ(explanation.findings[1].kind, FindingKind::unexplained_growth);
        const std::string text = test::joined(explanation.findings[0].text);
        EXPECT_EQ(text.find("A leak of 40.0 MiB comes first") != std::string::npos, model == 1) << text;
    }
}

TEST(ExplainForecast, SaysWhenTheDeviceIsFull) {
    const Explanation explanation = explained(*on_device(2 * GiB).make_context());
    const std::string text = test::joined(explanation.findings.at(0).text);
    EXPECT_NE(text.find("At this rate the 2.00 GiB of the GPU are full after another 1,004 steps."), std::string::npos)
        << text;
}

TEST(ExplainForecast, EndsBeforeNumbersOfStepsThatNoRunHas) {
    EXPECT_EQ(test::joined(explained(*on_device(500 * GiB).make_context()).findings.at(0).text).find("At this rate"),
              std::string::npos);
}

TEST(ExplainForecast, NeedsTheSizeOfTheDeviceAndALeakOfGpuMemory) {
    EXPECT_EQ(test::joined(explained(*on_device(0).make_context()).findings.at(0).text).find("At this rate"),
              std::string::npos);
    RunBuilder run;
    run.device().total_bytes = 2 * GiB;
    run.segment(GiB);
    for (int i = 0; i < 20; ++i) {
        run.free(run.alloc(MiB, run.line("train")));
        test::take(run, DriverMemoryKind::pinned, 4 * MiB, run.now(), "libtorch_cuda.so", run.line("stage"), -1);
        run.step();
    }
    const Explanation pinned = explained(*run.make_context());
    ASSERT_EQ(test::leaks_of(pinned), "pinned-memory-growth");
    EXPECT_EQ(test::joined(pinned.findings[0].text).find("At this rate"), std::string::npos);
}

TEST(ExplainOrder, GrowthThatWouldNeverFillTheDeviceIsAPattern) {
    for (const bool is_small : {true, false}) {
        RunBuilder run;
        run.device().total_bytes = 128 * GiB;
        run.segment(8 * GiB);
        for (int i = 0; i < 20; ++i) {
            run.free(run.alloc(static_cast<uint64_t>(4 * GiB), run.line("train")));
            run.alloc(static_cast<uint64_t>(is_small ? 4 * KiB : 2 * MiB), run.line("collect"));
            run.step();
        }
        const Explanation explanation = explained(*run.make_context());
        const Finding* growth = test::find(explanation, FindingKind::unexplained_growth);
        ASSERT_NE(growth, nullptr);
        EXPECT_EQ(growth->severity, is_small ? Severity::pattern : Severity::leak);
        EXPECT_EQ(explanation.run_trend, is_small ? RunTrend::steady : RunTrend::grows);
        const std::string summary = test::joined(explanation.summary);
        EXPECT_EQ(summary.find("Memory grows by only 4.00 KiB per step.") != std::string::npos, is_small) << summary;
    }
}

/// Returns the finding about an optimizer that gets the state of a new parameter in each step, and keeps that of an old
/// one. `made_anew`: each step makes all of the state again.
Finding growing_state(bool made_anew) {
    test::Program program;
    program.run.device().total_bytes = 128 * GiB;
    program.run.segment(8 * GiB);
    std::vector<AllocationIndex> states;
    const auto add = [&](int64_t bytes, int number) {
        const std::string name = "exp_avg of Net.heads." + std::to_string(number) + ".weight";
        states.push_back(program.labeled(bytes, "step", Category::optimizer_state, name));
    };
    for (int i = 0; i < 20; ++i) {
        if (made_anew) {
            std::for_each(states.begin(), states.end(), [&](AllocationIndex a) { program.run.free(a); });
            states.clear();
        }
        for (int number = made_anew ? 0 : i; number <= i; ++number) {
            add(number == 0 ? 64 * MiB : 4 * KiB, number);
        }
        program.run.free(program.run.alloc(static_cast<uint64_t>(4 * GiB), program.run.line("train")));
        program.run.step();
    }
    const Explanation explanation = explained(*program.make_context());
    const Finding* growth = test::find(explanation, FindingKind::optimizer_state_grows);
    return growth ? *growth : Finding();
}

TEST(ExplainOrder, GrowthIsWhatHasGrownNotWhatItsLineHolds) {
    for (const bool made_anew : {false, true}) {
        const Finding growth = growing_state(made_anew);
        EXPECT_EQ(growth.kind, FindingKind::optimizer_state_grows);
        EXPECT_EQ(growth.severity, Severity::pattern) << "of 4 KiB per step";
        EXPECT_LE(growth.bytes, 20 * 4 * KiB);
        EXPECT_GE(growth.bytes, 16 * 4 * KiB);
        EXPECT_EQ(growth.per_iteration, 4 * KiB);
    }
}

}  // namespace
}  // namespace tidemark
