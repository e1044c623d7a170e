// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The memory breakdown never shows what cannot be: NVML is read at odd times, while memory changes, and its figures of
// processes may be wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "storage/breakdown/breakdown.h"
#include "storage/read/open_trace.h"
#include "tests/unit/sample_trace.h"

namespace tidemark {
namespace {

constexpr int64_t MiB = 1 << 20, GiB = 1024 * MiB, us = 1000, ms = 1000 * us;
constexpr int64_t driver_reserve = 9 * MiB, own_pid = 100;

/// A run whose segments come and go at known times.
struct RecordedRun {
    explicit RecordedRun(int64_t total, int devices = 1) {
        trace.streams = {{0, ""}};
        trace.pools = {Pool{}};
        trace.origins = {Origin{}};
        trace.processes = {{own_pid, {}, "", 0, std::nullopt, std::nullopt, {}}};
        trace.devices.resize(static_cast<size_t>(devices));
        for (int i = 0; i < devices; ++i) {
            trace.devices[static_cast<size_t>(i)].device = i;
            trace.devices[static_cast<size_t>(i)].total_bytes = total;
        }
    }

    void event(int device, Action action, size_t index, int64_t time) {
        DeviceHistory& history = trace.devices[static_cast<size_t>(device)];
        history.event_time.push_back(time);
        history.event_ref.emplace_back(action, static_cast<uint32_t>(index));
        trace.duration = std::max(trace.duration, time);
    }
    uint32_t segment(int64_t bytes, int64_t time, int device = 0) {
        DeviceHistory& history = trace.devices[static_cast<size_t>(device)];
        Segment segment;
        segment.address = next_address_;
        segment.size = static_cast<uint64_t>(bytes);
        segment.alloc_event = history.event_count();
        next_address_ += segment.size;
        event(device, Action::segment_alloc, history.segments.size(), time);
        history.segments.push_back(segment);
        return static_cast<uint32_t>(history.segments.size() - 1);
    }
    void release(uint32_t segment, int64_t time, int device = 0) {
        DeviceHistory& history = trace.devices[static_cast<size_t>(device)];
        history.segments[segment].free_event = history.event_count();
        event(device, Action::segment_free, segment, time);
    }
    void driver(DriverMemoryKind kind, int64_t bytes, int64_t time, int device = 0) {
        trace.driver_allocations.push_back(
            {kind, device, 0, static_cast<uint64_t>(bytes), time, std::nullopt, "libcublas.so.13", 0, false});
    }
    /// Adds a sample of the device, of the recorded process and of others.
    void sample(int64_t time, int64_t used, std::optional<int64_t> own, const std::map<int64_t, int64_t>& others = {},
                int device = 0, SampleSource source = SampleSource::nvml) {
        const int64_t total = trace.devices[static_cast<size_t>(device)].total_bytes;
        trace.samples.push_back({time, device, std::nullopt, used, total, source});
        if (own) {
            trace.samples.push_back({time, device, own_pid, *own, 0, source});
        }
        for (const auto& [pid, bytes] : others) {
            trace.samples.push_back({time, device, pid, bytes, 0, source});
        }
    }
    Breakdown breakdown(size_t device = 0) const {
        auto shared = std::make_shared<const Trace>(trace);
        return Breakdown(std::make_shared<const Analysis>(shared, shared->devices[device]));
    }

