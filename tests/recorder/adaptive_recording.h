// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Shared by tests of recordings in which repeated steps are not written: a training loop, recorded with either detail.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <set>

#include "storage/analysis/analysis.h"
#include "tests/recorder/recording_fixture.h"

namespace tidemark::test {

class AdaptiveRecording : public Recording {
protected:
    static constexpr uint64_t KiB = 1024, MiB = 1024 * KiB;
    static constexpr int steps = 200;

    /// A training loop: activations within a step, gradients that the next step frees.
    struct Loop {
        uint64_t leak = 0;       ///< bytes that each step retains
        size_t recent = 0;       ///< a queue keeps two outputs of each of so many steps
        int other_step = -1;     ///< allocates more than the others
        int stops_keeping = -1;  ///< from this step on, a cache of 50 MiB is gone
        int checked_step = -1;   ///< in which PyTorch reports its state
        int marks_every = 0;     ///< steps
        bool is_labeled = false;
    };

    void TearDown() override {
        unsetenv("TIDEMARK_DETAIL");
        Recording::TearDown();
    }

    /// Records the loop. Returns its trace.
    std::shared_ptr<const Trace> record(const Loop& loop, const char* detail) {
        setenv("TIDEMARK_DETAIL", detail, 1);
        output_ = (folder_ / (std::string(detail) + std::to_string(recorded_++) + ".tide")).string();
        SimulatedProgram program({});
        EXPECT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
        SimulatedThread main(program, 1, 100);
        SimulatedAllocator allocator(0);
        allocator.report_state(main, TIDEMARK_STATE_START);
        run(loop, main, allocator);
        main.end(TIDEMARK_END_EXITED);
        EXPECT_TRUE(program.wait_for(RecorderState::finished)) << program.failure();
        truth_ = allocator.truth();
        const auto trace = opened();
        EXPECT_EQ("", trace ? data_gaps_of(*trace) : "no trace");
        return trace;
    }

    /// Returns address, requested bytes and stack of what exists at the end.
    static std::set<std::tuple<uint64_t, uint64_t, StackId>> left_at_end(const DeviceHistory& device) {
        std::set<std::tuple<uint64_t, uint64_t, StackId>> left;
        const Allocations& a = device.allocations;
        for (AllocationIndex i = 0; i < a.size(); ++i) {
            if (a.free_event[i] == never) {
                left.emplace(a.address[i], a.requested[i], a.stack[i]);
            }
        }
        return left;
    }

    static int64_t repeated_steps(const DeviceHistory& device) {
        int64_t count = 0;
        for (const RepeatedSteps& repeats : device.repeats) {
            count += repeats.count;
        }
        return count;
    }

    /// Returns the highest allocated bytes of each step.
    static std::vector<int64_t> peaks(const Trace& trace) {
        const DeviceHistory& device = trace.devices.at(0);
        const Curves curves(device);
        std::vector<int64_t> found;
        for (const Step& step : trace.steps) {
            const EventNumber first = device.events_until(step.start), last = device.events_until(*step.end);
            const RepeatedSteps* repeats = device.repeated_at(*step.end);
            found.push_back(repeats != nullptr ? repeats->peak_allocated
                                               : curves.extremes(Series::allocated, first, last).max);
        }
        return found;
    }

    /// Returns the allocated bytes at each step's end.
    static std::vector<int64_t> levels(const Trace& trace) {
        const DeviceHistory& device = trace.devices.at(0);
        const Curves curves(device);
        std::vector<int64_t> found;
        for (const Step& step : trace.steps) {
            found.push_back(curves.value(Series::allocated, device.events_until(*step.end)));
        }
        return found;
    }

