// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Explanations of imported snapshots: taken while the program runs, often without a history, sometimes contradictory.
#include <gtest/gtest.h>

#include "storage/report/report.h"
#include "tests/unit/explained.h"

namespace tidemark::test {
namespace {

constexpr uint64_t MiB = 1 << 20;

class SnapshotRun : public RunBuilder {
public:
    SnapshotRun() {
        trace.processes.clear();
        trace.source = "PyTorch snapshot run.pickle (pickle protocol 4)";
    }

    /// Adds an allocation from before the history, in a segment of its own. Requires that the history has none yet.
    void earlier(uint64_t bytes, StackId stack = 0) {
        Segment segment;
        segment.address = uint64_t{1} << 40;
        segment.size = bytes;
        segment.alloc_event = before_history;
        device().segments.push_back(segment);
        add_allocation(device(), before_history, never, never, segment.address, bytes, bytes, stack);
    }
    StackId node() {
        return line("torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)", "??");
    }
    std::string summary(RunPart part = {}) { return joined(explained(*make_context(nullptr, part)).summary); }
};

void use_and_free(RunBuilder& run) {
    run.segment(64 * MiB);
    run.alloc(4 * MiB, run.line("weights"));
    const AllocationIndex activations = run.alloc(32 * MiB, run.line("forward"));
    run.free(activations);
}

TEST(ExplainSnapshot, IsOfItsFinalState) {
    SnapshotRun snapshot;
    use_and_free(snapshot);
    const auto context = snapshot.make_context();
    EXPECT_EQ(snapshot.device().event_count(), context->now());
    EXPECT_NE(snapshot.summary().find("At the end of the snapshot"), std::string::npos) << snapshot.summary();
    RunBuilder recording;
    use_and_free(recording);
    EXPECT_EQ(recording.device().event_count() - 2, recording.make_context()->now()) << "before the frees at its end";
}

TEST(ExplainSnapshot, AtThePeakSaysSo) {
    SnapshotRun snapshot;
    use_and_free(snapshot);
    RunPart part;
    part.at = snapshot.make_context()->curves().peak(Series::allocated).max_event;
    EXPECT_TRUE(snapshot.summary(part).starts_with("At the peak 64.0 MiB")) << snapshot.summary(part);
}

TEST(ExplainSnapshot, WithoutHistorySaysHowToGetOne) {
    SnapshotRun snapshot;
    snapshot.earlier(8 * MiB, snapshot.line("load"));
    const auto context = snapshot.make_context();
    const Explanation explanation = explained(*context);
    const std::string summary = joined(explanation.summary);
    EXPECT_NE(summary.find("torch.cuda.memory._record_memory_history()"), std::string::npos) << summary;
    EXPECT_EQ(summary.find("too few iterations"), std::string::npos) << summary;
    EXPECT_NE(summary.find("Nearly all of the 8.00 MiB allocated comes from train.py:10 load: 8.00 MiB."),
              std::string::npos)
        << summary;
    const std::string text = report_text({*context, explanation}, Words(Language::english), {});
    EXPECT_TRUE(text.starts_with("Device 0, the end of the snapshot\n")) << "without a time: " << text;
}

TEST(ExplainSnapshot, NamesFirstWhatExistedBeforeTheHistory) {
    SnapshotRun snapshot;
    snapshot.earlier(16 * MiB);
    snapshot.segment(64 * MiB);
    snapshot.alloc(4 * MiB, snapshot.line("forward"));
    EXPECT_NE(
        snapshot.summary().find("Of the peak of 20.0 MiB, 16.0 MiB existed before the history began; of the rest, "
                                "most comes from train.py:10 forward: 4.00 MiB."),
        std::string::npos)
        << snapshot.summary();
    snapshot.alloc(32 * MiB, snapshot.line("attention"));
    EXPECT_NE(snapshot.summary().find("32.0 MiB come from train.py:10 attention, more than from any other line."),
              std::string::npos)
        << snapshot.summary();
}

TEST(ExplainSnapshot, DoesNotCallANodeOfTheGraphALine) {
    SnapshotRun snapshot;
    snapshot.segment(64 * MiB);
    snapshot.alloc(4 * MiB, snapshot.line("forward"));
    const AllocationIndex by_node = snapshot.alloc(8 * MiB, snapshot.node());
    EXPECT_NE(
        snapshot.summary().find("8.00 MiB are gradients; of the rest, most comes from train.py:10 forward: 4.00 MiB."),
        std::string::npos)
        << snapshot.summary();
    snapshot.free(by_node);
    EXPECT_NE(snapshot.summary().find("8.00 MiB were allocated by backward passes (gradients, for example); of the "
                                      "rest, most comes from train.py:10 forward: 4.00 MiB."),
              std::string::npos)
        << snapshot.summary();
}

TEST(ExplainSnapshot, SaysHowMuchItHasAtBothEnds) {
    SnapshotRun snapshot;
    snapshot.earlier(16 * MiB);
    snapshot.segment(64 * MiB);
    snapshot.free(snapshot.alloc(8 * MiB, snapshot.line("forward")));
    EXPECT_NE(snapshot.summary().find("At its end as much is allocated as at its start: 16.0 MiB."), std::string::npos)
        << snapshot.summary();
    snapshot.alloc(8 * MiB, snapshot.line("forward"));
    EXPECT_NE(snapshot.summary().find("From its start to its end, allocated memory rises from 16.0 MiB to 24.0 MiB."),
              std::string::npos)
        << snapshot.summary();
}

TEST(ExplainSnapshot, NamesTheCallerOfALineThatAllocatedNearlyAll) {
    const auto loaded_by = [](const std::string& caller) {
        SnapshotRun snapshot;
        snapshot.earlier(8 * MiB, stack_of(snapshot.trace.stacks,
                                           {{"/home/anna/project/backend.py", "allocate"}, {caller, "init_weights"}}));
        return snapshot.summary();
    };
    const std::string own = loaded_by("/home/anna/project/model.py"), other = loaded_by("/opt/ide/helpers/run.py");
    EXPECT_NE(own.find("Nearly all of the 8.00 MiB allocated comes from backend.py:10 allocate (called by model.py:"),
              std::string::npos)
        << own;
    EXPECT_EQ(other.find("called by"), std::string::npos) << "a debugger: " << other;
}

TEST(ExplainSnapshot, NamesCopiesOfAutocastAtThePeak) {
    SnapshotRun snapshot;
    snapshot.earlier(16 * MiB);
    snapshot.segment(64 * MiB);
    for (int copy = 0; copy < 4; ++copy) {
        snapshot.alloc(8 * MiB, stack_of(snapshot.trace.stacks,
                                         {{"", "at::autocast::cached_cast(c10::ScalarType, at::Tensor const&)"},
                                          {"/home/anna/project/train.py", "forward"}}));
    }
    snapshot.alloc(4 * MiB, snapshot.line("softmax"));
    EXPECT_NE(
        snapshot.summary().find("32.0 MiB are copies of weights and inputs in another dtype, made by autocast and "
                                "16.0 MiB existed before the history began; of the rest, most comes from "
                                "train.py:10 softmax: 4.00 MiB."),
        std::string::npos)
        << snapshot.summary();
}

TEST(ExplainSnapshot, SaysHowMuchMoreIsReservedThanWasAllocated) {
    SnapshotRun snapshot;
    snapshot.segment(1024 * MiB);
    snapshot.free(snapshot.alloc(512 * MiB, snapshot.line("forward")));
    EXPECT_NE(snapshot.summary().find("PyTorch has reserved 1.00 GiB, 512 MiB more than were allocated at the peak."),
              std::string::npos)
        << snapshot.summary();
}

/// Two forward passes of one model. `frees_early`: the first result is freed before the second pass.
std::string summary_of_two_passes(bool frees_early, bool has_head = false) {
    SnapshotRun snapshot;
    snapshot.segment(1024 * MiB);
    AllocationIndex last = no_allocation;
    for (int pass = 0; pass < 2; ++pass) {
        if (frees_early && last != no_allocation) {
            snapshot.free(last);
        }
        for (int layer = 0; layer < 60; ++layer) {
            snapshot.free(snapshot.alloc(MiB, snapshot.line("layer" + std::to_string(layer))));
        }
        const AllocationIndex logits = snapshot.alloc(256 * MiB, snapshot.line("logits"));
        if (!frees_early && last != no_allocation) {
            snapshot.free(last);
        }
        last = logits;
    }
    if (has_head) {
        snapshot.alloc(MiB, snapshot.line("head"));
    }
    return snapshot.summary();
}

TEST(ExplainSnapshot, NamesAResultThatIsAliveUntilTheNextOneExists) {
    EXPECT_NE(summary_of_two_passes(false).find("At the peak, 256 MiB are a result of train.py:10 logits that is freed "
                                                "only when the next result exists."),
              std::string::npos)
        << summary_of_two_passes(false);
    EXPECT_EQ(summary_of_two_passes(true).find("next result"), std::string::npos);
    EXPECT_EQ(summary_of_two_passes(false, true).find("next result"), std::string::npos) << "two layers and a head";
}

TEST(ExplainSnapshot, CallsTheWorkspaceOfCublasSo) {
    SnapshotRun snapshot;
    snapshot.earlier(8'519'680);
    EXPECT_NE(snapshot.summary().find("workspaces (100 %)"), std::string::npos) << snapshot.summary();
}

TEST(ExplainSnapshot, FindsGradientsOfACompiledBackwardPass) {
    SnapshotRun snapshot;
    snapshot.earlier(8 * MiB,
                     stack_of(snapshot.trace.stacks,
                              {{"/tmp/torchinductor_anna/p6/cp6jhj.py", "call"},
                               {"/venv/lib/python3.12/site-packages/torch/_functorch/_aot_autograd/runtime_wrappers.py",
                                "_backward_impl"}}));
    EXPECT_NE(snapshot.summary().find("gradients (100 %)"), std::string::npos) << snapshot.summary();
}

TEST(ExplainSnapshot, ThatContradictsItselfIsNotExplained) {
    SnapshotRun snapshot;
    snapshot.segment(2 * MiB);
    snapshot.free(snapshot.alloc(32 * MiB, snapshot.line("foo")));
    const Explanation explanation = explained(*snapshot.make_context());
    EXPECT_TRUE(joined(explanation.summary).starts_with("The file contradicts itself: at the peak 32.0 MiB"));
    EXPECT_TRUE(explanation.findings.empty());
    EXPECT_TRUE(explanation.shares.empty());
}

TEST(ExplainSnapshot, TheSentenceHasTheSharesOfTheTable) {
    SnapshotRun snapshot;
    snapshot.segment(100 * MiB);
    snapshot.alloc(94 * MiB + 1, snapshot.line("forward"));
    snapshot.alloc(MiB, snapshot.line("forward"));
    snapshot.segment(3 * MiB);
    const Explanation explanation = explained(*snapshot.make_context());
    EXPECT_NE(explanation.summary.front().find("requested memory (92 %) and free gaps (4.9 %)."), std::string::npos)
        << explanation.summary.front();
    EXPECT_EQ(explanation.shares.at(1).bytes, 100 * MiB - 95 * MiB - 512);
}

TEST(ExplainSnapshot, TheTableAlwaysHasTheTensors) {
    SnapshotRun snapshot;
    snapshot.segment(100 * MiB);
    snapshot.alloc(MiB / 2, snapshot.line("forward"));
    EXPECT_EQ(explained(*snapshot.make_context()).shares.back().component, ComponentKind::requested);
}

TEST(ExplainSnapshot, TheMainDeviceWithoutEventsHasMostMemory) {
    Trace trace;
    trace.devices.resize(3);
    trace.devices[1].segments.resize(1);
    trace.devices[1].segments[0].size = 2 * MiB;
    EXPECT_EQ(&trace.main_device(), &trace.devices[1]);
}

}  // namespace
}  // namespace tidemark::test
