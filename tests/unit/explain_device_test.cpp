// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Diagnoses of the device: contexts, libraries, other processes, host memory, streams, pools, checkpoints.
#include <gtest/gtest.h>

#include "tests/unit/explained.h"

namespace tidemark {
namespace {

using test::diagnose;
using test::joined;
using test::RunBuilder;
using test::take;

constexpr int64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;
constexpr int64_t ms = RunBuilder::millisecond;

void sample(RunBuilder& run, int64_t time, int64_t own, std::vector<std::pair<int64_t, int64_t>> others = {}) {
    int64_t used = own;
    run.trace.samples.push_back({time, 0, 100, own, 0, SampleSource::nvml});
    for (const auto& [pid, bytes] : others) {
        run.trace.samples.push_back({time, 0, pid, bytes, 0, SampleSource::nvml});
        used += bytes;
    }
    run.trace.samples.push_back({time, 0, std::nullopt, used, 140 * GiB, SampleSource::nvml});
}

/// Adds ten steps that leave nothing allocated; `in_step` adds to each.
template <class InStep>
void ten_steps(RunBuilder& run, InStep&& in_step) {
    for (int i = 0; i < 10; ++i) {
        const AllocationIndex work = run.alloc(1 * MiB, run.line("train"));
        in_step();
        run.free(work);
        run.step();
    }
}

RunBuilder one_element() {
    RunBuilder run;
    run.segment(2 * MiB);
    run.alloc(4, run.line("main"));
    take(run, DriverMemoryKind::context, 600 * MiB, 0);
    return run;
}

TEST(ExplainContext, ExplainsAProgramWithOneElement) {
    const auto context = one_element().make_context();
    const Findings findings = diagnose(diagnoses::cuda_context, *context);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::cuda_context);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 600 * MiB);
    EXPECT_NE(findings[0].text.back().find("4 B"), std::string::npos);
    EXPECT_NE(findings[0].text.back().find("512 B"), std::string::npos);
    EXPECT_NE(findings[0].text.back().find("2.00 MiB"), std::string::npos);
}

TEST(ExplainContext, TitleAndSummaryCountTheSameParts) {
    RunBuilder run = one_element();
    const std::string without = diagnose(diagnoses::cuda_context, *run.make_context()).at(0).title;
    EXPECT_NE(without.find("the CUDA context takes 100 %"), std::string::npos) << without;
    take(run, DriverMemoryKind::kernels, 60 * MiB, 0);
    const std::string with = diagnose(diagnoses::cuda_context, *run.make_context()).at(0).title;
    EXPECT_NE(with.find("the CUDA context and its kernels take"), std::string::npos) << with;
}

TEST(ExplainContext, IsBackgroundIfAnotherFindingExplainsTheMemory) {
    const auto context = one_element().make_context();
    Finding leak;
    leak.kind = FindingKind::growing_container;
    leak.severity = Severity::leak;
    EXPECT_EQ(diagnose(diagnoses::cuda_context, *context, {leak}).back().severity, Severity::background);
}

TEST(ExplainContext, IsBackgroundWithLargeTensors) {
    RunBuilder run = one_element();
    run.segment(GiB);
    run.alloc(GiB, 0, 0, 1);
    EXPECT_EQ(diagnose(diagnoses::cuda_context, *run.make_context()).at(0).severity, Severity::background);
}

TEST(ExplainContext, ReportsNothingWithoutMeasurements) {
    RunBuilder run = one_element();
    run.trace.driver_allocations.clear();
    EXPECT_TRUE(diagnose(diagnoses::cuda_context, *run.make_context()).empty());
}

