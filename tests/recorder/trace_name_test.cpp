// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which process of a session gets the name that the user chose.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "recorder/core/rank.h"
#include "recorder/daemon/job_place.h"
#include "tests/recorder/recording_fixture.h"
#include "tests/recorder/simulated_program.h"

namespace tidemark::test {
namespace {

/// A process that does nothing.
class IdleProcess {
public:
    IdleProcess() : pid_(fork()) {
        if (pid_ == 0) {
            for (;;) {
                pause();
            }
        }
    }
    ~IdleProcess() { end(); }
    IdleProcess(const IdleProcess&) = delete;
    IdleProcess& operator=(const IdleProcess&) = delete;
    pid_t pid() const { return pid_; }
    void end() {
        if (!has_ended_) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
            has_ended_ = true;
        }
    }

private:
    pid_t pid_;
    bool has_ended_ = false;
};

class Names : public Recording {
protected:
    void SetUp() override {
        Recording::SetUp();
        session_ = folder_ / "session";
        fs::create_directory(session_);
        fs::permissions(session_, fs::perms::owner_all);
        unsetenv("TIDEMARK_STARTER");
        unsetenv("RANK");
    }
    void TearDown() override {
        unsetenv("TIDEMARK_STARTER");
        unsetenv("RANK");
        Recording::TearDown();
    }

    bool start(SimulatedProgram& program, pid_t pid) {
        return program.start_recorder(output_, pid, session_.string(), false, 30, true);
    }
    static void allocate(SimulatedProgram& program) {
        SimulatedThread thread(program, 1, 100);
        SimulatedAllocator allocator(0);
        allocator.report_state(thread, TIDEMARK_STATE_START);
        allocator.allocate(thread, 1 << 20);
    }
    static void initialize_cuda(SimulatedProgram& program) {
        SimulatedThread thread(program, 2, 101);
        thread.device(0, "NVIDIA H200", uint64_t{1} << 37);
        thread.push(record_of(TIDEMARK_DRIVER, TIDEMARK_DRIVER_CONTEXT_CREATED));
    }
    std::string name_of(pid_t pid) const { return (folder_ / ("run." + std::to_string(pid) + ".tide")).string(); }
    nlohmann::json report_of(pid_t pid) const {
        std::ifstream file(session_ / (std::to_string(pid) + ".trace"));
        return nlohmann::json::parse(file, nullptr, false);
    }
    int64_t events_of(const std::string& path) {
        output_ = path;
        const auto trace = opened();
        return trace && !trace->devices.empty() ? trace->devices[0].event_count() : 0;
    }

