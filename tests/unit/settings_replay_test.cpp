// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Recordings compared with the model under other settings: figures, curves, limits, and the syntax of the settings.
#include "storage/whatif/settings_replay.h"

#include <gtest/gtest.h>

#include "storage/whatif/replay_sentences.h"
#include "tests/unit/whatif_traces.h"

namespace tidemark {
namespace {

constexpr int64_t mib = 1 << 20, gib = 1 << 30;

class SettingsReplay {
public:
    explicit SettingsReplay(std::shared_ptr<const Trace> trace)
        : analysis(trace, trace->main_device()), recorded(replay_as_recorded(analysis, 1000, progress)) {}
    ModelRun with(const AskedSettings& asked) {
        auto run = replay_with(analysis, *recorded, asked, 1000, progress);
        EXPECT_TRUE(run) << run.error().sentence.english();
        return std::move(*run);
    }

    Progress progress;
    Analysis analysis;
    Result<RecordedRun> recorded;
};

AskedSettings asked(const std::string& configuration, std::optional<int64_t> limit = std::nullopt) {
    AskedSettings settings;
    settings.limit = limit;
    EXPECT_TRUE(add_configuration(configuration, settings.change)) << configuration;
    return settings;
}

std::string refusal_of(const std::string& configuration) {
    Change change;
    const Status status = add_configuration(configuration, change);
    return status ? "" : status.error().sentence.english();
}

TEST(SettingsReplayTest, TheModelHasTheRecordedFiguresWithTheRecordedSettings) {
    for (const char* name : {"s3_varlen", "varlen_expandable", "frag_oom", "streams", "max_split"}) {
        SettingsReplay replay(test::open_snapshot(name));
        ASSERT_TRUE(replay.recorded) << name;
        const RunFigures &recorded = replay.recorded->recorded.figures, &model = replay.recorded->model.figures;
        EXPECT_EQ(model.peak_reserved, recorded.peak_reserved) << name;
        EXPECT_EQ(model.peak_state, recorded.peak_state) << name;
        EXPECT_EQ(model.peak_allocated, recorded.peak_allocated) << name;
        EXPECT_EQ(model.end_reserved, recorded.end_reserved) << name;
        EXPECT_EQ(model.gaps_at_peak, recorded.gaps_at_peak) << name;
        EXPECT_EQ(model.gaps_at_end, recorded.gaps_at_end) << name;
        EXPECT_EQ(replay.recorded->deviation(), 0) << name;
        EXPECT_TRUE(replay.recorded->check.exact) << name;
    }
}

TEST(SettingsReplayTest, CurvesKeepEveryPeakInBoundedColumns) {
    SettingsReplay replay(test::open_snapshot("s3_varlen"));
    for (const int64_t most : {1, 7, 1000}) {
        const auto run = replay_with(replay.analysis, *replay.recorded, {}, most, replay.progress);
        ASSERT_TRUE(run);
        const auto& columns = run->reserved.columns();
        EXPECT_LE(static_cast<int64_t>(columns.size()), most);
        int64_t highest = 0;
        for (const auto& column : columns) {
            highest = std::max(highest, column.highest);
        }
        EXPECT_EQ(highest, run->figures.peak_reserved);
    }
}

TEST(SettingsReplayTest, StopsWhereALimitIsTooSmall) {
    SettingsReplay replay(test::open_snapshot("s3_varlen"));
    const int64_t peak = replay.recorded->recorded.figures.peak_reserved;
    const ModelRun run = replay.with({{}, peak / 4});
    ASSERT_TRUE(run.figures.failed);
    EXPECT_TRUE(run.figures.failed->is_sure);
    EXPECT_EQ(run.figures.known_to, run.figures.failed->event);
    EXPECT_LE(run.figures.peak_reserved, peak / 4);
    EXPECT_FALSE(replay.with({{}, peak}).figures.failed);
    const auto sentence = failure_sentence(*replay.recorded, run);
    ASSERT_TRUE(sentence);
    EXPECT_NE(sentence->english().find("Would run out of memory at event"), std::string::npos);
}

TEST(SettingsReplayTest, FindsTheSmallestLimit) {
    SettingsReplay replay(test::open_snapshot("s3_varlen"));
    const auto smallest = smallest_limit(replay.analysis, *replay.recorded, {}, replay.progress);
    ASSERT_TRUE(smallest && *smallest);
    EXPECT_FALSE(replay.with({{}, **smallest}).figures.failed);
    EXPECT_TRUE(replay.with({{}, **smallest - 2 * mib}).figures.failed);
    EXPECT_LE(**smallest, replay.recorded->recorded.figures.peak_reserved);
}

TEST(SettingsReplayTest, ContinuesAfterARequestThatFailedInTheRecording) {
    SettingsReplay replay(test::open_example("s09_list_until_out_of_memory"));
    const RunFigures& model = replay.recorded->model.figures;
    ASSERT_TRUE(replay.recorded->recorded.figures.failed);
    ASSERT_TRUE(model.failed);
    EXPECT_EQ(model.failed->event, replay.recorded->recorded.figures.failed->event);
    EXPECT_EQ(model.known_to, replay.analysis.device().event_count());
    EXPECT_FALSE(replay.with({{}, 64 * gib}).figures.failed);
}

TEST(SettingsReplayTest, SaysHowFarToTrustTheModel) {
    SettingsReplay exact(test::open_snapshot("s3_varlen"));
    EXPECT_NE(trust_sentence(*exact.recorded).english().find("reproduces every block"), std::string::npos);
    auto changed = std::make_shared<Trace>(*test::open_snapshot("s3_varlen"));
    changed->settings["max_split_size"] = "67108864";
    SettingsReplay other(changed);
    ASSERT_TRUE(other.recorded);
    EXPECT_FALSE(other.recorded->check.exact);
    EXPECT_NE(trust_sentence(*other.recorded).english().find("estimates"), std::string::npos);
}

TEST(SettingsReplayTest, RefusesTracesOfOtherAllocators) {
    auto trace = std::make_shared<Trace>(*test::open_snapshot("s3_varlen"));
    trace->settings["PYTORCH_CUDA_ALLOC_CONF"] = "\"backend:cudaMallocAsync\"";
    EXPECT_FALSE(check_replayable(*trace, trace->main_device()));
    trace->settings.clear();
    EXPECT_TRUE(check_replayable(*trace, trace->main_device()));
    trace->event_source = EventSource::driver;
    EXPECT_FALSE(check_replayable(*trace, trace->main_device()));
}

TEST(SettingsReplayTest, GarbageCollectionNeedsALimit) {
    SettingsReplay replay(test::open_snapshot("s3_varlen"));
    const AskedSettings settings = asked("garbage_collection_threshold:0.5");
    EXPECT_FALSE(replay_with(replay.analysis, *replay.recorded, settings, 10, replay.progress));
    EXPECT_TRUE(replay_with(replay.analysis, *replay.recorded, {settings.change, gib}, 10, replay.progress));
}

TEST(SettingsReplayTest, IsCanceled) {
    SettingsReplay replay(test::open_snapshot("s3_varlen"));
    replay.progress.canceled = true;
    const auto run = replay_with(replay.analysis, *replay.recorded, {}, 10, replay.progress);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().kind, ErrorKind::canceled);
}

TEST(AskedSettingsTest, ReadsPyTorchsSyntax) {
    const Change change = asked(
                              "expandable_segments:True, max_split_size_mb:128,"
                              "roundup_power2_divisions:[256:1,512:2,>:4],garbage_collection_threshold:0.8")
                              .change;
    EXPECT_EQ(change.expandable_segments, true);
    EXPECT_EQ(change.max_split_size, 128u << 20);
    EXPECT_EQ(change.garbage_collection_threshold, 0.8);
    ASSERT_TRUE(change.roundup_divisions);
    EXPECT_EQ(change.roundup_divisions->at(8), 1u);
    EXPECT_EQ(change.roundup_divisions->at(9), 2u);
    EXPECT_EQ(change.roundup_divisions->at(15), 4u);
    EXPECT_FALSE(asked("").change.expandable_segments);
}

TEST(AskedSettingsTest, RefusesWhatPyTorchRefuses) {
    for (const char* wrong : {"max_split_size_mb:20", "max_split_size_mb:x", "expandable_segments:1",
                              "roundup_power2_divisions:3", "garbage_collection_threshold:1", "expandable_segments"}) {
        EXPECT_NE(refusal_of(wrong), "") << wrong;
    }
    EXPECT_NE(refusal_of("max_splitsize_mb:64").find("max_split_size_mb"), std::string::npos) << "names the known ones";
    EXPECT_NE(refusal_of("backend:cudaMallocAsync").find("native"), std::string::npos);
}

TEST(AskedSettingsTest, WritesTheVariableWithTheRecordedSettings) {
    const std::map<std::string, std::string> recorded{
        {"PYTORCH_CUDA_ALLOC_CONF", "\"pinned_num_register_threads:8,max_split_size_mb:64\""}};
    EXPECT_EQ(configuration_text(recorded, asked("expandable_segments:True").change),
              "expandable_segments:True,max_split_size_mb:64,pinned_num_register_threads:8");
    EXPECT_EQ(configuration_text({}, {}), "");
    for (const char* each : {"roundup_power2_divisions:8", "max_split_size_mb:128", "garbage_collection_threshold:0.8",
                             "roundup_power2_divisions:[1:1,2:1,4:1,8:1,16:1,32:1,64:1,128:1,256:1,512:2,1024:4,2048:"
                             "4,4096:4,8192:4,16384:4,>:4]"}) {
        EXPECT_EQ(configuration_text({}, asked(each).change), each);
    }
}

}  // namespace
}  // namespace tidemark
