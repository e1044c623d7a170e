// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Traces that are recorded in a scratch folder and moved to their destination at the end.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "storage/read/follow.h"
#include "tests/recorder/recording_fixture.h"
#include "tests/recorder/simulated_program.h"

namespace tidemark::test {
namespace {

class ScratchRecording : public Recording {
protected:
    void SetUp() override {
        Recording::SetUp();
        scratch_ = folder_ / "scratch";
        fs::create_directory(scratch_);
        fs::permissions(scratch_, fs::perms::owner_all);
        destination_ = folder_ / "destination";
        fs::create_directory(destination_);
        output_ = (destination_ / "run.tide").string();
        setenv("TIDEMARK_USE_SCRATCH", "1", 1);
        setenv("TIDEMARK_SCRATCH", scratch_.c_str(), 1);
    }
    void TearDown() override {
        unsetenv("TIDEMARK_USE_SCRATCH");
        unsetenv("TIDEMARK_SCRATCH");
        Recording::TearDown();
    }

    /// Returns the trace in the scratch folder; empty if there is none.
    std::string scratch_file() const {
        for (const auto& entry : fs::recursive_directory_iterator(scratch_)) {
            if (entry.path().extension() == ".tide") {
                return entry.path().string();
            }
        }
        return {};
    }
    static void wait_for_commit(const std::string& path) {
        Progress progress;
        for (int tries = 0; !open_trace(path, progress) && tries < 2000; ++tries) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    static bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

    fs::path scratch_, destination_;
};

/// A program with some events, in this process.
class EventfulProgram {
public:
    explicit EventfulProgram(uint32_t seed) : traffic_(allocator_, main_, seed) {}
    SimulatedProgram& program() { return program_; }
    void run() {
        allocator_.report_state(main_, TIDEMARK_STATE_START);
        traffic_.run(200);
    }
    void end() { main_.end(TIDEMARK_END_STOPPED); }
    DeviceHistory truth() const { return allocator_.truth(); }

private:
    SimulatedProgram program_{{4, 1 << 14}};
    SimulatedThread main_{program_, 1, 100};
    SimulatedAllocator allocator_{0};
    Traffic traffic_;
};

TEST_F(ScratchRecording, TheTraceIsReadableAllTheTimeAndMovesAtTheEnd) {
    EventfulProgram program(1);
    ASSERT_TRUE(program.program().start_recorder(output_, ::getpid())) << program.program().failure();
    EXPECT_TRUE(contains(program.program().region().header().notice, "TIDEMARK_USE_SCRATCH"));
    program.run();
    wait_for_commit(output_);
    const std::string place = scratch_file();
    ASSERT_FALSE(place.empty());
    EXPECT_EQ(place, fs::read_symlink(output_)) << "readers follow the link";
    EXPECT_TRUE(is_being_written(output_));
    EXPECT_TRUE(opened()->being_written);
    program.end();
    ASSERT_TRUE(program.program().wait_for(RecorderState::finished)) << program.program().failure();
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(output_)));
    EXPECT_TRUE(fs::is_empty(scratch_));
    EXPECT_EQ(1, std::distance(fs::directory_iterator(destination_), fs::directory_iterator()));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_TRUE(trace->clean_end);
    EXPECT_EQ("", data_gaps_of(*trace));
    expect_truth(program.truth(), trace->devices.at(0));
    EXPECT_EQ(0600u, static_cast<unsigned>(fs::status(output_).permissions()));
}

TEST_F(ScratchRecording, AFollowerSeesTheEnd) {
    EventfulProgram program(2);
    ASSERT_TRUE(program.program().start_recorder(output_, ::getpid()));
    program.run();
    wait_for_commit(output_);
    auto follower = TraceFollower::open(output_);
    ASSERT_TRUE(follower) << follower.error().sentence.english();
    program.end();
    std::shared_ptr<const Trace> newest;
    Progress progress;
    for (int tries = 0; !follower->ended() && tries < 2000; ++tries) {
        const auto polled = follower->poll(progress);
        ASSERT_TRUE(polled) << polled.error().sentence.english();
        newest = *polled ? *polled : newest;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_TRUE(program.program().wait_for(RecorderState::finished));
    ASSERT_TRUE(newest);
    expect_truth(program.truth(), newest->devices.at(0));
    EXPECT_TRUE(opened()->clean_end);
}

TEST_F(ScratchRecording, AnUnclosedReaderDoesNotLoseTheTrace) {
    EventfulProgram program(3);
    ASSERT_TRUE(program.program().start_recorder(output_, ::getpid()));
    program.run();
    wait_for_commit(output_);
    auto follower = TraceFollower::open(output_);
    ASSERT_TRUE(follower);
    program.end();
    ASSERT_TRUE(program.program().wait_for(RecorderState::finished)) << program.program().failure();
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_TRUE(trace->clean_end);
    expect_truth(program.truth(), trace->devices.at(0));
}

TEST_F(ScratchRecording, TwoRanksMoveTheirTraces) {
    EventfulProgram first(4), second(5);
    const std::string other = (destination_ / "run.rank1-2.tide").string();
    ASSERT_TRUE(first.program().start_recorder(output_, ::getpid()));
    ASSERT_TRUE(second.program().start_recorder(other, ::getpid()));
    first.run();
    second.run();
    first.end();
    second.end();
    ASSERT_TRUE(first.program().wait_for(RecorderState::finished));
    ASSERT_TRUE(second.program().wait_for(RecorderState::finished));
    expect_truth(first.truth(), opened()->devices.at(0));
    output_ = other;
    expect_truth(second.truth(), opened()->devices.at(0));
    EXPECT_TRUE(fs::is_empty(scratch_));
}

TEST_F(ScratchRecording, AKilledRecorderLeavesALinkThatSaysWhereTheTraceLies) {
    EventfulProgram program(6);
    ASSERT_TRUE(program.program().start_recorder(output_, ::getpid()));
    program.run();
    wait_for_commit(output_);
    const std::string place = scratch_file();
    kill(program.program().recorder_pid(output_), SIGKILL);
    for (int tries = 0; is_being_written(output_) && tries < 1000; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_FALSE(trace->clean_end);
    EXPECT_GT(trace->devices.at(0).event_count(), 0);
    const std::string words = data_gaps_of(*trace);
    EXPECT_TRUE(contains(words, place)) << words;
    EXPECT_TRUE(contains(words, "mv -f ")) << words;
    const std::string command = words.substr(words.find("mv -f "));
    ASSERT_EQ(0, std::system(command.c_str())) << command;
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(output_)));
    EXPECT_EQ(trace->devices.at(0).event_count(), opened()->devices.at(0).event_count());
}

TEST_F(ScratchRecording, AMissingDestinationIsReportedAtTheStart) {
    SimulatedProgram program({});
    EXPECT_FALSE(program.start_recorder((folder_ / "none" / "run.tide").string(), ::getpid()));
    EXPECT_TRUE(contains(program.failure(), "No such file or directory")) << program.failure();
    EXPECT_TRUE(fs::is_empty(scratch_));
}

TEST_F(ScratchRecording, AMissingScratchFolderIsReportedAtTheStart) {
    setenv("TIDEMARK_SCRATCH", (folder_ / "none").c_str(), 1);
    SimulatedProgram program({});
    EXPECT_FALSE(program.start_recorder(output_, ::getpid()));
    EXPECT_TRUE(contains(program.failure(), "TIDEMARK_SCRATCH")) << program.failure();
    EXPECT_TRUE(fs::is_empty(destination_));
}

TEST_F(ScratchRecording, AnExistingTraceIsReplacedOnlyIfAllowed) {
    std::ofstream(output_) << "precious";
    SimulatedProgram program({});
    EXPECT_FALSE(program.start_recorder(output_, ::getpid()));
    EXPECT_TRUE(contains(program.failure(), "exists already")) << program.failure();
    SimulatedProgram replacing({});
    EXPECT_FALSE(replacing.start_recorder(output_, ::getpid(), "", true));
    EXPECT_TRUE(contains(replacing.failure(), "is not a Tidemark trace")) << replacing.failure();
    EXPECT_EQ(8u, fs::file_size(output_));
    EXPECT_TRUE(fs::is_empty(scratch_));
    fs::remove(output_);
    SimulatedProgram second({}), third({}), fourth({});
    ASSERT_TRUE(second.start_recorder(output_, ::getpid()));
    EXPECT_FALSE(third.start_recorder(output_, ::getpid(), "", true));
    EXPECT_TRUE(contains(third.failure(), "being written")) << third.failure();
    EXPECT_FALSE(fourth.start_recorder(output_, ::getpid()));
    EXPECT_TRUE(contains(fourth.failure(), "exists already")) << fourth.failure();
    SimulatedThread(second, 1, 1).end(TIDEMARK_END_STOPPED);
    EXPECT_TRUE(second.wait_for(RecorderState::finished)) << second.failure();
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(output_)));
}