    fs::path session_;
};

TEST_F(Names, TheFirstProcessThatAllocatesGetsTheChosenName) {
    IdleProcess worker, main;
    SimulatedProgram of_worker({}), of_main({});
    ASSERT_TRUE(start(of_worker, worker.pid()));
    initialize_cuda(of_worker);
    ASSERT_TRUE(start(of_main, main.pid()));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(fs::exists(output_)) << "no process has used the GPU";
    EXPECT_EQ("", report_of(worker.pid()).value("output", "none"));
    EXPECT_EQ("recording", report_of(worker.pid()).value("state", ""));
    allocate(of_main);
    for (int tries = 0; !fs::exists(output_) && tries < 1000; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    worker.end();
    ASSERT_TRUE(of_worker.wait_for(RecorderState::finished)) << of_worker.failure();
    main.end();
    ASSERT_TRUE(of_main.wait_for(RecorderState::finished));
    EXPECT_EQ(output_, report_of(main.pid()).value("output", ""));
    EXPECT_EQ(name_of(worker.pid()), report_of(worker.pid()).value("output", ""));
    EXPECT_STREQ(output_.c_str(), of_main.region().header().output);
    EXPECT_TRUE(fs::exists(name_of(worker.pid())));
    EXPECT_GT(events_of(output_), 0);
}

TEST_F(Names, AWorkerThatEndsUnusedLeavesTheNameToOthers) {
    IdleProcess worker, main;
    SimulatedProgram of_worker({}), of_main({});
    ASSERT_TRUE(start(of_worker, worker.pid()));
    initialize_cuda(of_worker);
    worker.end();
    ASSERT_TRUE(of_worker.wait_for(RecorderState::finished));
    EXPECT_FALSE(fs::exists(output_));
    ASSERT_TRUE(start(of_main, main.pid()));
    allocate(of_main);
    main.end();
    ASSERT_TRUE(of_main.wait_for(RecorderState::finished));
    EXPECT_GT(events_of(output_), 0);
}

TEST_F(Names, TheProgramOfTheSessionGetsTheNameWithoutAnyUse) {
    setenv("TIDEMARK_STARTER", std::to_string(::getpid()).c_str(), 1);
    IdleProcess main;
    SimulatedProgram of_main({});
    ASSERT_TRUE(start(of_main, main.pid()));
    initialize_cuda(of_main);
    main.end();
    ASSERT_TRUE(of_main.wait_for(RecorderState::finished));
    EXPECT_TRUE(fs::exists(output_));
}

TEST_F(Names, AProcessThatEndsWithTheProgramGetsTheNameWithoutAnyUse) {
    IdleProcess child;
    SimulatedProgram of_child({});
    ASSERT_TRUE(start(of_child, child.pid()));
    initialize_cuda(of_child);
    std::ofstream(session_ / "1.exit") << "exited 0\n";
    child.end();
    ASSERT_TRUE(of_child.wait_for(RecorderState::finished));
    EXPECT_TRUE(fs::exists(output_));
}

TEST_F(Names, AFullRingIsReadBeforeAnyUse) {
    IdleProcess main;
    SimulatedProgram of_main({4, 1 << 10});
    ASSERT_TRUE(start(of_main, main.pid()));
    SimulatedThread thread(of_main, 1, 100);
    for (int i = 0; i < 5000; ++i) {
        ASSERT_TRUE(thread.push(record_of(TIDEMARK_STEP), nullptr, 0, 10'000'000));
    }
    main.end();
    ASSERT_TRUE(of_main.wait_for(RecorderState::finished));
    EXPECT_TRUE(fs::exists(output_));
}

TEST_F(Names, RanksNeedNoUse) {
    setenv("RANK", "3", 1);
    IdleProcess main;
    SimulatedProgram of_main({});
    ASSERT_TRUE(start(of_main, main.pid()));
    EXPECT_TRUE(fs::exists(folder_ / ("run.rank3-" + std::to_string(main.pid()) + ".tide")));
    main.end();
    ASSERT_TRUE(of_main.wait_for(RecorderState::finished));
}

class Ranks : public testing::Test {
protected:
    void SetUp() override { TearDown(); }
    void TearDown() override {
        for (const char* variable :
             {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
              "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS",
              "LOCAL_RANK", "SLURM_LOCALID", "ROLE_NAME", "TIDEMARK_RANKS", "TIDEMARK_ONE_IN", "TIDEMARK_NODES"}) {
            unsetenv(variable);
        }
    }
    static std::optional<int64_t> rank_with(const std::map<std::string, std::string>& variables) {
        for (const auto& [name, value] : variables) {
            setenv(name.c_str(), value.c_str(), 1);
        }
        const auto found = recorder::rank_of_process();
        return found ? std::optional(found->rank) : std::nullopt;
    }
};

TEST_F(Ranks, AreThoseOfEveryLauncher) {
    const std::map<std::string, std::string> launchers{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                       {"PMI_RANK", "PMI_SIZE"},
                                                       {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                                       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    for (const auto& [rank, processes] : launchers) {
        TearDown();
        EXPECT_EQ(63, rank_with({{rank, "63"}, {processes, "64"}})) << rank;
    }
    TearDown();
    EXPECT_EQ(0, rank_with({{"RANK", "0"}})) << "torchrun with one process";
}

TEST_F(Ranks, TorchrunInsideSrunCounts) {
    EXPECT_EQ(9, rank_with({{"RANK", "9"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}}));
}

TEST_F(Ranks, AJobOfOneProcessHasNone) {
    EXPECT_EQ(std::nullopt, rank_with({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}));
    TearDown();
    EXPECT_EQ(std::nullopt, rank_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "64"}})) << "a batch script";
    EXPECT_EQ(std::nullopt, rank_with({}));
}

TEST_F(Ranks, OtherTextIsNoRank) {
    for (const char* text : {"", "-1", "../x", "3x", "99999999999999999999"}) {
        EXPECT_EQ(std::nullopt, rank_with({{"RANK", text}})) << text;
    }
}

TEST_F(Ranks, APlaceHasNodeLocalRankAndSize) {
    rank_with({{"SLURM_PROCID", "12"}, {"SLURM_STEP_NUM_TASKS", "64"}, {"SLURM_LOCALID", "4"}});
    const JobPlace place = recorder::job_place_of_process();
    EXPECT_EQ(12, place.rank);
    EXPECT_EQ(4, place.local_rank);
    EXPECT_EQ(64, place.world_size);
    EXPECT_FALSE(place.node.empty());
    EXPECT_EQ("", place.role);
}

TEST_F(Ranks, TheUserSelectsRanks) {
    EXPECT_TRUE(recorder::process_is_selected());
    rank_with({{"TIDEMARK_RANKS", "0,17,32-39"}});
    EXPECT_TRUE(recorder::process_is_selected()) << "a process without a rank";
    for (const auto& [rank, is_selected] : std::map<std::string, bool>{
             {"0", true}, {"1", false}, {"17", true}, {"31", false}, {"32", true}, {"39", true}, {"40", false}}) {
        rank_with({{"RANK", rank}});
        EXPECT_EQ(is_selected, recorder::process_is_selected()) << rank;
    }
    unsetenv("TIDEMARK_RANKS");
    rank_with({{"RANK", "8"}, {"TIDEMARK_ONE_IN", "4"}});
    EXPECT_TRUE(recorder::process_is_selected());
    rank_with({{"RANK", "9"}});
    EXPECT_FALSE(recorder::process_is_selected());
    unsetenv("TIDEMARK_ONE_IN");
    rank_with({{"TIDEMARK_NODES", "not-this-one"}});
    EXPECT_FALSE(recorder::process_is_selected());
    rank_with({{"TIDEMARK_NODES", "not-this-one," + recorder::name_of_node()}});
    EXPECT_TRUE(recorder::process_is_selected());
}

TEST_F(Names, TracesOfAJobAreInItsFolder) {
    output_ = (folder_ / "run.tidejob").string();
    setenv("RANK", "3", 1);
    IdleProcess main;
    SimulatedProgram of_main({});
    const bool has_started = start(of_main, main.pid());
    unsetenv("RANK");
    ASSERT_TRUE(has_started);
    const std::string name = "rank3-" + recorder::name_of_node() + "-" + std::to_string(main.pid()) + ".tide";
    EXPECT_TRUE(fs::exists(fs::path(output_) / name));
    main.end();
    ASSERT_TRUE(of_main.wait_for(RecorderState::finished));
}

TEST_F(Names, ProcessesOfSrunHaveNamesOfTheirOwn) {
    setenv("SLURM_PROCID", "12", 1);
    setenv("SLURM_STEP_NUM_TASKS", "64", 1);
    IdleProcess main;
    SimulatedProgram of_main({});
    const bool has_started = start(of_main, main.pid());
    unsetenv("SLURM_PROCID");
    unsetenv("SLURM_STEP_NUM_TASKS");
    ASSERT_TRUE(has_started);
    EXPECT_TRUE(fs::exists(folder_ / ("run.rank12-" + std::to_string(main.pid()) + ".tide")));
    main.end();
    ASSERT_TRUE(of_main.wait_for(RecorderState::finished));
}

TEST_F(Names, TheStopFileEndsAProcessWithoutAnyUse) {
    IdleProcess main;
    SimulatedProgram of_main({});
    ASSERT_TRUE(start(of_main, main.pid()));
    std::ofstream(session_ / "stop").put('\n');
    ASSERT_TRUE(of_main.wait_for(RecorderState::finished));
    EXPECT_TRUE(fs::exists(output_));
}

TEST_F(Names, AnExistingTraceIsReportedInTheSession) {
    std::ofstream(output_) << "precious";
    IdleProcess main;
    SimulatedProgram of_main({});
    ASSERT_TRUE(start(of_main, main.pid()));
    allocate(of_main);
    ASSERT_TRUE(of_main.wait_for(RecorderState::failed));
    const auto report = report_of(main.pid());
    EXPECT_EQ("failed", report.value("state", ""));
    EXPECT_NE(std::string::npos, report.value("failure", "").find("exists already")) << report.dump();
    EXPECT_EQ(8u, fs::file_size(output_));
}

}  // namespace
}  // namespace tidemark::test