/// Returns a program that works on GPU 0, with a tensor of this size and a context on GPU 1.
RunBuilder two_gpus(int64_t bytes_on_second) {
    RunBuilder run;
    run.segment(64 * MiB);
    run.alloc(40 * MiB, run.line("train"));
    DeviceHistory second;
    second.device = 1;
    test::add_allocation(second, 0, never, never, 0x1000, static_cast<uint64_t>(bytes_on_second),
                         static_cast<uint64_t>(bytes_on_second), run.line("count"));
    second.event_time = {0};
    second.event_ref = {{Action::alloc, 0}};
    run.trace.devices.push_back(second);
    take(run, DriverMemoryKind::context, 500 * MiB, 0, "", 0, 0);
    take(run, DriverMemoryKind::context, 520 * MiB, 0, "", 0, 1);
    return run;
}

TEST(ExplainStrayContext, NamesTheLineThatUsedTheOtherDevice) {
    const Findings findings = diagnose(diagnoses::stray_context, *two_gpus(512).make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].bytes, 520 * MiB);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].line, "train.py:10 count");
}

TEST(ExplainStrayContext, ReportsNothingIfBothDevicesWork) {
    EXPECT_TRUE(diagnose(diagnoses::stray_context, *two_gpus(32 * MiB).make_context()).empty());
}

TEST(ExplainOtherProcesses, ReportsAProcessThatStarted) {
    RunBuilder run;
    run.segment(20 * MiB);
    ten_steps(run, [] {});
    sample(run, 5 * ms, 600 * MiB);
    sample(run, 15 * ms, 600 * MiB, {{7, 2 * GiB}});
    sample(run, 25 * ms, 600 * MiB);
    const Findings findings = diagnose(diagnoses::other_processes, *run.make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 2 * GiB);
    EXPECT_EQ(findings[0].evidence.front().time, 15 * ms);
}

TEST(ExplainOtherProcesses, IsBackgroundIfTheyRunAllTheTime) {
    RunBuilder run;
    run.segment(20 * MiB);
    ten_steps(run, [] {});
    for (const int64_t time : {1 * ms, 10 * ms, 20 * ms}) {
        sample(run, time, 600 * MiB, {{7, 2 * GiB}});
    }
    EXPECT_EQ(diagnose(diagnoses::other_processes, *run.make_context()).at(0).severity, Severity::background);
}

TEST(ExplainOtherProcesses, ReportsNothingWithoutOtherProcesses) {
    RunBuilder run;
    run.segment(20 * MiB);
    ten_steps(run, [] {});
    sample(run, 5 * ms, 600 * MiB, {{7, 4 * MiB}});
    EXPECT_TRUE(diagnose(diagnoses::other_processes, *run.make_context()).empty());
}