    Trace trace;

private:
    uint64_t next_address_ = 0x7f0000000000;
};

int64_t sum(const BreakdownRow& row) {
    int64_t bytes = 0;
    for (const Component& component : row.components) {
        bytes += component.bytes;
    }
    return bytes;
}

void expect_possible(const BreakdownRow& row, const DeviceHistory& device) {
    SCOPED_TRACE("at " + std::to_string(row.time) + " ns, event " + std::to_string(row.event));
    for (const Component& component : row.components) {
        ASSERT_GT(component.bytes, 0) << component_word(component.kind) << ' ' << component.name;
    }
    int64_t reserved = 0, inner = 0;
    for (const Segment& segment : device.segments) {
        reserved += segment.alive_at(row.event) ? static_cast<int64_t>(segment.size) : 0;
    }
    for (const Component& component : row.components) {
        inner += component.kind <= ComponentKind::private_pools ? component.bytes : 0;
    }
    ASSERT_EQ(inner, reserved);
    ASSERT_LE(sum(row), row.device_total);
    if (row.device_used) {
        ASSERT_EQ(sum(row), *row.device_used);
    }
    if (row.process_used) {
        ASSERT_LE(*row.process_used, *row.device_used);
    }
}

std::vector<BreakdownGapKind> gap_kinds(const RecordedRun& run) {
    std::vector<BreakdownGapKind> kinds;
    for (const BreakdownGap& gap : run.breakdown().gaps()) {
        kinds.push_back(gap.kind);
    }
    return kinds;
}

TEST(BreakdownSamples, TheContextIsNeverLargerThanASampleShows) {
    RecordedRun run(140 * GiB);
    run.driver(DriverMemoryKind::context, 626 * MiB, 1 * ms);  // its first measurement: kernels were loaded since
    run.segment(2 * MiB, 2 * ms);
    run.sample(3 * ms, 541 * MiB, 532 * MiB);
    run.driver(DriverMemoryKind::device, 64 * MiB, 100 * ms);
    run.sample(150 * ms, 701 * MiB, 692 * MiB);
    const BreakdownRow early = run.breakdown().at_time(3 * ms);
    EXPECT_EQ(early.device_used, 541 * MiB);
    EXPECT_EQ(early.bytes_of(ComponentKind::context), 530 * MiB);
    EXPECT_EQ(early.bytes_of(ComponentKind::unknown), 9 * MiB);
    EXPECT_EQ(run.breakdown().at_time(150 * ms).bytes_of(ComponentKind::context), 626 * MiB);
}

TEST(BreakdownSamples, ASegmentWhoseRecordIsLaterThanItsMemoryCountsOnce) {
    RecordedRun run(140 * GiB);
    run.driver(DriverMemoryKind::context, 530 * MiB, 1 * ms);
    run.segment(2 * MiB, 2 * ms);
    run.sample(50 * ms, 541 * MiB, 532 * MiB);
    run.sample(250 * ms, 541 * MiB + 130 * GiB, 532 * MiB + 130 * GiB);
    run.segment(130 * GiB, 260 * ms);  // the driver call took more than 10 ms
    const BreakdownRow row = run.breakdown().at_time(270 * ms);
    EXPECT_EQ(row.device_used, 541 * MiB + 130 * GiB) << "not 260 GiB of a GPU that has 140";
    EXPECT_EQ(row.bytes_of(ComponentKind::unknown), 9 * MiB);
    expect_possible(row, run.trace.devices[0]);
}

TEST(BreakdownSamples, ASampleMayBeOlderThanTheSegmentBeforeIt) {
    RecordedRun run(140 * GiB);
    run.driver(DriverMemoryKind::context, 530 * MiB, 1 * ms);
    run.segment(2 * MiB, 2 * ms);
    run.sample(50 * ms, 541 * MiB, 532 * MiB);
    run.segment(640 * MiB, 249 * ms);
    run.sample(250 * ms, 541 * MiB, 532 * MiB);
    run.sample(450 * ms, 541 * MiB + 640 * MiB, 532 * MiB + 640 * MiB);
    const BreakdownRow row = run.breakdown().at_time(251 * ms);
    EXPECT_EQ(row.device_used, 541 * MiB + 640 * MiB);
    EXPECT_EQ(row.bytes_of(ComponentKind::context), 530 * MiB);
    EXPECT_EQ(row.bytes_of(ComponentKind::unknown), 9 * MiB);
}

TEST(BreakdownSamples, OtherProcessesFreedWhatThisOneAllocates) {
    RecordedRun run(140 * GiB);
    run.segment(2 * MiB, 2 * ms);
    run.sample(50 * ms, 121 * GiB, 1 * GiB, {{7, 119 * GiB}});
    run.segment(130 * GiB, 120 * ms);
    run.sample(250 * ms, 132 * GiB, 131 * GiB, {{7, 512 * MiB}});
    for (const int64_t time : {119 * ms, 120 * ms, 149 * ms, 151 * ms, 250 * ms}) {
        expect_possible(run.breakdown().at_time(time), run.trace.devices[0]);
    }
    EXPECT_LT(run.breakdown().at_time(149 * ms).bytes_of(ComponentKind::other_processes), 10 * GiB);
}

TEST(BreakdownSamples, FiguresOfProcessesThatExceedTheDeviceAreLimited) {
    RecordedRun run(140 * GiB);
    run.segment(1 * GiB, 2 * ms);
    run.sample(50 * ms, 134 * GiB, 2 * GiB, {{7, 132 * GiB}, {8, 132 * GiB}});  // one process, listed by two containers
    const BreakdownRow row = run.breakdown().at_time(60 * ms);
    expect_possible(row, run.trace.devices[0]);
    EXPECT_EQ(row.bytes_of(ComponentKind::other_processes), 132 * GiB);
    EXPECT_EQ(row.components.back().pid, 0) << "nothing tells which of them is wrong";
    EXPECT_EQ(row.components.back().count, 2);
    EXPECT_EQ(std::ranges::count(gap_kinds(run), BreakdownGapKind::processes_exceed_device), 1);
}

TEST(BreakdownSamples, TheFirstSampleHoldsShortlyBeforeIt) {
    RecordedRun run(140 * GiB);
    run.driver(DriverMemoryKind::context, 530 * MiB, 100 * ms);
    run.segment(2 * MiB, 101 * ms);
    run.segment(20 * MiB, 180 * ms);
    run.sample(200 * ms, 561 * MiB, 552 * MiB);
    EXPECT_EQ(run.breakdown().at_time(200 * ms - 1600 * us).device_used, 561 * MiB);
    EXPECT_EQ(run.breakdown().at_time(150 * ms).device_used, 541 * MiB) << "without the segment of later";
    EXPECT_EQ(run.breakdown().at_time(50 * ms).device_used, 9 * MiB) << "before the context";
    EXPECT_FALSE(run.breakdown().at_time(-1 * ms).device_used) << "long before the first sample";
    EXPECT_EQ(std::ranges::count(gap_kinds(run), BreakdownGapKind::samples_begin_late), 0);
    run.trace.samples[0].time = run.trace.samples[1].time = 400 * ms;
    EXPECT_EQ(std::ranges::count(gap_kinds(run), BreakdownGapKind::samples_begin_late), 1);
}

TEST(BreakdownSamples, ASampleForAnOutOfMemoryErrorKeepsTheProcesses) {
    RecordedRun run(140 * GiB);
    run.segment(1 * GiB, 2 * ms);
    run.sample(50 * ms, 7 * GiB, 2 * GiB, {{7, 4 * GiB}});
    run.sample(50 * ms, 7 * GiB, 2 * GiB, {{7, 4 * GiB}}, 0, SampleSource::nvml_at_oom);
    const BreakdownRow row = run.breakdown().at_time(60 * ms);
    EXPECT_EQ(row.process_used, 2 * GiB);
    EXPECT_EQ(row.bytes_of(ComponentKind::other_processes), 4 * GiB);
}

TEST(BreakdownSamples, ASampleBelowTheAllocatedMemoryIsNotUsed) {
    RecordedRun run(140 * GiB);
    run.segment(4 * GiB, 2 * ms);
    run.sample(50 * ms, 1 * GiB, 1 * GiB);
    EXPECT_FALSE(run.breakdown().at_time(60 * ms).device_used);
    EXPECT_EQ(std::ranges::count(gap_kinds(run), BreakdownGapKind::samples_contradict_calls), 1);
    run.sample(250 * ms, 5 * GiB, 5 * GiB);
    EXPECT_EQ(run.breakdown().at_time(60 * ms).device_used, 5 * GiB);
}

TEST(BreakdownSamples, ManagedMemoryCountsAsFarAsTheDeviceHasIt) {
    RecordedRun run(140 * GiB);
    run.driver(DriverMemoryKind::context, 500 * MiB, 1 * ms);
    run.driver(DriverMemoryKind::managed, 300 * GiB, 2 * ms);
    run.segment(1 * GiB, 3 * ms);
    run.sample(50 * ms, 500 * MiB + 11 * GiB, 500 * MiB + 11 * GiB);
    const BreakdownRow row = run.breakdown().at_time(50 * ms);
    expect_possible(row, run.trace.devices[0]);
    EXPECT_EQ(row.bytes_of(ComponentKind::library), 10 * GiB);
    EXPECT_EQ(row.bytes_of(ComponentKind::context), 500 * MiB);
}

/// A device as it is, of which a run records what a recorder would.
class Machine {
public:
    Machine(uint32_t seed, int devices) : run(total, devices), random_(seed), devices_(static_cast<size_t>(devices)) {}

