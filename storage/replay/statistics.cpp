// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/replay/statistics.h"

#include <algorithm>

#include "storage/allocator/block_map.h"
#include "storage/trace/packed_counters.h"

namespace tidemark {

namespace {

constexpr EventNumber checkpoint_spacing = 1 << 15;

/// Updates a block map along the events of a trace, whose block sizes are known.
class Replayer {
public:
    Replayer(const DeviceHistory& device, const AllocatorSettings& settings) : device_(device), map_(settings) {
        map_.counters().retries_known = settings.retries_show();
    }

    void start_at(EventNumber n, const AliveIndex& live) {
        for (const Segment& s : device_.segments) {
            if (s.alive_at(n)) {
                map_.add_segment(s.address, s.size, owner(s));
            }
        }
        const Allocations& a = device_.allocations;
        // Starts at the highest address, so that remaining free memory always lies at the front.
        std::vector<AllocationIndex> active = live.active_at(n);
        std::sort(active.begin(), active.end(), [&](uint32_t x, uint32_t y) { return a.address[x] > a.address[y]; });
        for (AllocationIndex i : active) {
            map_.place(a.address[i], a.requested[i], a.block_size[i], a.free_event[i] < n);
        }
        map_.restart_counters();
        const auto& repeats = device_.repeats;
        next_repeats_ =
            static_cast<size_t>(std::partition_point(repeats.begin(), repeats.end(),
                                                     [n](const RepeatedSteps& steps) { return steps.after < n; }) -
                                repeats.begin());
    }

    void apply(EventNumber event) {
        const EventRef ref = device_.event_ref[static_cast<size_t>(event)];
        const uint32_t i = ref.index();
        const Allocations& a = device_.allocations;
        switch (ref.action()) {
            case Action::alloc: map_.allocate(a.address[i], a.requested[i], a.block_size[i]); break;
            case Action::free_requested: map_.request_free(a.address[i]); break;
            case Action::free_completed: map_.complete_free(a.address[i]); break;
            case Action::segment_alloc:
            case Action::segment_map: arrive(event, i); break;
            case Action::segment_free:
            case Action::segment_unmap: leave(event, i); break;
            case Action::oom:
                // Before the allocator reports an OOM, it returns its cache to the driver and retries once.
                map_.counters().num_ooms += 1;
                map_.counters().num_alloc_retries += 1;
                break;
            default: break;
        }
    }

    /// Takes the counters after repeated steps that end in the state at event n. To be called for each n in turn.
    void pass_repeats(EventNumber n) {
        const auto& repeats = device_.repeats;
        for (; next_repeats_ < repeats.size() && repeats[next_repeats_].after == n; ++next_repeats_) {
            const auto values = unpacked_counters(repeats[next_repeats_].counters);
            if (values.size() == counter_values) {
                set_values(map_.counters(), values);
            }
        }
    }

    Counters& counters() { return map_.counters(); }

private:
    static SegmentOwner owner(const Segment& s) { return {s.stream, s.pool, s.is_large, s.is_expandable}; }

    /// Adds mapped memory. If it was later unmapped in parts, one event has several pieces, which are added as one.
    void arrive(EventNumber event, uint32_t first) {
        uint64_t low = UINT64_MAX, high = 0;
        const Segment& s = device_.segments[first];
        for (uint32_t k = first; k < device_.segments.size() && device_.segments[k].alloc_event == event; ++k) {
            low = std::min(low, device_.segments[k].address);
            high = std::max(high, device_.segments[k].address + device_.segments[k].size);
        }
        map_.add_segment(low, high - low, owner(s));
        if (map_.counters().retries_known && is_retry(event, s)) {
            map_.counters().num_alloc_retries += 1;
        }
    }

    void leave(EventNumber event, uint32_t any) {
        const Segment& s = device_.segments[any];
        uint64_t low = s.address, high = s.address + s.size;
        if (s.is_expandable) {
            for (const Segment& piece : device_.segments) {
                if (piece.free_event == event) {
                    low = std::min(low, piece.address);
                    high = std::max(high, piece.address + piece.size);
                }
            }
        }
        if (!map_.remove_segment(low, high - low)) {
            map_.evict(low, high - low);
        }
    }

    /// Returns whether an arriving segment belongs to a retry. After a failed cudaMalloc the allocator frees its cache
    /// and tries again: segments are returned and one arrives within one allocation, so with the same stack.
    bool is_retry(EventNumber event, const Segment& arrived) const {
        if (event == 0 || arrived.stack == 0) {
            return false;
        }
        const EventRef before = device_.event_ref[static_cast<size_t>(event - 1)];
        const bool left = before.action() == Action::segment_free || before.action() == Action::segment_unmap;
        return left && before.index() < device_.segments.size() &&
               device_.segments[before.index()].free_stack == arrived.stack;
    }

    const DeviceHistory& device_;
    BlockMap map_;
    size_t next_repeats_ = 0;
};

}  // namespace

Statistics::Statistics(const Trace& trace, const DeviceHistory& device, const AliveIndex& live)
    : trace_(trace), device_(device), live_(live) {
    Replayer replay(device, AllocatorSettings::from_text(trace.settings));
    replay.start_at(0, live);
    for (EventNumber e = 0; e < device.event_count(); ++e) {
        replay.pass_repeats(e);
        if (e % checkpoint_spacing == 0) {
            checkpoints_.push_back({e, replay.counters()});
        }
        replay.apply(e);
    }
    replay.pass_repeats(device.event_count());
    checkpoints_.push_back({device.event_count(), replay.counters()});
}

Counters Statistics::at(EventNumber n) const {
    n = std::clamp(n, 0, device_.event_count());
    const auto next = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), n,
                                       [](EventNumber value, const Checkpoint& c) { return value < c.event; });
    const Checkpoint& checkpoint = *std::prev(next);
    if (checkpoint.event == n) {
        return checkpoint.counters;
    }
    Replayer replay(device_, AllocatorSettings::from_text(trace_.settings));
    replay.start_at(checkpoint.event, live_);
    replay.counters() = checkpoint.counters;
    for (EventNumber e = checkpoint.event; e < n; ++e) {
        replay.pass_repeats(e);
        replay.apply(e);
    }
    replay.pass_repeats(n);
    return replay.counters();
}

}  // namespace tidemark
