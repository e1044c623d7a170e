// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/model_replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/base/units.h"
#include "storage/whatif/caching_allocator.h"
#include "storage/whatif/recorded_driver.h"
#include "storage/whatif/start_state.h"

namespace tidemark {

namespace {

std::string bytes(uint64_t size) { return format_bytes(static_cast<int64_t>(size)); }

class Replay {
public:
    Replay(const Trace& trace, const DeviceHistory& device, const HiddenInputs& inputs)
        : device_(device),
          inputs_(inputs),
          settings_(AllocatorSettings::from_text(trace.settings)),
          moves_(recorded_moves(device, inputs.pools)),
          driver_(moves_),
          allocator_(settings_, driver_, device_bytes(device), inputs.memory_limit),
          block_of_(device.allocations.size(), no_block) {
        adopt_start_state(device, inputs.pools, allocator_, block_of_);
    }

    ReplayResult run(Progress& progress) {
        const EventNumber count = device_.event_count();
        for (event_ = 0; event_ < count && !difference() && !progress.canceled; ++event_) {
            if ((event_ & 0x3fff) == 0) {
                progress.report("checking the allocator model", static_cast<double>(event_) / count);
            }
            apply(device_.event_ref[static_cast<size_t>(event_)]);
        }
        ModelCheck& check = result_.check;
        check.exact = !difference() && !progress.canceled;
        check.events = event_ - (difference() ? 1 : 0);
        check.differs_at = check.exact ? 0 : static_cast<EventNumber>(check.events);
        check.difference = difference();
        check.inferred_pools = inputs_.inferred_pools;
        find_kept_segments(static_cast<EventNumber>(check.events));
        return result_;
    }

private:
    const std::optional<Sentence>& difference() const { return difference_ ? difference_ : driver_.difference(); }

    void apply(EventRef ref) {
        switch (ref.action()) {
            case Action::alloc: allocate(ref.index()); break;
            case Action::free_requested: request_free(ref.index()); break;
            case Action::free_completed: complete_free(ref.index()); break;
            case Action::segment_alloc:
            case Action::segment_map:
            case Action::segment_free:
            case Action::segment_unmap: move(); break;
            case Action::oom: replay_out_of_memory(device_.others[ref.index()]); break;
            default: break;
        }
    }

    void move() {
        if (next_move_ >= moves_.size() || moves_[next_move_].event != event_) {
            return;  // belongs to a run that was processed as a whole
        }
        if (moves_[next_move_].arrives) {
            driver_.expect(next_move_++);
            return;
        }
        const ReturnRun run = return_run(device_, moves_, next_move_, !settings_.retries_show());
        const std::vector<uint32_t> pools = pools_of(moves_, run);
        std::for_each(pools.begin(), pools.end(), [&](uint32_t pool) { allocator_.make_freeable(pool); });
        for (; next_move_ < run.end; ++next_move_) {
            driver_.expect(next_move_);
        }
        if (!run.by_request) {
            allocator_.release_cached(pools);
            driver_.finish();
        }
    }

    void allocate(AllocationIndex i) {
        const Allocations& a = device_.allocations;
        if (a.segment[i] >= device_.segments.size()) {
            difference_ = Sentence("the allocation lies in no known segment");
            return;
        }
        const Segment& segment = device_.segments[a.segment[i]];
        follow_switch(segment.is_expandable);
        last_stream_ = segment.stream;
        const uint32_t pool = inputs_.pools[a.segment[i]];
        const bool expected_arrival = driver_.expects_arrival();
        const BlockIndex b = request_memory({a.requested[i], pool, segment.stream, i, pool != 0 && segment.pool_known});
        block_of_[i] = b;
        if (b == no_block) {
            difference_ = Sentence("a request of {requested} succeeded; the model has no memory for it",
                                   with("requested", bytes(a.requested[i])));
        } else if (const HeapBlock& block = allocator_.block(b);
                   block.address != a.address[i] || block.size != a.block_size[i]) {
            difference_ = Sentence("a request of {requested} returned {recorded}; the model returns {modeled}",
                                   with("requested", bytes(a.requested[i])),
                                   with("recorded", describe_memory(a.address[i], a.block_size[i])),
                                   with("modeled", describe_memory(block.address, block.size)));
        }
        if (expected_arrival && difference()) {
            result_.unneeded_arrival_at = segment.alloc_event;
        }
    }

    /// Requests memory from the model, and compares the garbage collector's part in it with the recording.
    BlockIndex request_memory(const Request& request) {
        const int64_t collections = allocator_.figures().collections;
        const bool expected_return = driver_.expects_return();
        const BlockIndex b = allocator_.allocate(request);
        const bool collected = allocator_.figures().collections != collections;
        const bool still_expects_return = driver_.expects_return();
        driver_.finish();
        if (driver_.difference()) {
            result_.limit_is_lower = expected_return && (!collected || still_expects_return);
            result_.limit_is_higher = collected && !result_.limit_is_lower;
        }
        return b;
    }

    /// Follows the program when it turns expandable segments on or off, which new memory shows.
    void follow_switch(bool in_expandable) {
        if (driver_.expects_arrival()) {
            allocator_.set_expandable(driver_.expects_expandable());
        } else if (in_expandable) {
            allocator_.set_expandable(true);
        }
    }

    /// Replays an OOM. The stream of the request is not recorded and has little effect, so the last stream is used.
    void replay_out_of_memory(const OtherEvent& oom) {
        if (request_memory({oom.size, 0, last_stream_, no_allocation, false}) != no_block) {
            difference_ = Sentence("a request of {requested} failed; it succeeds in the model",
                                   with("requested", bytes(oom.size)));
        }
    }

    void find_kept_segments(EventNumber event) {
        if (!settings_.retries_show()) {
            return;  // the memory that stayed may have been just sufficient
        }
        const auto& stayed = driver_.stayed();
        for (uint32_t i = 0; i < device_.segments.size(); ++i) {
            const Segment& s = device_.segments[i];
            if (s.alive_at(event) && !s.is_expandable &&
                std::find(stayed.begin(), stayed.end(), s.address) != stayed.end()) {
                result_.kept_segments.push_back(i);
            }
        }
    }

    void request_free(AllocationIndex i) {
        if (allocator_.is_allocated(block_of_[i], i)) {
            allocator_.request_free(block_of_[i]);
        } else {
            difference_ = Sentence("memory is freed that is not allocated in the model");
        }
    }

    void complete_free(AllocationIndex i) {
        if (allocator_.is_pending(block_of_[i], i)) {
            allocator_.complete_free(block_of_[i]);
        }
    }

    const DeviceHistory& device_;
    const HiddenInputs& inputs_;
    const AllocatorSettings settings_;
    const std::vector<DriverMove> moves_;
    RecordedDriver driver_;
    CachingAllocator allocator_;
    std::vector<BlockIndex> block_of_;
    EventNumber event_ = 0;
    size_t next_move_ = 0;
    uint32_t last_stream_ = 0;
    std::optional<Sentence> difference_;
    ReplayResult result_;
};

}  // namespace

ReplayResult replay_in_model(const Trace& trace, const DeviceHistory& device, const HiddenInputs& inputs,
                             Progress& progress) {
    return Replay(trace, device, inputs).run(progress);
}

}  // namespace tidemark
