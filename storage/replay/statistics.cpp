// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/replay/statistics.h"

#include <algorithm>
#include <map>

#include "storage/allocator/block_map.h"
#include "storage/replay/repeated_step.h"
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

    /// Takes the counters after repeated steps that end in the state at event n, of the first `rows` of them. To be
    /// called for each n in turn.
    void pass_repeats(EventNumber n, size_t rows = SIZE_MAX) {
        const auto& repeats = device_.repeats;
        const size_t end = std::min(rows, repeats.size());
        for (; next_repeats_ < end && repeats[next_repeats_].after == n; ++next_repeats_) {
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

/// The counters at the begin of a step, and at its end or within it, with the peaks between the two.
struct StepCounters {
    Counters begin, end;
};

/// Returns the counters after `count` steps that change them alike.
Counters with_steps(Counters counters, const StepCounters& step, int64_t count) {
    for (size_t m = 0; count > 0 && m < counters.stats.size(); ++m) {
        for (size_t p = 0; p < counters.stats[m].size(); ++p) {
            Stat& stat = counters.stats[m][p];
            const Stat &begin = step.begin.stats[m][p], &end = step.end.stats[m][p];
            const int64_t growth = end.current - begin.current;
            const int64_t highest_start = stat.current + std::max<int64_t>(growth, 0) * (count - 1);
            stat.peak = std::max(stat.peak, highest_start + end.peak - begin.current);
            stat.current += growth * count;
            stat.allocated += (end.allocated - begin.allocated) * count;
            stat.freed += (end.freed - begin.freed) * count;
        }
    }
    return counters;
}

/// Lets the peaks begin anew.
Counters with_new_peaks(Counters counters) {
    for (auto& kinds : counters.stats) {
        for (Stat& stat : kinds) {
            stat.peak = stat.current;
        }
    }
    return counters;
}

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

/// Returns the counters after n events. Ignores those that the trace has of repeated steps from `rows` on.
Counters Statistics::after(EventNumber n, size_t rows) const {
    n = std::clamp(n, 0, device_.event_count());
    const bool is_before_repeats = rows < device_.repeats.size();
    // The counters of a checkpoint are those after the repeated steps in its state.
    const auto next = std::partition_point(checkpoints_.begin() + 1, checkpoints_.end(), [&](const Checkpoint& c) {
        return is_before_repeats ? c.event < n : c.event <= n;
    });
    const Checkpoint& checkpoint = *std::prev(next);
    if (checkpoint.event == n) {
        return checkpoint.counters;
    }
    Replayer replay(device_, AllocatorSettings::from_text(trace_.settings));
    replay.start_at(checkpoint.event, live_);
    replay.counters() = checkpoint.counters;
    for (EventNumber e = checkpoint.event; e < n; ++e) {
        replay.pass_repeats(e, rows);
        replay.apply(e);
    }
    replay.pass_repeats(n, rows);
    return replay.counters();
}

/// Returns the counters in state `to`, with the peaks since state `from`.
Counters Statistics::between(EventNumber from, EventNumber to) const {
    Replayer replay(device_, AllocatorSettings::from_text(trace_.settings));
    replay.start_at(from, live_);
    replay.counters() = with_new_peaks(after(from));
    for (EventNumber e = from; e < to; ++e) {
        replay.apply(e);
    }
    return replay.counters();
}

/// Repeated steps that follow each other may have counters only after the last of them. Returns the first row of those
/// that have none and end where `row` begins.
size_t Statistics::first_uncounted(size_t row) const {
    const auto& repeats = device_.repeats;
    while (row > 0 && repeats[row - 1].counters.empty() && repeats[row - 1].end == repeats[row].start &&
           RepeatedStep::at(trace_, device_, repeats[row - 1].end)) {
        --row;
    }
    return row;
}

Counters Statistics::within(const TimePoint& point) const {
    const auto step = RepeatedStep::at(trace_, device_, point.repeated->time);
    if (!step) {
        return after(point.event);
    }
    const auto& repeats = device_.repeats;
    const size_t first = first_uncounted(step->row());
    Counters counters = after(repeats[first].event, first);
    std::map<EventNumber, StepCounters> known;
    const auto add = [&](const RepeatedStep& of, int64_t count) {
        const auto [entry, is_new] = known.try_emplace(of.like_begin());
        if (is_new) {
            entry->second = {after(of.like_begin()), between(of.like_begin(), of.like_end())};
        }
        counters = with_steps(counters, entry->second, count);
    };
    for (size_t row = first; row < step->row(); ++row) {
        add(*RepeatedStep::at(trace_, device_, repeats[row].end), repeats[row].count);
    }
    add(*step, step->steps_before());
    return with_steps(counters, {after(step->like_begin()), between(step->like_begin(), point.repeated->state)}, 1);
}

Counters Statistics::at(const TimePoint& point) const { return point.repeated ? within(point) : after(point.event); }

}  // namespace tidemark