TEST(ExplainOtherProcesses, DoNotCountAsPartOfTheProgram) {
    RunBuilder run;
    run.segment(20 * MiB);
    ten_steps(run, [] {});
    sample(run, 1 * ms, 600 * MiB, {{7, 2 * GiB}});
    const Explanation explanation = test::explained(*run.make_context());
    const std::string& sentence = explanation.summary.front();
    EXPECT_NE(sentence.find("uses 600 MiB"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("Other programs use another 2.00 GiB."), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find("process 7"), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find('%'), std::string::npos)
        << "the shares below the sentence are of the whole GPU: " << sentence;
}

TEST(ExplainOtherProcesses, HideNoPartOfTheProgram) {
    RunBuilder run;
    run.segment(20 * MiB);
    ten_steps(run, [] {});
    sample(run, 1 * ms, 600 * MiB, {{7, 70 * GiB}});
    const Explanation explanation = test::explained(*run.make_context());
    EXPECT_TRUE(std::any_of(explanation.shares.begin(), explanation.shares.end(), [](const Share& share) {
        return share.component == ComponentKind::cached_segments || share.component == ComponentKind::context;
    })) << explanation.summary.front();
}

TEST(ExplainOtherProcesses, DoNotCountAsTheRestOfTheProgram) {
    RunBuilder run;
    run.segment(20 * MiB);
    ten_steps(run, [] {});
    sample(run, 1 * ms, 600 * MiB,
           {{7, 2 * GiB}, {8, GiB}, {9, GiB}, {10, GiB}, {11, GiB}, {12, GiB}, {13, GiB}, {14, GiB}, {15, GiB}});
    const std::string sentence = test::explained(*run.make_context()).summary.front();
    EXPECT_NE(sentence.find("uses 600 MiB"), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find("GiB everything else"), std::string::npos) << sentence;
}

TEST(ExplainLibraryGrowth, NamesLibraryLineAndBytes) {
    RunBuilder run;
    run.segment(20 * MiB);
    const StackId line = run.line("fused_loss");
    take(run, DriverMemoryKind::device, 64 * MiB, 0, "/usr/lib/libcublas.so.13");
    ten_steps(run, [&] { take(run, DriverMemoryKind::device, 8 * MiB, run.now(), "/usr/lib/libfused.so", line); });
    const Findings findings = diagnose(diagnoses::non_pytorch_growth, *run.make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::non_pytorch_growth);
    EXPECT_EQ(findings[0].severity, Severity::leak);
    EXPECT_EQ(findings[0].bytes, 80 * MiB);
    EXPECT_EQ(findings[0].per_iteration, 8 * MiB);
    EXPECT_EQ(findings[0].since_iteration, 0);
    EXPECT_EQ(findings[0].line, "train.py:10 fused_loss");
    EXPECT_NE(findings[0].title.find("libfused.so"), std::string::npos);
}

TEST(ExplainLibraryGrowth, ReportsNothingIfTheLibraryFreesMemory) {
    RunBuilder run;
    run.segment(20 * MiB);
    ten_steps(run, [&] {
        take(run, DriverMemoryKind::device, 8 * MiB, run.now(), "libfused.so");
        run.trace.driver_allocations.back().free_time = run.now() + ms;
    });
    EXPECT_TRUE(diagnose(diagnoses::non_pytorch_growth, *run.make_context()).empty());
}

TEST(ExplainLibraryGrowth, InfersItFromNvmlWithoutDriverCalls) {
    for (const int64_t rise : {int64_t{0}, 32 * MiB}) {
        RunBuilder run;
        run.segment(20 * MiB);
        ten_steps(run,
                  [&] { sample(run, run.now(), 600 * MiB + rise * static_cast<int64_t>(run.trace.steps.size())); });
        const Findings findings = diagnose(diagnoses::non_pytorch_growth, *run.make_context());
        ASSERT_EQ(findings.size(), rise > 0 ? 1u : 0u);
        if (rise > 0) {
            EXPECT_EQ(findings[0].confidence, Confidence::likely);
            EXPECT_EQ(findings[0].component, ComponentKind::unknown);
            EXPECT_FALSE(findings[0].unknowns.empty());
        }
    }
}

RunBuilder products_on(uint32_t streams, uint64_t bytes) {
    RunBuilder run;
    const uint32_t op = run.origin("aten::mm");
    for (uint32_t stream = 0; stream < streams; ++stream) {
        run.trace.streams.resize(streams);
        run.alloc(bytes, run.line("multiply"), op, run.segment(32 * MiB, stream));
    }
    return run;
}

TEST(ExplainLibraryWorkspace, CountsOneForEachStream) {
    RunBuilder run = products_on(4, 32 * MiB);
    take(run, DriverMemoryKind::device, 64 * MiB, 0, "libcublas.so.13");
    const Findings findings = diagnose(diagnoses::library_workspace, *run.make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, 4 * 32 * MiB + 64 * MiB);
    EXPECT_EQ(findings[0].count, 4);
    EXPECT_EQ(findings[0].fixes.back().bytes, 4 * (32 * MiB - 8'519'680));
}

TEST(ExplainLibraryWorkspace, IsBackgroundOnOneStream) {
    EXPECT_EQ(diagnose(diagnoses::library_workspace, *products_on(1, 8'519'680).make_context()).at(0).severity,
              Severity::background);
}

TEST(ExplainLibraryWorkspace, DoesNotCountTensors) {
    EXPECT_TRUE(diagnose(diagnoses::library_workspace, *products_on(1, 32 * MiB - 512).make_context()).empty());
    RunBuilder run;
    run.segment(64 * MiB);
    run.alloc(32 * MiB, 0, run.origin("aten::randn"));
    EXPECT_TRUE(diagnose(diagnoses::library_workspace, *run.make_context()).empty());
}

/// The first step allocates and frees `trials` workspaces of 1 GiB; all steps use smaller ones.
RunBuilder convolutions(int trials, const std::string& op) {
    RunBuilder run;
    run.segment(2 * GiB);
    const uint32_t conv = run.origin(op);
    for (int i = 0; i < trials; ++i) {
        run.free(run.alloc(GiB, run.line("forward"), conv));
    }
    ten_steps(run, [&] { run.free(run.alloc(70 * MiB, run.line("forward"), conv)); });
    run.alloc(300 * MiB, run.line("train"));
    return run;
}

TEST(ExplainWorkspaceBurst, ReportsTrials) {
    const Findings findings = diagnose(diagnoses::workspace_burst, *convolutions(3, "aten::conv2d").make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::pattern);
    EXPECT_EQ(findings[0].bytes, GiB);
    EXPECT_EQ(findings[0].count, 3);
    EXPECT_EQ(findings[0].fixes.front().bytes, GiB - 70 * MiB);
}

TEST(ExplainWorkspaceBurst, ReportsNothingIfThePeakIsNotRaised) {
    EXPECT_TRUE(diagnose(diagnoses::workspace_burst, *convolutions(0, "aten::conv2d").make_context()).empty());
    EXPECT_TRUE(diagnose(diagnoses::workspace_burst, *convolutions(3, "aten::randn").make_context()).empty());
}

TEST(ExplainCollectiveBuffers, CountsTheMemoryOfNccl) {
    RunBuilder run;
    run.segment(20 * MiB);
    run.alloc(MiB, run.line("train"));
    const StackId line = run.line("make_groups");
    take(run, DriverMemoryKind::physical, 100 * MiB, 0, "/site-packages/nvidia/nccl/lib/libnccl.so.2", line);
    take(run, DriverMemoryKind::mapped, 100 * MiB, 0, "/site-packages/nvidia/nccl/lib/libnccl.so.2", line);
    const Findings findings = diagnose(diagnoses::collective_buffers, *run.make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].bytes, 100 * MiB);
    EXPECT_EQ(findings[0].line, "train.py:10 make_groups");
}