    /// Expects that both traces say the same of the end, of each step's peak and end, and of the counters.
    static void expect_same(const std::shared_ptr<const Trace>& full, const std::shared_ptr<const Trace>& adaptive) {
        const DeviceHistory &all = full->devices.at(0), &some = adaptive->devices.at(0);
        EXPECT_EQ(left_at_end(all), left_at_end(some));
        EXPECT_EQ(full->steps.size(), adaptive->steps.size());
        EXPECT_EQ(peaks(*full), peaks(*adaptive));
        EXPECT_EQ(levels(*full), levels(*adaptive));
        const Analysis a(full, all), b(adaptive, some);
        const Counters expected = a.statistics().at(all.event_count()), found = b.statistics().at(some.event_count());
        EXPECT_EQ(values_of(expected), values_of(found));
    }

    DeviceHistory truth_;

private:
    int recorded_ = 0;

    static void run(const Loop& loop, SimulatedThread& main, SimulatedAllocator& allocator) {
        const EventContext model{main.stack({{"build", 3}}), 0, 0, 0}, forward{main.stack({{"forward", 10}}), 0, 0, 0},
            backward{main.stack({{"backward", 20}}), 0, 0, 0}, keep{main.stack({{"log", 30}}), 0, 0, 0};
        allocator.allocate(main, 100 * MiB, model);
        const uint64_t cache = allocator.allocate(main, 50 * MiB, model);
        std::vector<uint64_t> gradients;
        constexpr uint64_t output = 16'384'000;  // in blocks of several sizes: a rest below 1 MiB is not split off
        std::deque<uint64_t> queue;
        uint64_t batch = 0;
        for (int step = 0; step < steps; ++step) {
            std::vector<uint64_t> activations;
            if (loop.recent > 0) {
                const uint64_t last = std::exchange(batch, allocator.allocate(main, output, forward));
                if (last != 0) {
                    allocator.free(main, last, true, forward);
                }
                queue.push_back(allocator.allocate(main, output, forward));
                queue.push_back(allocator.allocate(main, KiB, forward));
            }
            for (uint64_t layer = 0; layer < 12; ++layer) {
                activations.push_back(allocator.allocate(main, (3 + layer) * MiB / 2, forward));
                label(loop, main, TIDEMARK_CATEGORY_OUTPUT, activations.back(), allocator.events());
            }
            if (step == loop.other_step) {
                activations.push_back(allocator.allocate(main, 70 * MiB, forward));
            }
            if (step == loop.checked_step) {
                allocator.report_state(main, TIDEMARK_STATE_CHECK);
            }
            for (const uint64_t gradient : gradients) {
                allocator.free(main, gradient, true, backward);
            }
            gradients.clear();
            for (; !activations.empty(); activations.pop_back()) {
                gradients.push_back(allocator.allocate(main, 300 * KiB, backward));
                label(loop, main, TIDEMARK_CATEGORY_GRADIENT, gradients.back(), allocator.events());
                allocator.free(main, activations.back(), true, backward);
            }
            if (loop.leak > 0) {
                const uint64_t kept = allocator.allocate(main, loop.leak, keep);
                label(loop, main, TIDEMARK_CATEGORY_INPUT, kept, allocator.events());
            }
            if (step == loop.stops_keeping) {
                allocator.free(main, cache, true, keep);
            }
            main.step(static_cast<uint64_t>(step), true);
            for (; queue.size() > 2 * loop.recent; queue.pop_front()) {
                allocator.free(main, queue.front(), true, keep);
            }
            if (loop.marks_every > 0 && step % loop.marks_every == 0) {
                mark(main, "step " + std::to_string(step), allocator.events());
            }
        }
    }

    static void label(const Loop& loop, SimulatedThread& main, uint8_t category, uint64_t address, uint64_t sequence) {
        if (loop.is_labeled) {
            main.label(category, {0, address, sequence});
        }
    }

    static void mark(SimulatedThread& main, const std::string& name, uint64_t sequence) {
        tidemark_record record = record_of(TIDEMARK_MARK);
        record.mark.devices = 1;
        std::string payload(sizeof sequence, '\0');
        std::memcpy(payload.data(), &sequence, sizeof sequence);
        payload += name;
        main.push(record, payload.data(), static_cast<uint32_t>(payload.size()));
    }
};

}  // namespace tidemark::test
