// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/long_trace.h"

#include <algorithm>

namespace tidemark::bench {

namespace {

class Repeater {
public:
    explicit Repeater(const DeviceHistory& source) : from_(source), a_(source.allocations) {
        to_.device = source.device;
        to_.name = source.name;
        to_.truncated = source.truncated;
        for (Segment s : source.segments) {
            // Segments exist all the time, because their events cannot be repeated.
            s.alloc_event = before_history;
            s.free_event = never;
            to_.segments.push_back(s);
        }
        std::sort(to_.segments.begin(), to_.segments.end(),
                  [](const Segment& x, const Segment& y) { return x.address < y.address; });
    }

    DeviceHistory run(EventNumber events) {
        for (AllocationIndex i = 0; i < a_.size() && a_.alloc_event[i] == before_history; ++i) {
            add_allocation(i, before_history);
        }
        for (int64_t repetition = 0; to_.event_count() < events; ++repetition) {
            if (repetition > 0) {
                restart();
            }
            play(repetition * (from_.event_time.back() + 1'000'000));
        }
        return std::move(to_);
    }

private:
    void event(int64_t time, Action action, AllocationIndex allocation) {
        to_.event_time.push_back(time);
        to_.event_ref.emplace_back(action, allocation);
    }

    void add_allocation(AllocationIndex i, EventNumber when) {
        Allocations& out = to_.allocations;
        now_[i] = out.size();
        out.push_back({when, never, never, a_.address[i], a_.requested[i], a_.block_size[i], a_.stack[i],
                       a_.free_stack[i], no_segment, a_.origin[i]});
    }

    void play(int64_t shift) {
        for (EventNumber e = 0; e < from_.event_count(); ++e) {
            const EventRef ref = from_.event_ref[static_cast<size_t>(e)];
            last_time_ = from_.event_time[static_cast<size_t>(e)] + shift;
            apply(ref.action(), ref.index());
        }
    }

    void apply(Action action, AllocationIndex i) {
        const EventNumber now = to_.event_count();
        if (action == Action::alloc) {
            add_allocation(i, now);
        } else if (action == Action::free_requested) {
            to_.allocations.free_event[now_[i]] = now;
        } else if (action == Action::free_completed) {
            to_.allocations.free_completed[now_[i]] = now;
        } else {
            return;
        }
        event(last_time_, action, now_[i]);
    }

    void restart() {
        for (AllocationIndex i = 0; i < a_.size(); ++i) {
            if (a_.free_event[i] == never) {
                apply(Action::free_requested, i);
            }
            if (a_.free_completed[i] == never) {
                apply(Action::free_completed, i);
            }
        }
        for (AllocationIndex i = 0; i < a_.size() && a_.alloc_event[i] == before_history; ++i) {
            apply(Action::alloc, i);
        }
    }

    const DeviceHistory& from_;
    const Allocations& a_;
    DeviceHistory to_;
    int64_t last_time_ = 0;
    std::vector<AllocationIndex> now_ = std::vector<AllocationIndex>(a_.size());
};

constexpr int64_t mib = 1 << 20;

/// Adds what a recorder writes about memory outside the allocator: samples of NVML, libraries that grow, another
/// process.
void add_driver_memory(Trace& trace) {
    constexpr int64_t total = 143771 * mib, libraries = 40, sample_period = 40'000'000, own_pid = 100, other_pid = 200;
    const DeviceHistory& device = trace.devices[0];
    int64_t own = 500 * mib;
    for (const Segment& segment : device.segments) {
        own += static_cast<int64_t>(segment.size);
    }
    trace.processes.push_back({own_pid, {}, "train.py", 0, trace.duration, 0, ProcessEnd::exited});
    for (int64_t i = 0; i < libraries; ++i) {
        DriverAllocation library;
        library.kind = DriverMemoryKind::device;
        library.device = device.device;
        library.address = static_cast<uint64_t>(i + 1) << 48;
        library.bytes = 8 * mib;
        library.time = trace.duration / libraries * i;
        library.source = i % 2 == 0 ? "libcublas.so.13" : "libcudnn.so.9";
        trace.driver_allocations.push_back(library);
    }
    for (int64_t time = 0; time < trace.duration; time += sample_period) {
        const int64_t libraries_then = (time / (trace.duration / libraries) + 1) * 8 * mib;
        const int64_t mine = own + libraries_then, other = (1000 + time / sample_period % 100) * mib;
        const auto source = SampleSource::nvml;
        trace.samples.push_back({time, device.device, std::nullopt, mine + other, total, source});
        trace.samples.push_back({time, device.device, own_pid, mine, 0, source});
        trace.samples.push_back({time, device.device, other_pid, other, 0, source});
    }
}

}  // namespace

std::shared_ptr<const Trace> repeat(const Trace& trace, EventNumber events) {
    auto result = std::make_shared<Trace>();
    result->source = "generated by repeating " + trace.source;
    result->writer = trace.writer;
    result->settings = trace.settings;
    result->stacks = trace.stacks;
    result->streams = trace.streams;
    result->pools = trace.pools;
    result->origins = trace.origins;
    result->devices.push_back(Repeater(trace.main_device()).run(events));
    result->duration = result->devices[0].event_time.back();
    add_driver_memory(*result);
    return result;
}

}  // namespace tidemark::bench