TEST(ExplainCollectiveBuffers, ReportsNothingWithoutNccl) {
    RunBuilder run;
    run.segment(20 * MiB);
    run.alloc(MiB);
    take(run, DriverMemoryKind::device, 100 * MiB, 0, "libcublas.so.13");
    EXPECT_TRUE(diagnose(diagnoses::collective_buffers, *run.make_context()).empty());
}

TEST(ExplainProcessGroups, GrowWithEachGroup) {
    RunBuilder run;
    run.segment(20 * MiB);
    const StackId line = run.line("train");
    ten_steps(run, [&] { take(run, DriverMemoryKind::physical, 100 * MiB, run.now(), "/nccl/libnccl.so.2", line); });
    const auto context = run.make_context();
    const Findings findings = diagnose(diagnoses::process_groups_grow, *context);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::process_groups_grow);
    EXPECT_EQ(findings[0].severity, Severity::leak);
    EXPECT_EQ(findings[0].per_iteration, 100 * MiB);
    EXPECT_EQ(findings[0].count, 10);
    EXPECT_EQ(findings[0].line, "train.py:10 train");
    EXPECT_TRUE(diagnose(diagnoses::non_pytorch_growth, *context).empty());
    EXPECT_TRUE(diagnose(diagnoses::collective_buffers, *context).empty());
}

