// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory breakdown: components add up to the usage that NVML reports, at every event and time.
#include "storage/breakdown/breakdown.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "storage/breakdown/process_memory.h"
#include "storage/import/import.h"
#include "storage/replay/memory_state.h"
#include "tests/unit/sample_trace.h"

namespace tidemark {
namespace {

constexpr int64_t KiB = 1024, MiB = 1024 * KiB;

std::shared_ptr<const Analysis> analyze(Trace trace, int device = 0) {
    auto shared = std::make_shared<const Trace>(std::move(trace));
    return std::make_shared<const Analysis>(shared, *shared->device(device));
}

std::map<std::string, int64_t> bytes_of(const BreakdownRow& row) {
    std::map<std::string, int64_t> bytes;
    for (const Component& component : row.components) {
        bytes[std::string(component_word(component.kind)) + (component.name.empty() ? "" : " " + component.name)] +=
            component.bytes;
    }
    return bytes;
}

int64_t sum(const BreakdownRow& row) {
    int64_t bytes = 0;
    for (const Component& component : row.components) {
        bytes += component.bytes;
    }
    return bytes;
}

const Component* find(const BreakdownRow& row, ComponentKind kind) {
    const auto found = std::find_if(row.components.begin(), row.components.end(),
                                    [&](const Component& one) { return one.kind == kind; });
    return found == row.components.end() ? nullptr : &*found;
}

using Bytes = std::map<std::string, int64_t>;

DriverAllocation driver_allocation(DriverMemoryKind kind, int64_t bytes, int64_t time, std::optional<int64_t> free_time,
                                   std::string source, bool in_allocator = false, int device = 0) {
    return {kind, device, 0, static_cast<uint64_t>(bytes), time, free_time, std::move(source), 0, in_allocator};
}

/// Returns the sample trace (device 0, 4 MiB reserved from event 0 on), recorded by process 100.
Trace recorded_trace() {
    Trace trace = test::sample_trace();
    trace.processes = {{100, {}, "python train.py", 0, std::nullopt, std::nullopt, {}}};
    return trace;
}

TEST(Breakdown, SplitsReservedMemory) {
    const Breakdown breakdown(analyze(test::sample_trace()));
    const BreakdownRow end = breakdown.at(9);
    EXPECT_EQ(bytes_of(end), (Bytes{{"requested", 4096 + 1001},
                                    {"rounding", 23},
                                    {"free_in_segments", 2 * MiB - 5120},
                                    {"cached_segments", 2 * MiB}}));
    EXPECT_FALSE(end.device_used);
    EXPECT_EQ(find(end, ComponentKind::requested)->count, 2);
    EXPECT_EQ(find(end, ComponentKind::cached_segments)->count, 1);
    EXPECT_EQ(find(end, ComponentKind::free_in_segments)->count, 1);
    EXPECT_EQ(bytes_of(breakdown.at(7))["waiting"], 2048);
    EXPECT_EQ(find(breakdown.at(7), ComponentKind::pending)->count, 1);
    EXPECT_EQ(bytes_of(breakdown.at(0)), (Bytes{{"requested", 4096}, {"free_in_segments", 2 * MiB - 4096}}));
    EXPECT_EQ(sum(breakdown.at_time(-5)), 2 * MiB);
}

TEST(Breakdown, SeparatesFreeMemoryOfPrivatePools) {
    Trace trace = test::sample_trace();
    trace.pools.push_back({{0, 1}});
    trace.devices[0].segments[1].pool = 1;
    EXPECT_EQ(bytes_of(Breakdown(analyze(trace)).at(9))["private_pools"], 2 * MiB);
    trace.devices[0].segments[0].pool = 1;
    const BreakdownRow row = Breakdown(analyze(trace)).at(9);
    EXPECT_EQ(bytes_of(row), (Bytes{{"requested", 5097}, {"rounding", 23}, {"private_pools", 4 * MiB - 5120}}));
    EXPECT_EQ(find(row, ComponentKind::private_pools)->count, 2);
}

TEST(Breakdown, AddsUpToNvmlUsage) {
    Trace trace = recorded_trace();
    trace.driver_allocations = {
        driver_allocation(DriverMemoryKind::context, 400 * KiB, 100, std::nullopt, ""),
        driver_allocation(DriverMemoryKind::device, 2 * MiB, 0, std::nullopt, "libc10_cuda.so", true),
        driver_allocation(DriverMemoryKind::device, 32 * KiB, 3000, 6500, "/opt/lib/libcublas.so.13"),
        driver_allocation(DriverMemoryKind::managed, 8 * KiB, 3000, std::nullopt, "libcublas.so.13"),
        driver_allocation(DriverMemoryKind::device, 4 * KiB, 3000, std::nullopt, "libtorch_cuda.so"),
        driver_allocation(DriverMemoryKind::physical, 1 * KiB, 3000, std::nullopt, "libc10_cuda.so"),
        driver_allocation(DriverMemoryKind::mapped, 1 * MiB, 3000, std::nullopt, "libnccl.so.2"),
        driver_allocation(DriverMemoryKind::pinned, 1 * MiB, 3000, std::nullopt, "libc10_cuda.so"),
        driver_allocation(DriverMemoryKind::kernels, 16 * KiB, 4000, std::nullopt, ""),
    };
    trace.samples = {{2500, 0, std::nullopt, 10 * MiB, 80 * MiB, SampleSource::nvml},
                     {2500, 0, 100, 5 * MiB, 0, SampleSource::nvml},
                     {2500, 0, 200, 3 * MiB, 0, SampleSource::nvml},
                     {7000, 0, std::nullopt, 8 * MiB, 80 * MiB, SampleSource::nvml},
                     {7000, 0, 100, 6 * MiB, 0, SampleSource::nvml}};
    const Breakdown breakdown(analyze(trace));
    EXPECT_EQ(breakdown.at_time(2499).device_used, 10 * MiB);

    const BreakdownRow sampled = breakdown.at_time(2500);
    EXPECT_EQ(sampled.device_used, 10 * MiB);
    EXPECT_EQ(sampled.process_used, 5 * MiB);
    EXPECT_EQ(sampled.device_total, 80 * MiB);
    EXPECT_EQ(sampled.sample_time, 2500);
    EXPECT_EQ(bytes_of(sampled)["unknown"], 10 * MiB - 3 * MiB - 4 * MiB - 400 * KiB);

    const BreakdownRow later = breakdown.at_time(4500);
    EXPECT_EQ(later.device_used, 10 * MiB + (32 + 8 + 4 + 1 + 16) * KiB);
    EXPECT_EQ(later.process_used, 5 * MiB + (32 + 8 + 4 + 1 + 16) * KiB);
    EXPECT_EQ(bytes_of(later)["library libcublas.so.13"], 40 * KiB);
    EXPECT_EQ(bytes_of(later)["library PyTorch"], 5 * KiB);
    EXPECT_EQ(bytes_of(later).count("library libnccl.so.2"), 0u);
    EXPECT_EQ(bytes_of(later)["kernels"], 16 * KiB);
    EXPECT_EQ(bytes_of(later)["context"], 400 * KiB);
    EXPECT_EQ(bytes_of(later)["other_processes process 200"], 3 * MiB);
    EXPECT_EQ(bytes_of(later)["unknown"], bytes_of(sampled)["unknown"]);
    EXPECT_EQ(find(later, ComponentKind::other_processes)->pid, 200);
    EXPECT_EQ(sum(later), *later.device_used);
    EXPECT_EQ(bytes_of(breakdown.at_time(6500))["library libcublas.so.13"], 8 * KiB);

    const BreakdownRow end = breakdown.at_time(8000);
    EXPECT_EQ(end.device_used, 8 * MiB);
    EXPECT_FALSE(find(end, ComponentKind::other_processes)) << "the other process ended before the second sample";
    EXPECT_EQ(sum(end), 8 * MiB);
    EXPECT_TRUE(breakdown.gaps().empty());
}

TEST(Breakdown, TheMemoryOfTheProcessEndsAtItsFigure) {
    Trace trace = recorded_trace();
    trace.driver_allocations = {driver_allocation(DriverMemoryKind::context, 400 * KiB, 100, std::nullopt, ""),
                                driver_allocation(DriverMemoryKind::device, 32 * KiB, 100, std::nullopt, "libx.so")};
    trace.samples = {{2500, 0, std::nullopt, 12 * MiB, 80 * MiB, SampleSource::nvml},
                     {2500, 0, 100, 6 * MiB, 0, SampleSource::nvml},
                     {2500, 0, 200, 3 * MiB, 0, SampleSource::nvml}};
    const auto highest = highest_figure(trace, 0);
    ASSERT_TRUE(highest);
    EXPECT_EQ(highest->of, FigureOf::process);
    EXPECT_EQ(highest->bytes, 6 * MiB);
    const Breakdown breakdown(analyze(trace));
    EXPECT_TRUE(breakdown.lists_process());
    const ProcessMemory memory = process_memory(breakdown.at_time(2500), FigureOf::process);
    EXPECT_EQ(memory.figure, 6 * MiB);
    EXPECT_EQ(memory.top(), 6 * MiB) << "without the other process and the unknown memory of the device";
    ASSERT_EQ(memory.outside.size(), 3u);
    EXPECT_EQ(memory.outside[0].kind, ComponentKind::library);
    EXPECT_EQ(memory.outside[1].kind, ComponentKind::context);
    EXPECT_EQ(memory.outside[2].kind, ComponentKind::unknown);
    EXPECT_EQ(memory.outside[2].bytes, 6 * MiB - memory.reserved - (400 + 32) * KiB);
}

TEST(Breakdown, TheFigureIsOfTheDeviceIfTheProcessIsNotListed) {
    Trace trace = recorded_trace();
    EXPECT_FALSE(highest_figure(trace, 0));
    trace.samples = {{2500, 0, std::nullopt, 12 * MiB, 80 * MiB, SampleSource::nvml}};
    EXPECT_EQ(highest_figure(trace, 0)->of, FigureOf::device);
    EXPECT_EQ(highest_figure(trace, 0)->bytes, 12 * MiB);
    const Breakdown breakdown(analyze(trace));
    EXPECT_FALSE(breakdown.lists_process());
    const ProcessMemory memory = process_memory(breakdown.at_time(2500), FigureOf::device);
    EXPECT_EQ(memory.figure, 12 * MiB);
    EXPECT_EQ(memory.top(), 12 * MiB);
}

TEST(Breakdown, CountsAsyncMemoryOnceWithItsPool) {
    Trace trace = recorded_trace();
    trace.driver_allocations = {driver_allocation(DriverMemoryKind::async, 64 * KiB, 10, std::nullopt, "libx.so")};
    EXPECT_EQ(bytes_of(Breakdown(analyze(trace)).at(9))["library libx.so"], 64 * KiB);
    trace.driver_allocations.push_back(driver_allocation(DriverMemoryKind::pool, 1 * MiB, 10, std::nullopt, "libx.so"));
    EXPECT_EQ(bytes_of(Breakdown(analyze(trace)).at(9))["library libx.so"], 1 * MiB);
}

TEST(Breakdown, EstimatesContextWithoutDriverCalls) {
    Trace trace = recorded_trace();
    trace.samples = {{-50, 0, std::nullopt, 1 * MiB, 80 * MiB, SampleSource::nvml},
                     {2500, 0, std::nullopt, 6 * MiB, 80 * MiB, SampleSource::nvml},
                     {2500, 0, 100, 5 * MiB, 0, SampleSource::nvml}};
    const Breakdown breakdown(analyze(trace));
    EXPECT_EQ(bytes_of(breakdown.at_time(2500))["context"], 1 * MiB);
    EXPECT_EQ(bytes_of(breakdown.at_time(2500))["unknown"], 1 * MiB);
    EXPECT_EQ(bytes_of(breakdown.at_time(0))["context"], 1 * MiB) << "the context exists since the first segment";
    EXPECT_EQ(bytes_of(breakdown.at_time(-10)).count("context"), 0u);
    const auto gaps = breakdown.gaps();
    ASSERT_EQ(gaps.size(), 1u);
    EXPECT_EQ(gaps[0].kind, BreakdownGapKind::libraries_in_context);
}

TEST(Breakdown, FindsTheProcessUnderAnotherPidInNvml) {
    Trace trace = recorded_trace();
    trace.samples = {{0, 0, std::nullopt, 9 * MiB, 80 * MiB, SampleSource::nvml},
                     {0, 0, 77, 5 * MiB, 0, SampleSource::nvml}};
    EXPECT_EQ(Breakdown(analyze(trace)).at(9).process_used, 5 * MiB) << "only one process uses the device";
    trace.samples.push_back({0, 0, 78, 1 * MiB, 0, SampleSource::nvml});
    const BreakdownRow unnamed = Breakdown(analyze(trace)).at(9);
    EXPECT_FALSE(unnamed.process_used);
    EXPECT_FALSE(find(unnamed, ComponentKind::other_processes));
    EXPECT_EQ(sum(unnamed), *unnamed.device_used);
    EXPECT_EQ(Breakdown(analyze(trace)).gaps().size(), 2u);
    trace.nvml_pid = 77;
    const BreakdownRow named = Breakdown(analyze(trace)).at(9);
    EXPECT_EQ(named.process_used, 5 * MiB);
    EXPECT_EQ(find(named, ComponentKind::other_processes)->pid, 78);
    EXPECT_EQ(sum(named), *named.device_used);
}

TEST(Breakdown, SeparatesDevices) {
    Trace trace = recorded_trace();
    trace.devices.push_back(trace.devices[0]);
    trace.devices[1].device = 1;
    trace.driver_allocations = {
        driver_allocation(DriverMemoryKind::device, 32 * KiB, 0, std::nullopt, "libx.so", false, 1)};
    trace.samples = {{0, 1, std::nullopt, 9 * MiB, 80 * MiB, SampleSource::nvml}};
    EXPECT_FALSE(Breakdown(analyze(trace, 0)).at(9).device_used);
    EXPECT_EQ(sum(Breakdown(analyze(trace, 0)).at(9)), 4 * MiB);
    EXPECT_EQ(sum(Breakdown(analyze(trace, 1)).at(9)), 9 * MiB + 0 * KiB);
    EXPECT_EQ(bytes_of(Breakdown(analyze(trace, 1)).at(9))["library libx.so"], 32 * KiB);
}

/// Returns a trace with blocks at random addresses in four segments, and driver allocations and samples at random
/// times.
Trace random_trace(uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint64_t>(limit)); };
    Trace trace;
    trace.streams = {{0, ""}};
    trace.pools = {{{0, 0}}, {{0, 1}}};
    trace.origins = {Origin{}};
    trace.processes = {{100, {}, "", 0, std::nullopt, std::nullopt, {}}};
    DeviceHistory device;
    const auto add_event = [&](Action action, size_t index) {
        device.event_ref.emplace_back(action, static_cast<uint32_t>(index));
        device.event_time.push_back((device.event_time.empty() ? 0 : device.event_time.back()) + below(3) * 100);
        return static_cast<EventNumber>(device.event_ref.size() - 1);
    };
    for (uint32_t s = 0; s < 4; ++s) {
        Segment segment;
        segment.address = (uint64_t{s} + 1) << 30;
        segment.size = 2 * MiB;
        segment.pool = s == 3;
        segment.alloc_event = static_cast<EventNumber>(device.event_ref.size());
        add_event(Action::segment_alloc, s);
        device.segments.push_back(segment);
    }
    std::vector<uint32_t> alive;
    for (int i = 0; i < 500; ++i) {
        if (alive.empty() || below(2) == 0) {
            const auto a = device.allocations.size();
            const auto slot = static_cast<uint64_t>(a);
            alive.push_back(test::add_allocation(device, static_cast<EventNumber>(device.event_ref.size()), never,
                                                 never, ((slot % 4 + 1) << 30) + slot * 2048, 1 + below(2000), 2048,
                                                 0));
            add_event(Action::alloc, a);
        } else {
            const size_t which = static_cast<size_t>(below(static_cast<int64_t>(alive.size())));
            const uint32_t a = alive[which];
            alive.erase(alive.begin() + static_cast<ptrdiff_t>(which));
            device.allocations.free_event[a] = add_event(Action::free_requested, a);
            if (below(5) != 0) {
                device.allocations.free_completed[a] = add_event(Action::free_completed, a);
            }
        }
    }
    const int64_t end = device.event_time.back();
    constexpr DriverMemoryKind kinds[] = {DriverMemoryKind::device, DriverMemoryKind::async,  DriverMemoryKind::pool,
                                          DriverMemoryKind::mapped, DriverMemoryKind::pinned, DriverMemoryKind::context,
                                          DriverMemoryKind::kernels};
    for (int i = 0; i < 40; ++i) {
        const int64_t time = below(end);
        trace.driver_allocations.push_back(driver_allocation(kinds[below(7)], below(MiB), time,
                                                             below(2) ? std::optional(time + below(end)) : std::nullopt,
                                                             below(2) ? "liba.so" : "libtorch.so", below(4) == 0));
    }
    for (int64_t time = below(end / 4); time < end; time += 1 + below(end / 10)) {
        trace.samples.push_back({time, 0, std::nullopt, below(100 * MiB), 100 * MiB, SampleSource::nvml});
        for (int64_t pid = 100; pid < 104; ++pid) {
            if (below(2)) {
                trace.samples.push_back({time, 0, pid, below(10 * MiB), 0, SampleSource::nvml});
            }
        }
    }
    trace.devices.push_back(std::move(device));
    return trace;
}