    static constexpr int64_t total = 16 * GiB;
    struct State {
        int64_t context = 0, reserved = 0, libraries = 0, kernels = 0;
        std::map<int64_t, int64_t> others;
        std::vector<uint32_t> live;  ///< segments

        int64_t own() const { return context + reserved + libraries + kernels; }
        int64_t used() const {
            int64_t bytes = own() + driver_reserve;
            for (const auto& [pid, other] : others) {
                bytes += other;
            }
            return bytes;
        }
    };

    int64_t below(int64_t limit) {
        return static_cast<int64_t>(random_() % static_cast<uint64_t>(std::max<int64_t>(limit, 1)));
    }

    /// Lets something happen on a device that ends at `time`.
    void step(size_t d, int64_t time) {
        State& state = devices_[d];
        const int device = static_cast<int>(d);
        const int64_t room = total - state.used();
        if (state.context == 0) {
            state.context = (400 + below(300)) * MiB;
            run.driver(DriverMemoryKind::context, state.context + below(2) * below(100) * MiB, time, device);
            return;
        }
        switch (below(8)) {
            case 0:
            case 1:
            case 2: {
                const int64_t bytes = std::min(2 * MiB * (1 + below(below(4) == 0 ? 4000 : 20)), room);
                if (bytes > 0) {
                    maybe_sample(d, time - below(2 * ms));
                    state.reserved += bytes;
                    maybe_sample(d, time - 1);  // the memory is there before its record
                    state.live.push_back(run.segment(bytes, time, device));
                } else {
                    run.event(device, Action::oom, run.trace.devices[d].others.size(), time);
                    OtherEvent oom;
                    oom.action = Action::oom;
                    oom.event = run.trace.devices[d].event_count() - 1;
                    run.trace.devices[d].others.push_back(oom);
                    sample(d, time);
                    sample(d, time);  // a sample for the error repeats the one before
                }
                break;
            }
            case 3:
                if (!state.live.empty()) {
                    const auto which = static_cast<size_t>(below(static_cast<int64_t>(state.live.size())));
                    const uint32_t segment = state.live[which];
                    state.live.erase(state.live.begin() + static_cast<std::ptrdiff_t>(which));
                    state.reserved -= static_cast<int64_t>(run.trace.devices[d].segments[segment].size);
                    maybe_sample(d, time - 1);
                    run.release(segment, time, device);
                }
                break;
            case 4:
                if (const int64_t bytes = std::min(below(64) * MiB, room); bytes > 0) {
                    state.libraries += bytes;
                    run.driver(DriverMemoryKind::device, bytes, time, device);
                }
                break;
            case 5: {  // of the kernels only a part is measured
                const int64_t bytes = std::min(below(32) * MiB, room);
                state.kernels += bytes;
                if (bytes > 0 && below(2) == 0) {
                    run.driver(DriverMemoryKind::kernels, below(bytes) + 1, time, device);
                }
                break;
            }
            case 6: {
                const int64_t pid = 200 + below(3);
                const int64_t others_room = room + state.others[pid];
                state.others[pid] = below(3) == 0 ? 0 : below(others_room);
                break;
            }
            default: sample(d, time);
        }
    }

