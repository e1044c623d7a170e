// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/what_if.h"

#include <algorithm>
#include <bit>

#include "storage/replay/repeated_step.h"
#include "storage/whatif/asked_settings.h"
#include "storage/whatif/caching_allocator.h"
#include "storage/whatif/hidden_inputs.h"
#include "storage/whatif/simulated_driver.h"
#include "storage/whatif/start_state.h"

namespace tidemark {

namespace {

Status check_change(const DeviceHistory& device, const Change& change, bool has_limit) {
    if (change.roundup_divisions &&
        !std::all_of(change.roundup_divisions->begin(), change.roundup_divisions->end(),
                     [](uint64_t count) { return count == 0 || std::has_single_bit(count); })) {
        return usage_error("Divisions between powers of two have to be a power of two: 1, 2, 4, 8, ...");
    }
    if (change.max_split_size && *change.max_split_size <= AllocatorSettings().large_segment) {
        return usage_error("PyTorch takes a max_split_size above 20 MiB only.");
    }
    if (const auto threshold = change.garbage_collection_threshold) {
        if (!(*threshold >= 0 && *threshold < 1)) {
            return usage_error("The garbage collection threshold has to lie between 0 and 1.");
        }
        if (*threshold > 0 && !has_limit) {
            return usage_error("The garbage collector works towards a part of the memory limit, which is not known.");
        }
    }
    for (const auto& [allocation, at] : change.freed_at) {
        if (allocation >= device.allocations.size()) {
            return usage_error("There is no such allocation to free.");
        }
    }
    return {};
}

/// A change of the program's memory in a state, in addition to the recorded events.
struct Intervention {
    EventNumber state = 0;
    AllocationIndex freed = no_allocation;  ///< none: the cache is emptied instead
};

std::vector<Intervention> interventions(const DeviceHistory& device, const Change& change) {
    std::vector<Intervention> result;
    for (const auto& [allocation, state] : change.freed_at) {
        result.push_back({std::max(state, device.allocations.alloc_event[allocation] + 1), allocation});
    }
    for (const EventNumber state : change.empty_cache_at) {
        result.push_back({state, no_allocation});
    }
    // Frees come before the cache is emptied, in the given order.
    std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.state < b.state; });
    return result;
}

class WhatIf {
public:
    /// `curve`: null if only the outcome is of interest.
    WhatIf(const Trace& trace, const DeviceHistory& device, const Change& change, const HiddenInputs& inputs,
           const std::optional<Capacity>& capacity, ReservedCurve* curve)
        : trace_(trace),
          device_(device),
          change_(change),
          inputs_(inputs),
          curve_(curve),
          interventions_(interventions(device, change)),
          recorded_(AllocatorSettings::from_text(trace.settings)),
          moves_(recorded_moves(device, inputs_.pools)),
          driver_(moves_, capacity ? capacity->bytes : -1),
          allocator_(changed_settings(recorded_, change), driver_, device_bytes(device),
                     capacity ? static_cast<uint64_t>(capacity->bytes) : inputs_.memory_limit),
          block_of_(device.allocations.size(), no_block) {
        adopt_start_state(device, inputs_.pools, allocator_, block_of_);
        for (const Segment& s : device.segments) {
            if (s.alive_at(0)) {
                driver_.reserve_existing(s.address, s.size);
            }
        }
        driver_.reserved = allocator_.figures().reserved;
        note_peak(0);
    }

    Outcome run(Progress& progress) {
        const EventNumber count = device_.event_count();
        draw(0);
        for (EventNumber e = 0; e < count && !stopped_ && !progress.canceled; ++e) {
            if ((e & 0x3fff) == 0) {
                progress.report("replaying with other settings", static_cast<double>(e) / count);
            }
            intervene(e);
            repeat_steps(e);
            if (!stopped_) {
                apply(e, device_.event_ref[static_cast<size_t>(e)]);
            }
            outcome_.replayed = e + (stopped_ ? 0 : 1);
            draw(e + 1);
        }
        if (!stopped_) {
            intervene(count);
            repeat_steps(count);
        }
        if (curve_ != nullptr) {
            outcome_.gaps_at_end = allocator_.free_gaps();
        }
        const auto& figures = allocator_.figures();
        outcome_.retries = figures.retries;
        outcome_.end_reserved = figures.reserved;
        outcome_.driver_allocations = figures.driver_allocations;
        outcome_.driver_frees = figures.driver_frees;
        outcome_.cached_bytes_returned = figures.returned_memory;
        return outcome_;
    }

private:
    void draw(EventNumber state) {
        if (curve_ != nullptr) {
            curve_->add(state, allocator_.figures().reserved);
        }
    }

