// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/start_state.h"

#include <algorithm>

#include "storage/replay/alive_index.h"
#include "storage/replay/memory_state.h"

namespace tidemark {

namespace {

using StartBlock = CachingAllocator::StartBlock;
using State = HeapBlock::State;

State state_of(BlockState state) {
    return state == BlockState::allocated      ? State::allocated
           : state == BlockState::pending_free ? State::pending
                                               : State::free;
}

class Adoption {
public:
    Adoption(const DeviceHistory& device, const std::vector<uint32_t>& pools, CachingAllocator& allocator,
             std::vector<BlockIndex>& block_of)
        : device_(device), pools_(pools), allocator_(allocator), block_of_(block_of) {}

    void run() {
        std::vector<SegmentState> segments = memory_state(device_, AliveIndex(device_.allocations), 0).segments;
        std::vector<const SegmentState*> mapped;
        for (const SegmentState& segment : segments) {
            if (owner(segment).is_expandable) {
                mapped.push_back(&segment);
            } else {
                adopt(owner(segment), blocks_of(segment));
            }
        }
        std::stable_sort(mapped.begin(), mapped.end(), [&](const SegmentState* a, const SegmentState* b) {
            const SegmentOwner x = owner(*a), y = owner(*b);
            return std::tuple(x.pool, x.stream, x.is_large, a->address) <
                   std::tuple(y.pool, y.stream, y.is_large, b->address);
        });
        for (auto first = mapped.begin(); first != mapped.end();) {
            first = adopt_range(first, mapped.end());
        }
    }

private:
    using Mapped = std::vector<const SegmentState*>::iterator;

    SegmentOwner owner(const SegmentState& segment) const { return owner(segment.segment); }
    SegmentOwner owner(size_t piece) const {
        const Segment& s = device_.segments[piece];
        return {s.stream, pools_[piece], s.is_large, s.is_expandable};
    }

    static std::vector<StartBlock> blocks_of(const SegmentState& segment) {
        std::vector<StartBlock> blocks;
        for (const Block& block : segment.blocks) {
            blocks.push_back({block.address, block.size, state_of(block.state), block.allocation});
        }
        return blocks;
    }

    void adopt(const SegmentOwner& of, const std::vector<StartBlock>& blocks) {
        const std::vector<BlockIndex> adopted = allocator_.adopt(of, blocks);
        for (size_t i = 0; i < blocks.size(); ++i) {
            if (blocks[i].owner != no_allocation) {
                block_of_[blocks[i].owner] = adopted[i];
            }
        }
    }

    /// Returns the base address of a range. Mapped memory fills a range from its lowest address on, so the base is the
    /// lowest address that was ever mapped close to it.
    uint64_t base_of(const SegmentOwner& range_owner, uint64_t lowest) {
        const uint64_t size = allocator_.range_size(range_owner);
        uint64_t base = lowest;
        for (size_t piece = 0; piece < device_.segments.size(); ++piece) {
            const uint64_t address = device_.segments[piece].address;
            if (owner(piece) == range_owner && address < base && lowest - address < size) {
                base = address;
            }
        }
        return base;
    }

    /// Adds all memory in the range of `first`. Returns the next piece after the range.
    Mapped adopt_range(Mapped first, Mapped last) {
        const SegmentOwner range_owner = owner(**first);
        uint64_t at = base_of(range_owner, (*first)->address);
        const uint64_t end = at + allocator_.range_size(range_owner);
        std::vector<StartBlock> blocks;
        for (; first != last && owner(**first) == range_owner && (*first)->address + (*first)->size <= end; ++first) {
            if ((*first)->address > at) {
                blocks.push_back({at, (*first)->address - at, State::unmapped, no_allocation});
            }
            const auto inside = blocks_of(**first);
            blocks.insert(blocks.end(), inside.begin(), inside.end());
            at = (*first)->address + (*first)->size;
        }
        if (blocks.empty()) {  // larger than the device: only possible in forged files
            adopt(range_owner, blocks_of(**first));
            return first + 1;
        }
        if (at < end) {
            blocks.push_back({at, end - at, State::unmapped, no_allocation});
        }
        adopt(range_owner, blocks);
        return first;
    }

    const DeviceHistory& device_;
    const std::vector<uint32_t>& pools_;
    CachingAllocator& allocator_;
    std::vector<BlockIndex>& block_of_;
};

}  // namespace

void adopt_start_state(const DeviceHistory& device, const std::vector<uint32_t>& pools, CachingAllocator& allocator,
                       std::vector<BlockIndex>& block_of) {
    Adoption(device, pools, allocator, block_of).run();
}

uint64_t device_bytes(const DeviceHistory& device) {
    constexpr uint64_t more_than_any = uint64_t{1} << 40;
    return device.total_bytes > 0 ? std::min(static_cast<uint64_t>(device.total_bytes), more_than_any) : more_than_any;
}

}  // namespace tidemark