RunBuilder profiled() {
    RunBuilder run;
    run.segment(20 * MiB);
    ten_steps(run, [] {});
    take(run, DriverMemoryKind::device, MiB, 0, "libcublas.so.13");
    DataGap data_gap;
    data_gap.kind = DataGapKind::not_recorded;
    data_gap.reason = DataGapReason::cupti_paused;
    data_gap.arguments = {{"from_ns", "10000000"}, {"until_ns", "20000000"}};
    run.trace.data_gaps.push_back(data_gap);
    return run;
}

TEST(ExplainProfilerOverhead, MeasuresTheRiseInNvmlSamples) {
    RunBuilder run = profiled();
    sample(run, 5 * ms, 600 * MiB);
    sample(run, 15 * ms, 620 * MiB);
    sample(run, 25 * ms, 600 * MiB);
    const Findings findings = diagnose(diagnoses::profiler_overhead, *run.make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].bytes, 20 * MiB);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].evidence.front().time, 10 * ms);
    EXPECT_EQ(findings[0].evidence.front().until, 20 * ms);
}

TEST(ExplainProfilerOverhead, ComparesWithTheSampleBeforeEvenIfOneDuringIsNearer) {
    RunBuilder run = profiled();
    sample(run, 5 * ms, 600 * MiB);
    sample(run, 11 * ms, 620 * MiB);
    EXPECT_EQ(diagnose(diagnoses::profiler_overhead, *run.make_context()).at(0).bytes, 20 * MiB);
}

TEST(ExplainProfilerOverhead, ReportsMissingMeasurements) {
    const Findings findings = diagnose(diagnoses::profiler_overhead, *profiled().make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::background);
    EXPECT_EQ(findings[0].bytes, 0);
    EXPECT_FALSE(findings[0].unknowns.empty());
}

TEST(ExplainProfilerOverhead, ReportsNothingWithoutAProfiler) {
    RunBuilder run = profiled();
    run.trace.data_gaps.clear();
    EXPECT_TRUE(diagnose(diagnoses::profiler_overhead, *run.make_context()).empty());
}

/// Returns a run with `count` batches, each in a segment of its own. The frees complete before the next segment is
/// taken if `waits`, otherwise only at the end.
RunBuilder recorded_on_a_stream(int count, bool waits = false) {
    RunBuilder run;
    std::vector<AllocationIndex> pending;
    for (int i = 0; i < count; ++i) {
        const uint32_t segment = run.segment(10 * MiB);
        pending.push_back(run.alloc(10 * MiB, run.line("load"), 0, segment));
        if (!waits) {
            run.request_free(pending.back());
        }
    }
    for (const AllocationIndex a : pending) {
        if (waits) {
            run.request_free(a);
        }
    }
    for (const AllocationIndex a : pending) {
        run.complete_free(a);
    }
    return run;
}

TEST(ExplainPendingFree, ReportsTheSegmentsThatPendingBlocksCouldHaveReplaced) {
    const Findings findings = diagnose(diagnoses::pending_free, *recorded_on_a_stream(12).make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].bytes, 110 * MiB);
    EXPECT_EQ(findings[0].count, 11);
    EXPECT_EQ(findings[0].line, "train.py:10 load");
    EXPECT_NE(joined(findings[0].text).find("At the peak 110 MiB were pending free (11 freed blocks)"),
              std::string::npos);
}

TEST(ExplainPendingFree, ReportsNothingForThreeBlocks) {
    EXPECT_TRUE(diagnose(diagnoses::pending_free, *recorded_on_a_stream(3).make_context()).empty());
}

TEST(ExplainPendingFree, ReportsNothingIfNoSegmentWasTakenMeanwhile) {
    EXPECT_TRUE(diagnose(diagnoses::pending_free, *recorded_on_a_stream(12, true).make_context()).empty());
}

