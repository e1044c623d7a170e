// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Follows growing traces: polling must return the same trace as opening. The writer is a separate process, because
// closing a file releases all locks that the closing process has on it.
#include "storage/read/follow.h"
#include "storage/timeline/curves.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "storage/format/schema.h"
#include "storage/import/import.h"
#include "storage/read/open_trace.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/trace_equality.h"
#include "tests/unit/writer_process.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;
using test::WriterProcess;
using namespace std::chrono_literals;

std::shared_ptr<const Trace> open(const std::string& path) {
    Progress progress;
    auto trace = open_trace(path, progress);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().sentence.english());
    return trace ? *trace : nullptr;
}

std::shared_ptr<const Trace> poll(TraceFollower& follower) {
    Progress progress;
    auto trace = follower.poll(progress);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().sentence.english());
    return trace ? *trace : nullptr;
}

class Follow : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("tidemark_follow_" + std::to_string(::getpid()));
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        path_ = (folder_ / "run.tide").string();
    }
    void TearDown() override { fs::remove_all(folder_); }

    /// Waits until this many events of the main device are in the trace. The writer has a thread of its own.
    void wait_for_events(EventNumber count) {
        TraceFollower follower = this->follower();
        while (poll(follower)->main_device().event_count() < count) {
            std::this_thread::sleep_for(1ms);
        }
    }

    /// Completes the writer's checkpoint: a file that a checkpoint has written in part is of no use without its log.
    void copy_log_into_file() const {
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
        int frames = 0, copied = 0;
        while (sqlite3_wal_checkpoint_v2(database, nullptr, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied) != SQLITE_OK ||
               copied < frames) {
            std::this_thread::sleep_for(1ms);
        }
        sqlite3_close(database);
    }

    static std::shared_ptr<const Trace> recorded_trace(const char* name) {
        const std::string data = TIDEMARK_TEST_DATA;
        if (std::string(name) == "format_1") {
            return open(data + "/traces/format-1.tide");
        }
        Progress progress;
        auto trace = read_snapshot_trace(data + "/snapshots/" + name + ".pickle", progress);
        EXPECT_TRUE(trace);
        return trace ? *trace : nullptr;
    }

    TraceFollower follower() {
        auto follower = TraceFollower::open(path_);
        EXPECT_TRUE(follower) << (follower ? "" : follower.error().sentence.english());
        return *std::move(follower);
    }

    /// Polls until the trace is committed up to `time` or has ended. Returns the last polled trace.
    static std::shared_ptr<const Trace> poll_until(TraceFollower& follower, int64_t time) {
        std::shared_ptr<const Trace> last;
        for (int i = 0; i < 2000 && !follower.ended() && (!last || last->committed_time < time); ++i) {
            if (auto trace = poll(follower)) {
                last = std::move(trace);
            } else {
                std::this_thread::sleep_for(2ms);
            }
        }
        return last;
    }

    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            names.push_back(entry.path().filename());
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    fs::path folder_;
    std::string path_;
};

TEST_P(Follow, PollsTheSameTraceAsOpening) {
    const auto original = recorded_trace(GetParam());
    constexpr int parts = 9;
    WriterProcess writer(*original, path_, parts);
    TraceFollower following = follower();
    for (int part = 0; part <= parts; ++part) {
        SCOPED_TRACE(part);
        EXPECT_TRUE(is_being_written(path_));
        const auto polled = poll_until(following, (part + 1) * 1000);
        ASSERT_TRUE(polled);
        test::expect_same_trace(*open(path_), *polled);
        EXPECT_TRUE(polled->being_written);
        EXPECT_FALSE(poll(following)) << "nothing was committed since";
        ASSERT_FALSE(HasFatalFailure());
        if (part < parts) {
            writer.request(WriterProcess::next_part);
        }
    }
    writer.end(WriterProcess::finish);
    const auto last = poll_until(following, INT64_MAX);
    ASSERT_TRUE(last);
    EXPECT_TRUE(following.ended());
    EXPECT_FALSE(poll(following));
    writer.wait_for_end();
    EXPECT_FALSE(is_being_written(path_));
    EXPECT_EQ(std::vector<std::string>{"run.tide"}, files());
    const auto opened = open(path_);
    test::expect_same_trace(*opened, *last);
    EXPECT_TRUE(opened->clean_end);
    for (size_t d = 0; d < original->devices.size(); ++d) {
        test::expect_same_rows(original->devices[d].segments, opened->devices[d].segments, "segment");
        EXPECT_EQ(original->devices[d].event_time, opened->devices[d].event_time);
        EXPECT_EQ(original->devices[d].allocations.free_completed, opened->devices[d].allocations.free_completed);
    }
}

INSTANTIATE_TEST_SUITE_P(Real, Follow,
                         testing::Values("format_1", "adam_steps", "amp", "cudagraph", "expandable_graph",
                                         "expandable_mixed", "frag_oom", "gc_threshold", "gpt_ring", "late_start",
                                         "max_split", "mempool", "oom_retry", "record_stream", "ring_small", "roundup",
                                         "s0_graph_leak", "s2_oom_list", "streams", "two_gpus", "varlen_expandable"),
                         [](const auto& name) { return name.param; });

