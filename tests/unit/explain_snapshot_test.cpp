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
    EXPECT_NE(summary.find("Nearly all of the 8.00 MiB allocated comes from train.py:10 load: 8.00 MiB."), std::string::npos)
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
    snapshot.alloc(8 * MiB, snapshot.node());
    EXPECT_NE(snapshot.summary().find("8.00 MiB were allocated by backward passes (gradients, for example); of the "
                                      "rest, most comes from train.py:10 forward: 4.00 MiB."),
              std::string::npos)
        << snapshot.summary();
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
    EXPECT_NE(explanation.summary.front().find("the program's tensors (92 %) and free gaps (4.9 %)."),
              std::string::npos)
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
