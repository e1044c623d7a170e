// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Recordings whose size is limited: what they say of the run must equal what a complete one says.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <functional>
#include <set>
#include <thread>

#include "storage/analysis/analysis.h"
#include "storage/read/follow.h"
#include "storage/trace/packed_counters.h"
#include "tests/recorder/recording_fixture.h"

namespace tidemark::test {
namespace {

constexpr uint64_t KiB = 1024, MiB = 1024 * KiB;
constexpr int64_t limit = 16'000'000;
constexpr uint64_t retained = 1000;  ///< bytes, by each step; no other allocation has this size

/// A training loop of which no two steps are equal.
struct Loop {
    int steps = 600;
    int oom_step = -1;
    bool takes_steps = true;  ///< false: the program reports no steps
    uint64_t activations = 1000, varies_by = 301;
    bool leaks = true;
};

class BoundedRecording : public Recording {
protected:
    void TearDown() override {
        unsetenv("TIDEMARK_KEEP");
        Recording::TearDown();
    }

    static uint64_t bytes_of(const std::string& path) {
        std::error_code error;
        const auto file = fs::file_size(path, error), log = fs::file_size(path + "-wal", error);
        return (file == static_cast<uintmax_t>(-1) ? 0 : file) + (log == static_cast<uintmax_t>(-1) ? 0 : log);
    }

    /// Starts a recording and runs the loop; `meanwhile` is called on another thread until it ends.
    template <class Meanwhile>
    void record(const Loop& loop, const std::string& keep, Meanwhile&& meanwhile) {
        setenv("TIDEMARK_KEEP", keep.c_str(), 1);
        output_ = (folder_ / ("run" + std::to_string(recorded_++) + ".tide")).string();
        SimulatedProgram program({});
        ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
        const pid_t recorder = program.recorder_pid(output_);
        kill_recorder_ = [&program, recorder] {
            ::kill(recorder, SIGKILL);
            program.region().header().recorder_state = RecorderState::failed;  // the program no longer waits for it
        };
        std::atomic<bool> has_ended{false};
        std::thread other([&] {
            while (!has_ended) {
                meanwhile();
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            }
        });
        SimulatedThread main(program, 1, 100);
        SimulatedAllocator allocator(0);
        allocator.report_state(main, TIDEMARK_STATE_START);
        run(loop, main, allocator);
        main.end(TIDEMARK_END_EXITED);
        if (expects_end_) {
            EXPECT_TRUE(program.wait_for(RecorderState::finished)) << program.failure();
        }
        has_ended = true;
        other.join();
        truth_ = allocator.truth();
    }
    void record(const Loop& loop, const std::string& keep) {
        record(loop, keep, [] {});
    }

    /// Returns the largest size of the file with its log.
    uint64_t record_and_measure(const Loop& loop, const std::string& keep) {
        std::atomic<uint64_t> largest{0};
        record(loop, keep, [&] { largest = std::max(largest.load(), bytes_of(output_)); });
        return std::max(largest.load(), bytes_of(output_));
    }

    static int64_t deleted_steps(const DeviceHistory& device) {
        int64_t count = 0;
        for (const RepeatedSteps& steps : device.repeats) {
            count += steps.are_details_deleted() ? steps.count : 0;
        }
        return count;
    }

    static std::string other_gaps(const Trace& trace) {
        std::string text;
        for (const DataGap& gap : trace.data_gaps) {
            text += gap.reason == DataGapReason::details_deleted ? "" : data_gap_words(Words(Language::english), gap);
        }
        return text;
    }

    using Left = std::set<std::tuple<uint64_t, uint64_t>>;
    /// Returns address and requested bytes of what exists at the end.
    static Left left_at_end(const Allocations& a) {
        Left left;
        for (AllocationIndex i = 0; i < a.size(); ++i) {
            if (a.free_event[i] == never) {
                left.emplace(a.address[i], a.requested[i]);
            }
        }
        return left;
    }

    DeviceHistory truth_;
    /// Returns whether the trace has events.
    bool has_written() const {
        std::error_code missing;
        const auto bytes = fs::file_size(output_ + "-wal", missing);
        return !missing && bytes >= (256 << 10);
    }