using FollowTrace = Follow;

TEST_F(FollowTrace, KeepsCommittedDataOfAKilledWriter) {
    const auto original = recorded_trace("streams");
    WriterProcess writer(*original, path_, 4);
    TraceFollower following = follower();
    const int64_t committed = writer.request(WriterProcess::next_part);
    const auto before = poll_until(following, committed);
    ASSERT_TRUE(before);
    writer.end(WriterProcess::crash);
    writer.wait_for_end();
    const auto last = poll(following);
    ASSERT_TRUE(last);
    EXPECT_TRUE(following.ended());
    EXPECT_FALSE(last->clean_end);
    EXPECT_FALSE(last->being_written);
    EXPECT_EQ(committed, last->committed_time);
    EXPECT_EQ(DataGapKind::unclean_end, last->data_gaps.back().kind);
    EXPECT_EQ(before->main_device().event_count(), last->main_device().event_count());

    const auto left = files();
    const auto opened = open(path_);
    test::expect_same_trace(*opened, *last);
    EXPECT_EQ(left, files()) << "reading creates no file";
    fs::remove(path_ + "-shm");
    test::expect_same_trace(*open(path_), *last);
    EXPECT_FALSE(fs::exists(path_ + "-shm"));
    Progress progress;
    const auto damage = check_trace(path_, progress);
    ASSERT_TRUE(damage);
    EXPECT_TRUE(damage->empty());
    TraceFollower late = follower();
    test::expect_same_trace(*poll(late), *last);
    EXPECT_TRUE(late.ended());
}

TEST_F(FollowTrace, OpensAnUnfinishedTraceWithoutItsWal) {
    const auto original = recorded_trace("streams");
    WriterProcess writer(*original, path_, 4);
    for (int i = 0; i < 3; ++i) {
        writer.request(WriterProcess::next_part);
    }
    wait_for_events(3 * original->main_device().event_count() / 4);
    copy_log_into_file();
    writer.end(WriterProcess::crash);
    writer.wait_for_end();
    const std::string copy = (folder_ / "a copy?of#100%.tide").string();
    fs::copy_file(path_, copy);
    const auto opened = open(copy);
    ASSERT_TRUE(opened);
    EXPECT_FALSE(opened->clean_end);
    EXPECT_FALSE(opened->being_written);
    EXPECT_EQ(DataGapKind::unclean_end, opened->data_gaps.back().kind);
    EXPECT_GT(opened->main_device().event_count(), 0);
    EXPECT_FALSE(fs::exists(copy + "-wal"));
    EXPECT_FALSE(fs::exists(copy + "-shm"));
}

TEST_F(FollowTrace, EndsAndReportsAnUncleanFinish) {
    WriterProcess writer(test::sample_trace(), path_, 2);
    TraceFollower following = follower();
    ASSERT_TRUE(poll_until(following, 1000));
    writer.end(WriterProcess::finish_unclean);
    const auto last = poll_until(following, INT64_MAX);
    ASSERT_TRUE(last);
    writer.wait_for_end();
    EXPECT_FALSE(last->clean_end);
    test::expect_same_trace(*open(path_), *last);
}

TEST_F(FollowTrace, PollsAFinishedTraceOnce) {
    Progress progress;
    ASSERT_TRUE(write_trace(*recorded_trace("adam_steps"), peak_events(*recorded_trace("adam_steps")), path_,
                            IfExists::fail, progress));
    TraceFollower done = follower();
    const auto trace = poll(done);
    ASSERT_TRUE(trace);
    EXPECT_TRUE(done.ended());
    test::expect_same_trace(*open(path_), *trace);
    EXPECT_FALSE(is_being_written(path_));
    EXPECT_FALSE(TraceFollower::open(path_ + ".no"));
}

TEST_F(FollowTrace, SurvivesDamagedWals) {
    const auto original = recorded_trace("s1_plain");
    WriterProcess writer(*original, path_, 3);
    writer.request(WriterProcess::next_part);
    writer.end(WriterProcess::crash);
    writer.wait_for_end();
    std::ifstream in(path_ + "-wal", std::ios::binary);
    const std::string good((std::istreambuf_iterator<char>(in)), {});
    ASSERT_FALSE(good.empty());
    std::mt19937 random(3);
    for (int k = 0; k < 100; ++k) {
        std::string bad = good.substr(0, k % 5 == 0 ? random() % good.size() : good.size());
        for (int flips = 0; flips < 1 + k % 3 && !bad.empty(); ++flips) {
            bad[random() % bad.size()] ^= static_cast<char>(1 + random() % 255);
        }
        std::ofstream(path_ + "-wal", std::ios::binary | std::ios::trunc) << bad;
        Progress progress;
        const auto opened = open_trace(path_, progress);  // either an error or a trace
        EXPECT_TRUE(opened || !opened.error().sentence.english().empty());
        EXPECT_EQ(bad.size(), fs::file_size(path_ + "-wal")) << "reading never writes";
    }
}

}  // namespace
}  // namespace tidemark