    /// Repeats the requests of steps that were not written because they repeat an earlier one, beside the memory of
    /// this state. What outlives such a step has rows of its own.
    void repeat_steps(EventNumber state) {
        for (; next_repeat_ < device_.repeats.size() && device_.repeats[next_repeat_].event <= state; ++next_repeat_) {
            const auto step = RepeatedStep::at(trace_, device_, device_.repeats[next_repeat_].end);
            if (step && step->row() == next_repeat_) {
                repeat(state, step->like_begin(), step->like_end());
            }
        }
    }

    void repeat(EventNumber state, EventNumber begin, EventNumber end) {
        const Allocations& a = device_.allocations;
        // What outlives a step is not exchanged here, so allocated bytes may be above those of any step.
        const int64_t peak_allocated = outcome_.peak_allocated;
        for (EventNumber e = begin; e < end && !stopped_; ++e) {
            const EventRef ref = device_.event_ref[static_cast<size_t>(e)];
            const Action action = ref.action();
            const bool is_block =
                action == Action::alloc || action == Action::free_requested || action == Action::free_completed;
            if (!is_block || a.alloc_event[ref.index()] < begin || a.free_completed[ref.index()] >= end) {
                continue;
            }
            if (action == Action::alloc) {
                allocate(state, ref.index());
            } else {
                apply(e, ref);
            }
        }
        outcome_.peak_allocated = peak_allocated;
    }

    void intervene(EventNumber state) {
        for (; next_intervention_ < interventions_.size() && interventions_[next_intervention_].state <= state;
             ++next_intervention_) {
            const AllocationIndex freed = interventions_[next_intervention_].freed;
            if (freed == no_allocation) {
                allocator_.release_cached(allocator_.freeable_pools());
            } else {
                request_free(freed);
                complete_free(freed);
            }
        }
    }

    void apply(EventNumber e, EventRef ref) {
        switch (ref.action()) {
            case Action::alloc: allocate(e, ref.index()); break;
            case Action::free_requested: request_free(ref.index()); break;
            case Action::free_completed: complete_free(ref.index()); break;
            case Action::segment_alloc:
            case Action::segment_map:
            case Action::segment_free:
            case Action::segment_unmap: move(e); break;
            case Action::oom: retry_failed_request(e, device_.others[ref.index()]); break;
            default: break;
        }
    }

    /// Replays the program's own calls. The model repeats the allocator's own actions by itself.
    void move(EventNumber e) {
        if (next_move_ >= moves_.size() || moves_[next_move_].event != e) {
            return;
        }
        const DriverMove& move = moves_[next_move_];
        if (move.arrives) {
            driver_.set_recorded(&move);
            follow_switch(move.owner.is_expandable);
            ++next_move_;
            return;
        }
        const ReturnRun run = return_run(device_, moves_, next_move_, !recorded_.retries_show());
        const std::vector<uint32_t> pools = pools_of(moves_, run);
        std::for_each(pools.begin(), pools.end(), [&](uint32_t pool) { allocator_.make_freeable(pool); });
        if (!run.by_request && !change_.ignore_empty_cache) {
            allocator_.release_cached(pools);
        }
        next_move_ = run.end;
    }

    void follow_switch(bool expandable) {
        if (!change_.expandable_segments) {
            allocator_.set_expandable(expandable);
        }
    }

    void allocate(EventNumber e, AllocationIndex i) {
        const uint32_t s = device_.allocations.segment[i];
        Request request{device_.allocations.requested[i], 0, 0, i, false};
        if (s < device_.segments.size()) {
            const Segment& segment = device_.segments[s];
            request.pool = inputs_.pools[s];
            request.stream = segment.stream;
            request.captured = request.pool != 0 && segment.pool_known;
            if (segment.is_expandable) {
                follow_switch(true);
            }
        }
        last_stream_ = request.stream;
        block_of_[i] = request_memory(e, request);
        stopped_ = block_of_[i] == no_block;
    }

