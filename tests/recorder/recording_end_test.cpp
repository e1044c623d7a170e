// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// How recordings end: by the program, by kills, signals, full disks and damage.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "storage/analysis/analysis.h"
#include "storage/read/follow.h"
#include "tests/recorder/recording_fixture.h"
#include "tests/recorder/simulated_program.h"

namespace tidemark::test {
namespace {

int repetitions(int usual) {
    const char* wanted = std::getenv("TIDEMARK_KILLS");
    return wanted ? std::atoi(wanted) : usual;
}

/// Runs traffic in a child that can be killed. It counts the events that it has pushed.
class Victim {
public:
    Victim(SimulatedProgram& program, uint32_t seed, bool hurries = true) {
        void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        reported_ = new (shared) std::atomic<uint64_t>(0);
        go_ = new (reported_ + 1) std::atomic<uint64_t>(0);
        pid_ = fork();
        if (pid_ == 0) {
            while (go_->load() == 0) {
                usleep(100);
            }
            SimulatedThread main(program, 1, 100);
            SimulatedAllocator allocator(0);
            Traffic traffic(allocator, main, seed);
            traffic.run(100);
            allocator.report_state(main, TIDEMARK_STATE_START);
            for (;;) {
                traffic.run(30);
                reported_->store(allocator.events());
                if (!hurries) {
                    usleep(1000);  // about as many events as a training loop of small kernels makes
                }
            }
        }
    }
    ~Victim() { kill_now(); }
    void go() { go_->store(1); }
    void kill_now() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
            pid_ = -1;
        }
    }
    pid_t pid() const { return pid_; }
    uint64_t reported() const { return reported_->load(); }

private:
    std::atomic<uint64_t>*reported_, *go_;
    pid_t pid_;
};

TEST_F(Recording, AProgramWithoutPyTorchHasDriverMemory) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100);
    main.push(record_of(TIDEMARK_DRIVER, TIDEMARK_DRIVER_CAPTURE_ON));
    tidemark_record record = record_of(TIDEMARK_DRIVER, TIDEMARK_DRIVER_ALLOC);
    record.driver.address = 0x7f0000000000;
    record.driver.size = 1 << 30;
    record.driver.source = main.text("libcupy.so");
    main.push(record);
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    ASSERT_EQ(1u, trace->devices.size());
    ASSERT_EQ(1u, trace->driver_allocations.size());
    EXPECT_EQ("libcupy.so", trace->driver_allocations[0].source);
}

TEST_F(Recording, AKilledProgramLosesNothingThatReachedARing) {
    std::mt19937 random(7);
    for (int i = 0; i < repetitions(20); ++i) {
        fs::remove(output_);
        SimulatedProgram program({4, 1 << 14});
        Victim victim(program, static_cast<uint32_t>(i));
        ASSERT_TRUE(program.start_recorder(output_, victim.pid())) << program.failure();
        victim.go();
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 250));
        victim.kill_now();
        ASSERT_TRUE(program.wait_for(RecorderState::finished));
        const auto& ring = program.region().ring(0);
        EXPECT_EQ(ring.head.load(), ring.tail.load());
        if (victim.reported() == 0) {
            continue;
        }
        const auto trace = opened();
        ASSERT_TRUE(trace);
        const auto events = static_cast<uint64_t>(trace->devices.at(0).event_count());
        EXPECT_GE(events, victim.reported());
        EXPECT_LE(events, victim.reported() + 1000);
        EXPECT_EQ("", data_gaps_of(*trace));
        EXPECT_TRUE(trace->clean_end);
        EXPECT_EQ(ProcessEnd::silent, trace->processes.at(0).how_ended);
        EXPECT_TRUE(trace->processes.at(0).end);
    }
}

TEST_F(Recording, AKilledRecorderLosesLittle) {
    std::mt19937 random(8);
    double worst = 0, sum = 0;
    const int times = repetitions(20);
    for (int i = 0; i < times; ++i) {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        SimulatedProgram program({4, 1 << 14});
        Victim victim(program, static_cast<uint32_t>(i), false);
        ASSERT_TRUE(program.start_recorder(output_, victim.pid())) << program.failure();
        victim.go();
        Progress progress;
        while (victim.reported() == 0 || !open_trace(output_, progress)) {  // until the first commit
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(250 + random() % 400));
        kill(program.recorder_pid(output_), SIGKILL);
        const auto killed = std::chrono::system_clock::now().time_since_epoch();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        victim.kill_now();
        auto trace = opened();
        for (int tries = 0; trace && trace->being_written && tries < 1000; ++tries) {  // a busy machine: not dead yet
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            trace = opened();
        }
        ASSERT_TRUE(trace);
        EXPECT_FALSE(trace->clean_end);
        EXPECT_EQ(1, data_gaps_of_kind(*trace, DataGapKind::unclean_end));
        const int64_t last = trace->start_utc_ns + trace->devices.at(0).event_time.back();
        const double lost_ms =
            static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(killed).count() - last) / 1e6;
        worst = std::max(worst, lost_ms);
        sum += lost_ms;
    }
    printf("a killed recorder loses %.0f ms on average, %.0f ms at most\n", sum / times, worst);
    EXPECT_LT(worst, 10'000)
        << "commits have stopped";  // how little: docs/PERFORMANCE.md, not a matter of pass or fail
}