TEST(Breakdown, AddsUpAtEveryEventAndTime) {
    for (uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        const auto analysis = analyze(random_trace(seed));
        const Breakdown breakdown(analysis);
        const DeviceHistory& device = analysis->device();
        std::vector<int64_t> times;
        for (int64_t time = -10; time < device.event_time.back() + 500; time += 77) {
            times.push_back(time);
        }
        std::vector<BreakdownRow> rows = breakdown.band(times);
        for (size_t i = 0; i < times.size(); ++i) {
            EXPECT_EQ(bytes_of(rows[i]), bytes_of(breakdown.at_time(times[i])));
        }
        for (EventNumber n = 0; n <= device.event_count(); ++n) {
            rows.push_back(breakdown.at(n));
            const MemoryState state = memory_state(device, analysis->live(), n);
            int64_t inner = 0, free = 0;
            for (const Component& component : rows.back().components) {
                inner += component.kind <= ComponentKind::private_pools ? component.bytes : 0;
                free +=
                    component.kind >= ComponentKind::free_in_segments && component.kind <= ComponentKind::private_pools
                        ? component.bytes
                        : 0;
            }
            ASSERT_EQ(inner, static_cast<int64_t>(state.reserved));
            ASSERT_EQ(free, static_cast<int64_t>(state.free_in_gaps + state.free_in_cached_segments));
        }
        for (const BreakdownRow& row : rows) {
            if (row.device_used) {
                ASSERT_EQ(sum(row), *row.device_used);
            }
        }
    }
}