    BlockIndex request_memory(EventNumber e, const Request& request) {
        const BlockIndex b = allocator_.allocate(request);
        driver_.set_recorded(nullptr);
        if (b == no_block && outcome_.fits) {
            outcome_.fits = false;
            outcome_.fails_at = e;
            outcome_.failed_bytes = static_cast<int64_t>(request.bytes);
        }
        note_peak(e + 1);
        return b;
    }

    /// Repeats a request that failed. The program continued without the memory, so it is freed at once.
    void retry_failed_request(EventNumber e, const OtherEvent& oom) {
        const BlockIndex b = request_memory(e, {oom.size, 0, last_stream_, no_allocation, false});
        if (b != no_block) {
            allocator_.request_free(b);
            allocator_.complete_free(b);
        } else {
            stopped_ = curve_ == nullptr;
        }
    }

    void request_free(AllocationIndex i) {
        if (allocator_.is_allocated(block_of_[i], i)) {
            allocator_.request_free(block_of_[i]);
        }
    }

    void complete_free(AllocationIndex i) {
        if (allocator_.is_pending(block_of_[i], i)) {
            allocator_.complete_free(block_of_[i]);
        }
    }

    void note_peak(EventNumber state) {
        const auto& figures = allocator_.figures();
        if (figures.reserved > outcome_.peak_reserved) {
            outcome_.peak_reserved = figures.reserved;
            outcome_.peak_reserved_event = state;
            if (curve_ != nullptr) {
                outcome_.gaps_at_peak = allocator_.free_gaps();
            }
        }
        outcome_.peak_allocated = std::max(outcome_.peak_allocated, figures.allocated);
    }

    const Trace& trace_;
    const DeviceHistory& device_;
    const Change& change_;
    const HiddenInputs& inputs_;
    ReservedCurve* const curve_;
    const std::vector<Intervention> interventions_;
    const AllocatorSettings recorded_;
    const std::vector<DriverMove> moves_;
    SimulatedDriver driver_;
    CachingAllocator allocator_;
    std::vector<BlockIndex> block_of_;
    size_t next_move_ = 0, next_intervention_ = 0, next_repeat_ = 0;
    uint32_t last_stream_ = 0;
    bool stopped_ = false;
    Outcome outcome_;
};

}  // namespace

ReservedCurve::ReservedCurve(EventNumber events, int64_t most_columns)
    : states_per_column_(static_cast<EventNumber>(events / most_columns + 1)) {
    columns_.reserve(static_cast<size_t>(events / states_per_column_ + 1));
}

void ReservedCurve::add(EventNumber state, int64_t bytes) {
    const auto column = static_cast<size_t>(state / states_per_column_);
    if (column >= columns_.size()) {
        columns_.resize(column + 1);
    }
    columns_[column].lowest = std::min(columns_[column].lowest, bytes);
    columns_[column].highest = std::max(columns_[column].highest, bytes);
}

Result<Outcome> what_if(const Trace& trace, const DeviceHistory& device, const Change& change,
                        std::optional<Capacity> capacity, Progress& progress) {
    TIDEMARK_TRY(check_change(device, change, capacity.has_value()));
    const HiddenInputs inputs =
        has_hidden_inputs(trace, device) ? infer_inputs(trace, device, progress).inputs : recorded_inputs(device);
    const Outcome outcome = WhatIf(trace, device, change, inputs, capacity, nullptr).run(progress);
    if (progress.canceled) {
        return canceled_error();
    }
    return outcome;
}

Result<Outcome> what_if(const Trace& trace, const DeviceHistory& device, const Change& change,
                        std::optional<Capacity> capacity, const HiddenInputs& inputs, ReservedCurve& curve,
                        Progress& progress) {
    TIDEMARK_TRY(check_change(device, change, capacity.has_value() || inputs.memory_limit != 0));
    const Outcome outcome = WhatIf(trace, device, change, inputs, capacity, &curve).run(progress);
    if (progress.canceled) {
        return canceled_error();
    }
    return outcome;
}

}  // namespace tidemark
