// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Growth outside the allocator: process groups, programs without PyTorch, pinned memory; contexts of brief uses.
#include <gtest/gtest.h>

#include "tests/unit/explained.h"

namespace tidemark {
namespace {

using test::diagnose;
using test::explained;
using test::RunBuilder;
using test::take;

constexpr int64_t KiB = 1024, MiB = 1024 * KiB;
constexpr int64_t ms = RunBuilder::millisecond;
constexpr const char* nccl = "/site-packages/nvidia/nccl/lib/libnccl.so.2";

/// Returns ten times `every` steps. Every nth of them creates a process group of 16 MiB, `growing` times.
RunBuilder groups(int growing, int every = 1) {
    RunBuilder run;
    run.segment(20 * MiB);
    for (int i = 0; i < 10 * every; ++i) {
        const AllocationIndex work = run.alloc(MiB, run.line("train"));
        if (i % every == 0 && i / every < growing) {
            take(run, DriverMemoryKind::physical, 16 * MiB, run.now(), nccl, run.line("make_group"));
        }
        run.free(work);
        run.step();
    }
    return run;
}

TEST(ExplainProcessGroups, AccumulateWithEachStep) {
    const Explanation explanation = explained(*groups(10).make_context());
    ASSERT_EQ(test::leaks_of(explanation), "process-groups-grow") << "no second leak of the same memory";
    const Finding& leak = explanation.findings[0];
    EXPECT_EQ(leak.per_iteration, 16 * MiB);
    EXPECT_EQ(leak.bytes, 144 * MiB) << "without the first group, which the program needs";
    EXPECT_EQ(leak.count, 10);
    EXPECT_EQ(leak.line, "train.py:10 make_group");
    EXPECT_EQ(leak.title, "Process groups accumulate: NCCL's memory grows by 16.0 MiB per step");
    EXPECT_NE(leak.fixes[1].code.find("destroy_process_group"), std::string::npos);
}

TEST(ExplainProcessGroups, AccumulateOnceInSeveralSteps) {
    const Explanation explanation = explained(*groups(10, 6).make_context());
    ASSERT_EQ(test::leaks_of(explanation), "process-groups-grow");
    const Finding& leak = explanation.findings[0];
    EXPECT_EQ(leak.title, "Process groups accumulate: NCCL's memory grows by 16.0 MiB every 6 steps");
    ASSERT_TRUE(leak.rises);
    EXPECT_EQ(leak.rises->every, 6);
}

TEST(ExplainProcessGroups, AreNoLeakIfCreatedOnceOrByAnotherLibrary) {
    EXPECT_TRUE(diagnose(diagnoses::process_groups_grow, *groups(1).make_context()).empty());
    RunBuilder run = groups(10);
    for (DriverAllocation& a : run.trace.driver_allocations) {
        a.source = "/usr/lib/libfused.so";
    }
    EXPECT_EQ(test::leaks_of(explained(*run.make_context())), "non-pytorch-growth");
}

TEST(ExplainLibraries, MemoryOfTheirHandlesIsOfThreads) {
    RunBuilder run = groups(10);
    for (DriverAllocation& a : run.trace.driver_allocations) {
        a.source = "/site-packages/nvidia/cu13/lib/libcublas.so.13";
    }
    const auto context = run.make_context();
    const Findings alone = diagnose(diagnoses::non_pytorch_growth, *context);
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_EQ(alone[0].severity, Severity::leak);
    EXPECT_NE(alone[0].fixes.at(0).code.find("ThreadPoolExecutor"), std::string::npos);

    Finding calls;
    calls.kind = FindingKind::unfinished_calls;
    calls.severity = Severity::leak;
    EXPECT_EQ(diagnose(diagnoses::non_pytorch_growth, *context, {calls}).at(0).severity, Severity::pattern)
        << "the threads are the leak";
}

/// Returns the context of a program without PyTorch that allocates 8 MiB twenty times; `frees`: and frees each.
std::unique_ptr<AnalysisContext> without_pytorch(bool frees, DriverMemoryKind kind = DriverMemoryKind::device) {
    RunBuilder run;
    for (int64_t i = 0; i < 20; ++i) {
        take(run, kind, 8 * MiB, i * ms, "/usr/lib/libengine.so", run.line("infer"));
        if (frees) {
            run.trace.driver_allocations.back().free_time = i * ms + ms / 2;
        }
    }
    run.trace.duration = 20 * ms;
    const auto trace = std::make_shared<const Trace>(run.trace);
    return std::make_unique<AnalysisContext>(std::make_shared<const Analysis>(trace, trace->devices[0]), nullptr);
}

TEST(ExplainWithoutPyTorch, DriverMemoryGrowsWithoutIterations) {
    const auto context = without_pytorch(false);
    EXPECT_EQ(context->now_time(), 19 * ms) << "the last allocation";
    const Explanation explanation = explained(*context);
    ASSERT_EQ(test::leaks_of(explanation), "non-pytorch-growth");
    const Finding& leak = explanation.findings[0];
    EXPECT_FALSE(leak.per_iteration) << "nothing repeats";
    EXPECT_EQ(leak.bytes, 160 * MiB);
    EXPECT_EQ(leak.count, 20);
    EXPECT_EQ(leak.title, "Memory of the library libengine.so grows: 160 MiB are not freed");
    const std::string summary = test::joined(explanation.summary);
    EXPECT_NE(summary.find("Memory grows and is never freed."), std::string::npos) << summary;
}

TEST(ExplainWithoutPyTorch, MemoryThatIsFreedIsNoLeak) {
    EXPECT_EQ(test::leaks_of(explained(*without_pytorch(true))), "");
}

TEST(ExplainWithoutPyTorch, PinnedMemoryDoesNotGrowWithoutIterations) {
    EXPECT_EQ(test::leaks_of(explained(*without_pytorch(false, DriverMemoryKind::pinned))), "")
        << "nothing repeats, so these may be the buffers of the whole run";
}

/// Returns ten steps, each of which pins this much memory, after a first buffer.
RunBuilder pinning(int64_t buffer, int64_t each) {
    RunBuilder run;
    run.segment(20 * MiB);
    take(run, DriverMemoryKind::pinned, buffer, 0, "libtorch_cuda.so", 0, -1);
    for (int i = 0; i < 10; ++i) {
        run.free(run.alloc(MiB, run.line("train")));
        take(run, DriverMemoryKind::pinned, each, run.now(), "libtorch_cuda.so", run.line("stage"), -1);
        run.step();
    }
    return run;
}

TEST(ExplainPinnedMemory, ThatGrowsIsNotCountedAsGpuMemory) {
    const Explanation explanation = explained(*pinning(0, 4 * MiB).make_context());
    ASSERT_EQ(test::leaks_of(explanation), "pinned-memory-growth");
    EXPECT_EQ(explanation.findings[0].bytes, 40 * MiB);
    EXPECT_EQ(explanation.findings[0].per_iteration, 4 * MiB);
    EXPECT_FALSE(explanation.findings[0].component);
    EXPECT_NE(explanation.run_trend, RunTrend::grows);
}

TEST(ExplainPinnedMemory, GrowsFromTwentyMebibytesOn) {
    EXPECT_EQ(test::leaks_of(explained(*pinning(0, MiB).make_context())), "");
    EXPECT_EQ(test::leaks_of(explained(*pinning(64 * MiB, 4).make_context())), "") << "one buffer";
    EXPECT_EQ(test::leaks_of(explained(*pinning(64 * MiB, 3 * MiB).make_context())), "pinned-memory-growth");
}

/// Returns a program that works on GPU 0 and loads 64 MiB on GPU 1, which it frees unless `stays`.
RunBuilder loading(const std::string& file, bool stays) {
    RunBuilder run;
    run.segment(64 * MiB);
    for (int i = 0; i < 60; ++i) {
        run.free(run.alloc(40 * MiB, run.line("train")));
    }
    DeviceHistory second;
    second.device = 1;
    const StackId line = test::stack_of(run.trace.stacks, {{file, "load"}, {"/home/anna/project/train.py", "resume"}});
    test::add_allocation(second, 0, stays ? never : 1, stays ? never : 2, 0x1000, 64 * MiB, 64 * MiB, line);
    second.event_time = {0};
    second.event_ref = {{Action::alloc, 0}};
    if (!stays) {
        second.event_time = {0, ms, ms};
        second.event_ref = {{Action::alloc, 0}, {Action::free_requested, 0}, {Action::free_completed, 0}};
    }
    run.trace.devices.push_back(second);
    take(run, DriverMemoryKind::context, 500 * MiB, 0, "", 0, 0);
    take(run, DriverMemoryKind::context, 520 * MiB, 0, "", 0, 1);
    return run;
}

TEST(ExplainBriefUse, OfAnotherDeviceLeavesAContext) {
    const Findings loaded = diagnose(diagnoses::stray_context,
                                     *loading("/venv/site-packages/torch/serialization.py", false).make_context());
    ASSERT_EQ(loaded.size(), 1u);
    EXPECT_EQ(loaded[0].severity, Severity::waste);
    EXPECT_EQ(loaded[0].bytes, 520 * MiB);
    EXPECT_EQ(loaded[0].line, "train.py:20 resume");
    EXPECT_NE(loaded[0].fixes[0].code.find("map_location"), std::string::npos) << loaded[0].fixes[0].code;

    const Findings other = diagnose(diagnoses::stray_context, *loading("/home/anna/data.py", false).make_context());
    ASSERT_EQ(other.size(), 1u);
    EXPECT_NE(other[0].fixes[0].code.find("set_device"), std::string::npos) << other[0].fixes[0].code;
}

TEST(ExplainBriefUse, IsNoStrayContextIfTensorsStayOrTheDeviceWorks) {
    const std::string file = "/venv/site-packages/torch/serialization.py";
    EXPECT_TRUE(diagnose(diagnoses::stray_context, *loading(file, true).make_context()).empty());
    RunBuilder run = loading(file, false);
    DeviceHistory& second = run.trace.devices[1];
    for (uint32_t i = 1; i < 6; ++i) {
        const auto event = static_cast<EventNumber>(i * 3);
        test::add_allocation(second, event, event + 1, event + 2, 0x1000, 64 * MiB, 64 * MiB, 0);
        for (const Action action : {Action::alloc, Action::free_requested, Action::free_completed}) {
            second.event_time.push_back(i * ms);
            second.event_ref.emplace_back(action, i);
        }
    }
    EXPECT_TRUE(diagnose(diagnoses::stray_context, *run.make_context()).empty());
}

}  // namespace
}  // namespace tidemark