TEST_F(Recording, TheSessionFolderSaysWhatHappens) {
    const std::string session = (folder_ / "session").string();
    fs::create_directories(session);
    SimulatedProgram program({4, 1 << 14});
    Victim victim(program, 1);
    ASSERT_TRUE(program.start_recorder(output_, victim.pid(), session));
    const std::string report = session + "/" + std::to_string(victim.pid()) + ".trace";
    const auto read = [&] {
        std::ifstream file(report);
        return std::string((std::istreambuf_iterator<char>(file)), {});
    };
    EXPECT_NE(std::string::npos, read().find("\"recording\""));
    victim.go();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::ofstream(session + "/" + std::to_string(victim.pid()) + ".exit") << "killed by signal 9\n";
    victim.kill_now();
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    EXPECT_NE(std::string::npos, read().find("\"finished\"")) << read();
    EXPECT_NE(std::string::npos, read().find("killed by signal 9")) << read();
    EXPECT_EQ(Fact(ProcessEnd::killed, "9"), opened()->processes.at(0).how_ended);
}

TEST_F(Recording, TheStopFileEndsIt) {
    const std::string session = (folder_ / "session").string();
    fs::create_directories(session);
    SimulatedProgram program({4, 1 << 14});
    Victim victim(program, 1);
    ASSERT_TRUE(program.start_recorder(output_, victim.pid(), session));
    victim.go();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::ofstream(session + "/stop").put('\n');
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_TRUE(trace->clean_end);
    EXPECT_EQ("", data_gaps_of(*trace));
    EXPECT_EQ(ProcessEnd::stopped, trace->processes.at(0).how_ended);
    EXPECT_FALSE(trace->processes.at(0).end);
}

TEST_F(Recording, ASignalEndsItCleanly) {
    SimulatedProgram program({4, 1 << 14});
    Victim victim(program, 1);
    ASSERT_TRUE(program.start_recorder(output_, victim.pid()));
    victim.go();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(program.recorder_pid(output_), SIGTERM);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    EXPECT_TRUE(opened()->clean_end);
    EXPECT_NE(std::string::npos, data_gaps_of(*opened()).find("signal 15"));
}

TEST_F(Recording, AFullDiskKeepsWhatWasCommitted) {
    SimulatedProgram program({4, 1 << 14});
    Victim victim(program, 1);
    rlimit usual{};
    getrlimit(RLIMIT_FSIZE, &usual);
    const rlimit little{2 << 20, usual.rlim_max};
    setrlimit(RLIMIT_FSIZE, &little);
    const bool started = program.start_recorder(output_, victim.pid());
    setrlimit(RLIMIT_FSIZE, &usual);
    ASSERT_TRUE(started);
    victim.go();
    ASSERT_TRUE(program.wait_for(RecorderState::failed));
    EXPECT_NE(std::string::npos, program.failure().find("could not be written")) << program.failure();
    victim.kill_now();
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_FALSE(trace->clean_end);
    EXPECT_GT(trace->devices.at(0).event_count(), 1000);
}

TEST_F(Recording, AnExistingTraceIsKeptUnlessItMayBeReplaced) {
    std::ofstream(output_) << "precious";
    SimulatedProgram program({});
    EXPECT_FALSE(program.start_recorder(output_, ::getpid()));
    EXPECT_NE(std::string::npos, program.failure().find("exists already")) << program.failure();
    SimulatedProgram second({}), third({});
    ASSERT_TRUE(second.start_recorder(output_, ::getpid(), "", true)) << second.failure();
    EXPECT_FALSE(third.start_recorder(output_, ::getpid(), "", true));
    EXPECT_NE(std::string::npos, third.failure().find("being written")) << third.failure();
    SimulatedThread(second, 1, 1).end(TIDEMARK_END_STOPPED);
    EXPECT_TRUE(second.wait_for(RecorderState::finished));
}

TEST_F(Recording, DamagedRingsDoNotEndTheRecorder) {
    std::mt19937_64 random(9);
    for (int iteration = 0; iteration < repetitions(10); ++iteration) {
        fs::remove(output_);
        SimulatedProgram program({4, 1 << 10});
        Victim victim(program, 1);
        ASSERT_TRUE(program.start_recorder(output_, victim.pid()));
        for (int i = 0; i < 3000; ++i) {
            auto& ring = program.region().ring(static_cast<uint32_t>(random() % 4));
            ring.state.store(recorder::RingState::in_use);
            ring.serial = static_cast<uint32_t>(random() % 3);
            const uint64_t head = ring.head.load();
            tidemark_record record;
            auto* words = reinterpret_cast<uint64_t*>(&record);
            for (size_t w = 0; w < 8; ++w) {
                words[w] = random() % 3 == 0 ? random() : random() % 64;
            }
            do {
                record.kind = static_cast<uint8_t>(random() % (TIDEMARK_REFERRER + 1));
            } while (record.kind == TIDEMARK_END);
            record.detail = static_cast<uint8_t>(random() % 10);
            record.extra = static_cast<uint16_t>(random() % 16 == 0 ? random() : 0);
            record.bytes = static_cast<uint32_t>(random() % 16 == 0 ? random() : record.extra * 64u);
            const auto index = static_cast<uint32_t>(&ring - &program.region().ring(0));
            program.region().slots(index)[head & 1023] = record;
            ring.head.store(random() % 500 == 0 ? random() : head + 1);
            if (i % 100 == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
        victim.kill_now();
        ASSERT_TRUE(program.wait_for(RecorderState::finished, 60)) << iteration;
        Progress progress;
        const auto trace = open_trace(output_, progress);
        EXPECT_TRUE(trace || trace.error().sentence.english().find("holds no device") != std::string::npos)
            << trace.error().sentence.english();
    }
}

}  // namespace
}  // namespace tidemark::test