    std::function<void()> kill_recorder_;
    bool expects_end_ = true;

private:
    int recorded_ = 0;

    static void run(const Loop& loop, SimulatedThread& main, SimulatedAllocator& allocator) {
        const EventContext model{main.stack({{"build", 3}}), 0, 0, 0}, forward{main.stack({{"forward", 10}}), 0, 0, 0},
            keep{main.stack({{"log", 30}}), 0, 0, 0};
        allocator.allocate(main, 100 * MiB, model);
        std::vector<uint64_t> gradients;
        std::deque<uint64_t> buffer;
        for (int step = 0; step < loop.steps; ++step) {
            std::vector<uint64_t> activations;
            for (uint64_t i = 0; i < loop.activations + static_cast<uint64_t>(step) * 37 % loop.varies_by; ++i) {
                activations.push_back(
                    allocator.allocate(main, 512 * (1 + (i * 7 + static_cast<uint64_t>(step)) % 4000), forward));
            }
            for (const uint64_t gradient : gradients) {
                allocator.free(main, gradient, true, forward);
            }
            gradients.clear();
            for (; !activations.empty(); activations.pop_back()) {
                if (activations.size() % 100 == 0) {
                    gradients.push_back(allocator.allocate(main, 300 * KiB, forward));
                }
                allocator.free(main, activations.back(), true, forward);
            }
            if (loop.leaks) {
                allocator.allocate(main, retained, keep);
            }
            buffer.push_back(allocator.allocate(main, 2 * KiB, keep));
            if (buffer.size() > 20) {
                allocator.free(main, buffer.front(), true, keep);
                buffer.pop_front();
            }
            if (step == loop.oom_step) {
                tidemark_record record = record_of(TIDEMARK_OOM);
                record.oom.sampled = 1;
                main.push(record);
            }
            if (loop.takes_steps) {
                main.step(static_cast<uint64_t>(step), true);
            }
        }
    }
};

TEST_F(BoundedRecording, StaysBelowItsLimitAndSaysTheSame) {
    record({}, "all");
    const auto full = opened();
    ASSERT_TRUE(full);
    ASSERT_GT(full->file_bytes, 2 * limit);
    const uint64_t largest = record_and_measure({}, "16MB");
    EXPECT_LE(largest, static_cast<uint64_t>(limit));
    const auto bounded = opened();
    ASSERT_TRUE(bounded);
    EXPECT_EQ("", other_gaps(*bounded));
    const DeviceHistory &all = full->devices.at(0), &some = bounded->devices.at(0);
    EXPECT_EQ(deleted_steps(all), 0);
    EXPECT_GT(deleted_steps(some), 300);
    EXPECT_LT(some.event_count() * 3, all.event_count());
    EXPECT_EQ(left_at_end(truth_.allocations), left_at_end(some.allocations));
    EXPECT_EQ(full->steps.size(), bounded->steps.size());
    const Allocations& a = some.allocations;
    EXPECT_EQ(std::count(a.requested.begin(), a.requested.end(), retained), 600)
        << "what a step retains is never deleted";

    const Analysis complete(full, all), limited(bounded, some);
    EXPECT_EQ(values_of(complete.statistics().at(all.event_count())),
              values_of(limited.statistics().at(some.event_count())));
    const Curves &curves = complete.curves(), &fewer = limited.curves();
    for (size_t i = 0; i < full->steps.size(); i += 7) {
        const Step &step = full->steps[i], &same = bounded->steps[i];
        const EventNumber first = all.events_until(step.start), last = all.events_until(*step.end);
        const int64_t peak = curves.extremes(Series::allocated, first, last).max;
        const EventNumber from = some.events_until(same.start), to = some.events_until(*same.end);
        EXPECT_GE(fewer.extremes(Series::allocated, from, to).max, peak) << i;
        const RepeatedSteps* row = some.repeated_at(*same.end);
        if (row != nullptr && row->count == 1) {
            EXPECT_EQ(row->peak_allocated, peak) << i;
            EXPECT_EQ(unpacked_counters(row->counters), values_of(complete.statistics().at(last))) << i;
        }
        EXPECT_EQ(values_of(complete.statistics().at(last)), values_of(limited.statistics().at(to))) << i;
    }
}

TEST_F(BoundedRecording, FirstAndLastStepsKeepTheirDetails) {
    record({.oom_step = 100}, "16MB");
    const auto trace = opened();
    ASSERT_TRUE(trace);
    const DeviceHistory& device = trace->devices.at(0);
    for (const size_t step : {size_t{0}, size_t{19}, size_t{98}, size_t{99}, size_t{100}, trace->steps.size() - 1}) {
        EXPECT_EQ(device.repeated_at(*trace->steps[step].end), nullptr) << step;
    }
    EXPECT_NE(device.repeated_at(*trace->steps[50].end), nullptr);
    EXPECT_NE(device.repeated_at(*trace->steps[150].end), nullptr);
}

TEST_F(BoundedRecording, AnEarlyOutOfMemoryErrorDoesNotShortenTheFirstSteps) {
    record({.oom_step = 5}, "16MB");
    const auto trace = opened();
    ASSERT_TRUE(trace);
    for (const size_t step : {size_t{0}, size_t{10}, size_t{19}}) {
        EXPECT_EQ(trace->devices.at(0).repeated_at(*trace->steps[step].end), nullptr) << step;
    }
}

TEST_F(BoundedRecording, ProgramsWithoutStepsAreLimitedToo) {
    const uint64_t largest = record_and_measure({.takes_steps = false}, "16MB");
    EXPECT_LE(largest, static_cast<uint64_t>(limit));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_EQ("", other_gaps(*trace));
    EXPECT_EQ(left_at_end(truth_.allocations), left_at_end(trace->devices.at(0).allocations));
}

TEST_F(BoundedRecording, RowsOfManyStepsAreJoined) {
    const uint64_t largest =
        record_and_measure({.steps = 40'000, .activations = 5, .varies_by = 7, .leaks = false}, "16MB");
    EXPECT_LE(largest, static_cast<uint64_t>(limit));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_EQ("", other_gaps(*trace));
    const DeviceHistory& device = trace->devices.at(0);
    EXPECT_EQ(left_at_end(truth_.allocations), left_at_end(device.allocations));
    EXPECT_EQ(trace->steps.size(), 40'000u);
    EXPECT_GT(deleted_steps(device), 20'000);
    EXPECT_LT(static_cast<int64_t>(device.repeats.size()), deleted_steps(device));
    const Analysis analysis(trace, device);
    const Counters counters = analysis.statistics().at(device.event_count());
    EXPECT_EQ(counters.at(Metric::allocation, PoolKind::all).allocated,
              static_cast<int64_t>(truth_.allocations.size()));
}

TEST_F(BoundedRecording, CanBeFollowed) {
    std::optional<TraceFollower> follower;
    std::string gaps;
    int read = 0, with_deleted = 0;
    record({}, "16MB", [&] {
        Progress progress;
        if (!follower) {
            auto opened = TraceFollower::open(output_);
            if (opened) {
                follower = *std::move(opened);
            }
            return;
        }
        const auto trace = follower->poll(progress);
        ASSERT_TRUE(trace) << trace.error().sentence.english();
        if (*trace) {
            ++read;
            gaps += other_gaps(**trace);
            with_deleted += deleted_steps((*trace)->devices.at(0)) > 0;
        }
    });
    EXPECT_EQ("", gaps);
    EXPECT_GT(read, 5);
    EXPECT_GT(with_deleted, 2);
}

TEST_F(BoundedRecording, AKilledRecorderLeavesAConsistentTrace) {
    expects_end_ = false;
    for (const int polls : {150, 220, 300, 450}) {
        int waits = 0;
        bool is_killed = false;
        record({.steps = 400}, "16MB", [&] {
            // On a busy machine, nothing may be written yet.
            if (++waits >= polls && !is_killed && has_written()) {
                is_killed = true;
                kill_recorder_();
            }
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_TRUE(is_killed);
        const auto trace = opened();
        ASSERT_TRUE(trace);
        for (const DataGap& gap : trace->data_gaps) {
            EXPECT_TRUE(gap.reason == DataGapReason::details_deleted || gap.reason == DataGapReason::recorder_gone)
                << data_gap_words(Words(Language::english), gap);
        }
    }
}

}  // namespace
}  // namespace tidemark::test