class BreakdownOfSnapshot : public testing::TestWithParam<const char*> {};

TEST_P(BreakdownOfSnapshot, MatchesReplayedState) {
    Progress progress;
    const auto trace =
        read_snapshot_trace(std::string(TIDEMARK_TEST_DATA) + "/snapshots/" + GetParam() + ".pickle", progress);
    ASSERT_TRUE(trace);
    for (const DeviceHistory& device : (*trace)->devices) {
        const auto analysis = std::make_shared<const Analysis>(*trace, device);
        const Breakdown breakdown(analysis);
        const auto is_private = [&](uint32_t segment) {
            const Pool& pool = (*trace)->pools[device.segments[segment].pool];
            return device.segments[segment].pool_known && (pool.owner[0] != 0 || pool.owner[1] != 0);
        };
        for (EventNumber n = 0; n <= device.event_count(); n += 1 + device.event_count() / 300) {
            const MemoryState state = memory_state(device, analysis->live(), n);
            Bytes expected;
            for (const SegmentState& segment : state.segments) {
                expected[is_private(segment.segment) ? "private_pools"
                         : segment.cached()          ? "cached_segments"
                                                     : "free_in_segments"] += static_cast<int64_t>(segment.free());
            }
            expected["requested"] = static_cast<int64_t>(state.requested);
            expected["waiting"] = static_cast<int64_t>(state.pending);
            const BreakdownRow row = breakdown.at(n);
            Bytes actual = bytes_of(row);
            for (const char* word : {"private_pools", "cached_segments", "free_in_segments", "waiting"}) {
                ASSERT_EQ(actual[word], expected[word]) << word << " at event " << n;
            }
            ASSERT_EQ(sum(row), static_cast<int64_t>(state.reserved));
            if (state.pending == 0) {
                ASSERT_EQ(actual["requested"], expected["requested"]);
            }
            ASSERT_FALSE(row.device_used);
        }
        EXPECT_EQ(breakdown.gaps().size(), 2u);
    }
}

INSTANTIATE_TEST_SUITE_P(Real, BreakdownOfSnapshot,
                         testing::Values("adam_steps", "cudagraph", "expandable_graph", "expandable_mixed", "frag_oom",
                                         "gpt_ring", "mempool", "record_stream", "streams", "two_gpus",
                                         "varlen_expandable"),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace tidemark