TEST_F(ScratchRecording, ATraceWhoseDestinationVanishesStaysWhereItIs) {
    EventfulProgram program(7);
    const std::string session = (folder_ / "session").string();
    fs::create_directory(session);
    fs::permissions(session, fs::perms::owner_all);
    ASSERT_TRUE(program.program().start_recorder(output_, ::getpid(), session));
    program.run();
    const std::string place = scratch_file();
    fs::remove_all(destination_);
    program.end();
    ASSERT_TRUE(program.program().wait_for(RecorderState::failed));
    const std::string failure = program.program().failure();
    EXPECT_TRUE(contains(failure, "No such file or directory") && contains(failure, "mv -f " + place)) << failure;
    std::ifstream file(session + "/" + std::to_string(::getpid()) + ".trace");
    const auto report = nlohmann::json::parse(file);
    EXPECT_EQ("failed", report.at("state"));
    EXPECT_EQ(place, report.at("place"));
    EXPECT_EQ(place, report.at("output")) << "the link is gone";
    EXPECT_EQ((destination_ / "run.tide").string(), report.at("destination"));
    EXPECT_EQ(failure, report.at("failure"));
    output_ = place;
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_TRUE(trace->clean_end);
    expect_truth(program.truth(), trace->devices.at(0));
}

TEST_F(ScratchRecording, AFullDestinationKeepsTheTraceInScratch) {
    if (::mount("none", destination_.c_str(), "tmpfs", 0, "size=64k") != 0) {
        GTEST_SKIP() << "only root can mount a small file system";
    }
    EventfulProgram program(8);
    const bool has_started = program.program().start_recorder(output_, ::getpid());
    program.run();
    const std::string place = scratch_file();
    program.end();
    EXPECT_TRUE(program.program().wait_for(RecorderState::failed));
    const std::string failure = program.program().failure();
    const auto files = std::distance(fs::directory_iterator(destination_), fs::directory_iterator());
    const bool is_link = fs::is_symlink(fs::symlink_status(output_));
    ::umount2(destination_.c_str(), MNT_DETACH);
    EXPECT_TRUE(has_started);
    EXPECT_TRUE(contains(failure, "No space left on device") && contains(failure, place)) << failure;
    EXPECT_EQ(1, files) << "no part of the trace is left";
    EXPECT_TRUE(is_link);
    output_ = place;
    EXPECT_TRUE(opened()->clean_end);
}

TEST_F(ScratchRecording, AFullScratchFolderIsNamed) {
    EventfulProgram program(9);
    rlimit usual{};
    getrlimit(RLIMIT_FSIZE, &usual);
    const rlimit little{200 << 10, usual.rlim_max};
    setrlimit(RLIMIT_FSIZE, &little);
    const bool has_started = program.program().start_recorder(output_, ::getpid());
    setrlimit(RLIMIT_FSIZE, &usual);
    ASSERT_TRUE(has_started);
    for (int i = 0; i < 50 && program.program().region().header().recorder_state.load() == RecorderState::ready; ++i) {
        program.run();
    }
    ASSERT_TRUE(program.program().wait_for(RecorderState::failed));
    const std::string failure = program.program().failure();
    EXPECT_TRUE(contains(failure, "could not be written") && contains(failure, scratch_file())) << failure;
    EXPECT_TRUE(fs::is_symlink(fs::symlink_status(output_)));
}

}  // namespace
}  // namespace tidemark::test
