// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/replay/block_places.h"

#include <algorithm>
#include <map>

#include "storage/base/sort_by_key.h"

namespace tidemark {

namespace {

PlacedBlock block_of(const Allocations& all, const ActiveAllocation& active) {
    const AllocationIndex a = active.allocation;
    return {all.address[a], all.block_size[a], all.requested[a], a, active.is_pending(all)};
}

/// The free memory of the segments, by address.
class FreeGaps {
public:
    FreeGaps(const DeviceHistory& device, std::span<const SegmentRange> segments) : device_(device) {
        for (const SegmentRange& range : segments) {
            gaps_.emplace(range.address, Gap{range.size, range.segment});
        }
    }

    /// Takes a range. Returns false if it is not free.
    bool take(uint64_t address, uint64_t size) {
        const auto above = gaps_.upper_bound(address);
        if (above == gaps_.begin()) {
            return false;
        }
        const auto found = std::prev(above);
        const uint64_t begin = found->first, end = begin + found->second.size;
        if (size > end - begin || address > end - size) {
            return false;
        }
        const uint32_t segment = found->second.segment;
        gaps_.erase(found);
        add(begin, address, segment);
        add(address + size, end, segment);
        return true;
    }

    /// Takes the smallest gap that is large enough, or the largest one: of the segment's pool and stream if there is
    /// any. Returns the block, which may be smaller, or one of size 0 if nothing is free.
    PlacedBlock take_any(uint64_t size, uint32_t segment) {
        auto best = gaps_.end();
        for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
            if (best == gaps_.end() || is_better(gap->second, best->second, size, segment)) {
                best = gap;
            }
        }
        PlacedBlock block;
        if (best != gaps_.end()) {
            block.address = best->first;
            block.size = std::min(size, best->second.size);
            take(block.address, block.size);
        }
        return block;
    }

private:
    struct Gap {
        uint64_t size;
        uint32_t segment;
    };

    void add(uint64_t begin, uint64_t end, uint32_t segment) {
        if (begin < end) {
            gaps_.emplace(begin, Gap{end - begin, segment});
        }
    }

    bool is_alike(uint32_t segment, uint32_t other) const {
        if (segment == no_segment) {
            return false;
        }
        const Segment &a = device_.segments[segment], &b = device_.segments[other];
        return a.pool == b.pool && a.stream == b.stream && a.is_large == b.is_large;
    }

    bool is_better(const Gap& gap, const Gap& than, uint64_t size, uint32_t segment) const {
        const bool is_here = is_alike(segment, gap.segment), is_there = is_alike(segment, than.segment);
        const bool fits = gap.size >= size, other_fits = than.size >= size;
        return is_here != is_there  ? is_here
               : fits != other_fits ? fits
                                    : (fits ? gap.size < than.size : gap.size > than.size);
    }

    const DeviceHistory& device_;
    std::map<uint64_t, Gap> gaps_;
};

/// Places the blocks of a repeated step around those that live longer.
class BlockPlacer {
public:
    BlockPlacer(const DeviceHistory& device, std::span<const SegmentRange> segments)
        : all_(device.allocations), gaps_(device, segments) {}

    std::vector<PlacedBlock> place(std::span<const ActiveAllocation> active, const TimePoint& point) {
        std::vector<PlacedBlock> moved;
        for (const bool is_of_step : {false, true}) {
            for (const ActiveAllocation& one : active) {
                if ((one.state != point.event) == is_of_step) {
                    const PlacedBlock block = block_of(all_, one);
                    const bool fits = gaps_.take(block.address, block.size);
                    (fits || !is_of_step ? placed_ : moved).push_back(block);
                }
            }
        }
        std::stable_sort(moved.begin(), moved.end(),
                         [](const PlacedBlock& a, const PlacedBlock& b) { return a.size > b.size; });
        std::for_each(moved.begin(), moved.end(), [&](const PlacedBlock& block) { move(block); });
        return std::move(placed_);
    }

private:
    void move(PlacedBlock block) {
        while (block.size > 0) {
            PlacedBlock part = gaps_.take_any(block.size, all_.segment[block.allocation]);
            if (part.size == 0) {
                return;
            }
            part.allocation = block.allocation;
            part.is_pending = block.is_pending;
            part.requested = std::min(block.requested, part.size);
            block.requested -= part.requested;
            block.size -= part.size;
            placed_.push_back(part);
        }
    }

    const Allocations& all_;
    FreeGaps gaps_;
    std::vector<PlacedBlock> placed_;
};

}  // namespace

std::vector<PlacedBlock> placed_blocks(const DeviceHistory& device, const AliveIndex& live, const TimePoint& point,
                                       std::span<const SegmentRange> segments) {
    const std::vector<ActiveAllocation> active = active_allocations(device, live, point);
    std::vector<PlacedBlock> blocks;
    if (point.repeated) {
        blocks = BlockPlacer(device, segments).place(active, point);
    } else {
        blocks.reserve(active.size());
        std::transform(active.begin(), active.end(), std::back_inserter(blocks),
                       [&](const ActiveAllocation& one) { return block_of(device.allocations, one); });
    }
    sort_by_key(blocks, [](const PlacedBlock& block) { return block.address; });
    return blocks;
}

}  // namespace tidemark