TEST(ExplainPendingFree, ReportsNothingIfTheBlocksCannotServeTheRequest) {
    RunBuilder run;
    run.segment(200 * MiB);
    for (int i = 0; i < 12; ++i) {
        run.request_free(run.alloc(10 * MiB, run.line("load")));
    }
    const auto without = [&](uint64_t bytes, uint32_t stream) {
        RunBuilder more = run;
        for (int i = 0; i < 6; ++i) {
            const uint32_t segment = more.segment(bytes, stream);
            more.alloc(bytes, more.line("compute"), 0, segment);
        }
        return diagnose(diagnoses::pending_free, *more.make_context());
    };
    EXPECT_TRUE(without(20 * MiB, 0).empty()) << "too small";
    EXPECT_TRUE(without(10 * MiB, 1).empty()) << "of another stream";
    ASSERT_EQ(without(10 * MiB, 0).size(), 1u);
    EXPECT_EQ(without(10 * MiB, 0)[0].bytes, 60 * MiB);
}

RunBuilder captures(int graphs) {
    RunBuilder run;
    run.segment(20 * MiB);
    ten_steps(run, [&] {
        if (static_cast<int>(run.trace.steps.size()) < graphs) {
            Pool pool;
            pool.owner[0] = static_cast<int64_t>(run.trace.steps.size()) + 1;
            run.trace.pools.push_back(pool);
            run.segment(20 * MiB, 0, static_cast<uint32_t>(run.trace.pools.size() - 1));
        }
    });
    return run;
}

TEST(ExplainPrivatePools, GrowWithEachShape) {
    const Findings findings = diagnose(diagnoses::cuda_graph_pools_grow, *captures(10).make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::cuda_graph_pools_grow);
    EXPECT_EQ(findings[0].severity, Severity::leak);
    EXPECT_EQ(findings[0].bytes, 200 * MiB);
    EXPECT_EQ(findings[0].per_iteration, 20 * MiB);
    EXPECT_EQ(findings[0].count, 10);
    EXPECT_TRUE(diagnose(diagnoses::private_pools, *captures(10).make_context()).empty());
}

TEST(ExplainPrivatePools, AreBackgroundIfTheyStopGrowing) {
    const Findings findings = diagnose(diagnoses::private_pools, *captures(2).make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, FindingKind::private_pools);
    EXPECT_EQ(findings[0].severity, Severity::background);
    EXPECT_TRUE(diagnose(diagnoses::cuda_graph_pools_grow, *captures(2).make_context()).empty());
    EXPECT_TRUE(diagnose(diagnoses::private_pools, *captures(0).make_context()).empty());
}

/// Returns a model of two weights, and two more tensors that torch.load allocated.
RunBuilder resumed(uint64_t loaded) {
    RunBuilder run;
    run.segment(64 * MiB);
    const StackId load = test::stack_of(run.trace.stacks, {{"/venv/site-packages/torch/serialization.py", "_load"},
                                                           {"/home/anna/project/train.py", "resume"}});
    for (int i = 0; i < 2; ++i) {
        run.alloc(8 * MiB, run.line("build"));
        run.alloc(loaded, load);
    }
    return run;
}

TEST(ExplainCheckpoint, IsASecondCopyOfTheWeights) {
    const Findings findings = diagnose(diagnoses::checkpoint_on_gpu, *resumed(8 * MiB).make_context());
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].severity, Severity::waste);
    EXPECT_EQ(findings[0].bytes, 16 * MiB);
    EXPECT_EQ(findings[0].line, "train.py:20 resume");
}

TEST(ExplainCheckpoint, ReportsNothingWithoutASecondCopy) {
    EXPECT_TRUE(diagnose(diagnoses::checkpoint_on_gpu, *resumed(9 * MiB).make_context()).empty());
}

}  // namespace
}  // namespace tidemark