    RecordedRun run;
    bool lists_processes = true;

private:
    void maybe_sample(size_t d, int64_t time) {
        if (below(3) == 0) {
            sample(d, time);
        }
    }
    void sample(size_t d, int64_t time) {
        const State& state = devices_[d];
        std::map<int64_t, int64_t> others;
        for (const auto& [pid, bytes] : state.others) {
            if (bytes > 0) {
                others[pid] = bytes;
            }
        }
        last_sample_ = std::max(last_sample_, time);
        run.sample(last_sample_, state.used(), lists_processes ? std::optional(state.own()) : std::nullopt,
                   lists_processes ? others : std::map<int64_t, int64_t>(), static_cast<int>(d));
    }

    std::mt19937 random_;
    std::vector<State> devices_;
    int64_t last_sample_ = 0;
};

TEST(BreakdownSamples, RandomRunsNeverShowTheImpossible) {
    for (uint32_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Machine machine(seed, 1 + static_cast<int>(seed % 3));
        machine.lists_processes = seed % 5 != 0;
        int64_t time = machine.below(200 * ms);
        for (int i = 0; i < 200; ++i) {
            time += 3 * ms + machine.below(i % 7 == 0 ? 300 * ms : 4 * ms);
            machine.step(static_cast<size_t>(machine.below(1 + seed % 3)), time);
        }
        for (size_t d = 0; d < machine.run.trace.devices.size(); ++d) {
            const DeviceHistory& device = machine.run.trace.devices[d];
            const Breakdown breakdown = machine.run.breakdown(d);
            for (int i = 0; i < 200; ++i) {
                const BreakdownRow row = breakdown.at_time(machine.below(time + 100 * ms) - 50 * ms);
                ASSERT_NO_FATAL_FAILURE(expect_possible(row, device));
            }
            for (EventNumber event = 0; event <= device.event_count(); ++event) {
                ASSERT_NO_FATAL_FAILURE(expect_possible(breakdown.at(event), device));
            }
        }
    }
}

TEST(BreakdownSamples, ASampleWithoutChangesAroundItIsExact) {
    for (uint32_t seed = 1; seed <= 50; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Machine machine(seed, 1);
        int64_t time = 0;
        for (int i = 0; i < 200; ++i) {
            time += 30 * ms;
            machine.step(0, time);
        }
        const Breakdown breakdown = machine.run.breakdown();
        const auto& events = machine.run.trace.devices[0].event_time;
        for (const Sample& sample : machine.run.trace.samples) {
            const auto next = std::lower_bound(events.begin(), events.end(), sample.time - 2 * ms);
            const bool is_quiet = next == events.end() || *next > sample.time + 20 * ms;
            if (!sample.pid && is_quiet) {
                ASSERT_EQ(breakdown.at_time(sample.time).device_used, sample.used_bytes) << sample.time;
            }
        }
    }
}

TEST(BreakdownSamples, RecordedRunsNeverShowTheImpossible) {
    int seen = 0;
    for (const auto& file : std::filesystem::directory_iterator(std::string(TIDEMARK_TEST_DATA) + "/recorded")) {
        if (file.path().extension() != ".tide") {
            continue;
        }
        SCOPED_TRACE(file.path().string());
        Progress progress;
        const auto trace = open_trace(file.path().string(), progress);
        ASSERT_TRUE(trace) << trace.error().sentence.english();
        for (const DeviceHistory& device : (*trace)->devices) {
            const Breakdown breakdown(std::make_shared<const Analysis>(*trace, device));
            for (EventNumber event = 0; event <= device.event_count(); event += 1 + device.event_count() / 2000) {
                ASSERT_NO_FATAL_FAILURE(expect_possible(breakdown.at(event), device));
                EXPECT_TRUE(breakdown.at(event).device_used) << "at event " << event;
            }
            for (const Sample& sample : (*trace)->samples) {
                ASSERT_NO_FATAL_FAILURE(expect_possible(breakdown.at_time(sample.time), device));
            }
        }
        ++seen;
    }
    EXPECT_GT(seen, 5);
}

}  // namespace
}  // namespace tidemark
