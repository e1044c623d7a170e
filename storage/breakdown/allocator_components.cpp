// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/breakdown/allocator_components.h"

#include <algorithm>
#include <array>

#include "storage/breakdown/segment_walk.h"

namespace tidemark {

namespace {

constexpr EventNumber states_per_checkpoint = 64;

void add_allocated(BlockSums& sums, const Allocations& all, AllocationIndex a, int64_t sign) {
    sums.requested += sign * static_cast<int64_t>(all.requested[a]);
    sums.rounding += sign * static_cast<int64_t>(all.block_size[a] - all.requested[a]);
    sums.blocks += sign;
}

void add_pending(BlockSums& sums, const Allocations& all, AllocationIndex a, int64_t sign) {
    sums.pending += sign * static_cast<int64_t>(all.block_size[a]);
    sums.pending_blocks += sign;
}

BlockSums sums_at_start(const Allocations& all) {
    BlockSums sums;
    for (AllocationIndex a = 0; a < all.size() && all.alloc_event[a] == before_history; ++a) {
        if (all.free_event[a] != before_history) {
            add_allocated(sums, all, a, 1);
        } else if (all.free_completed[a] != before_history) {
            add_pending(sums, all, a, 1);
        }
    }
    return sums;
}

/// Updates the sums by one event.
void apply(BlockSums& sums, const DeviceHistory& device, EventNumber event) {
    const EventRef ref = device.event_ref[static_cast<size_t>(event)];
    const Allocations& all = device.allocations;
    const AllocationIndex a = ref.index();
    switch (ref.action()) {
        case Action::alloc: add_allocated(sums, all, a, 1); break;
        case Action::free_requested:
            add_allocated(sums, all, a, -1);
            if (all.free_completed[a] != event) {
                add_pending(sums, all, a, 1);
            }
            break;
        case Action::free_completed:
            all.free_event[a] == event ? add_allocated(sums, all, a, -1) : add_pending(sums, all, a, -1);
            break;
        default: break;
    }
}

constexpr std::array block_sums{&BlockSums::requested, &BlockSums::rounding, &BlockSums::blocks, &BlockSums::pending,
                                &BlockSums::pending_blocks};
constexpr std::array segment_sums{&SegmentSums::reserved,         &SegmentSums::cached,
                                  &SegmentSums::cached_segments,  &SegmentSums::private_free,
                                  &SegmentSums::private_segments, &SegmentSums::partial_segments};

/// Changes the sums as they changed between two states.
template <class Sums, size_t count>
void add_change(Sums& sums, const Sums& from, const Sums& to, const std::array<int64_t Sums::*, count>& members) {
    for (const auto member : members) {
        sums.*member = std::max<int64_t>(sums.*member + to.*member - from.*member, 0);
    }
}

}  // namespace

AllocatorComponents::AllocatorComponents(const Trace& trace, const DeviceHistory& device) : device_(device) {
    BlockSums sums = sums_at_start(device.allocations);
    SegmentWalk walk(trace, device);
    for (EventNumber n = 0; n <= device.event_count(); ++n) {
        if (n > 0) {
            apply(sums, device, n - 1);
            walk.apply(n - 1);
        }
        if (n % states_per_checkpoint == 0) {
            checkpoints_.push_back(sums);
        }
        segments_.append(walk.sums());
    }
}

BlockSums AllocatorComponents::blocks_after(EventNumber n) const {
    const EventNumber checkpoint = n / states_per_checkpoint;
    BlockSums sums = checkpoints_[static_cast<size_t>(checkpoint)];
    for (EventNumber e = checkpoint * states_per_checkpoint; e < n; ++e) {
        apply(sums, device_, e);
    }
    return sums;
}

BlockSums AllocatorComponents::blocks(const TimePoint& point) const {
    BlockSums sums = blocks_after(point.event);
    if (point.repeated) {
        add_change(sums, blocks_after(point.repeated->begin), blocks_after(point.repeated->state), block_sums);
    }
    return sums;
}

/// The segments that have blocks may be others than in the step that is repeated; the memory of all of them is the
/// same.
SegmentSums AllocatorComponents::segments(const TimePoint& point) const {
    SegmentSums sums = segments_.at(point.event);
    if (point.repeated) {
        add_change(sums, segments_.at(point.repeated->begin), segments_.at(point.repeated->state), segment_sums);
    }
    return sums;
}

}  // namespace tidemark
