// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The allocator's segments and blocks, updated one event at a time, with all counters computed as the allocator does.
//
// The event folder derives block sizes with it; the replay of a trace passes recorded sizes. Not thread-safe. All
// addresses and sizes are in bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "storage/allocator/address_index.h"
#include "storage/allocator/block_list.h"
#include "storage/allocator/counters.h"
#include "storage/allocator/rules.h"

namespace tidemark {

/// Stream, pool and kind of a segment. Adjacent expandable pieces merge only if all three are equal.
struct SegmentOwner {
    uint32_t stream = 0;
    uint32_t pool = 0;
    bool is_large = false;
    bool is_expandable = false;
    bool operator==(const SegmentOwner&) const = default;
};

class BlockMap {
public:
    enum class State : uint8_t { free, allocated, pending };

    struct BlockView {
        uint64_t address, size, requested;
        State state;
    };

    explicit BlockMap(const AllocatorSettings& settings) : settings_(settings) {}

    /// Adds memory from the driver. Returns false and changes nothing if it overlaps another segment.
    bool add_segment(uint64_t address, uint64_t size, const SegmentOwner& owner);
    /// Removes memory. Returns false and changes nothing if it does not exist or is not free.
    bool remove_segment(uint64_t address, uint64_t size);
    /// Frees the blocks in this memory and removes it. Returns false if it does not exist.
    bool evict(uint64_t address, uint64_t size);

    struct Placement {
        uint64_t size = 0;        ///< of the block
        bool consistent = false;  ///< false: the event contradicted the state, which was changed to fit
    };
    /// Allocates a block. Without `exact_size`, the size follows from the allocator's rules. Returns size 0 if no
    /// segment contains the address.
    Placement allocate(uint64_t address, uint64_t requested, std::optional<uint64_t> exact_size = std::nullopt);
    /// Handles a free by the owner. Returns false if no allocated block starts at the address.
    bool request_free(uint64_t address);
    /// Makes a pending block free. Returns false if no pending block starts at the address.
    bool complete_free(uint64_t address);

    /// Adds a block of a start state. Works like allocate(), at any address in free memory.
    bool place(uint64_t address, uint64_t requested, uint64_t size, bool pending);
    /// Makes the current state the starting point of peaks and totals.
    void restart_counters();

    const Counters& counters() const { return counters_; }
    Counters& counters() { return counters_; }

    /// Returns the owner of the segment that contains the address.
    const SegmentOwner* owner_of(uint64_t address) const;
    /// Visits the blocks of every range, by address: visit(range address, range size, owner, const
    /// std::vector<BlockView>&).
    template <class Visit>
    void for_each_range(Visit&& visit) const {
        std::vector<BlockView> blocks;
        for (const auto& [address, range] : ranges_) {
            blocks.clear();
            for (uint32_t b = range.first; b != none; b = blocks_[b].next) {
                blocks.push_back({blocks_[b].address, blocks_[b].size, blocks_[b].requested, blocks_[b].state});
            }
            visit(address, range.end - address, range.owner, blocks);
        }
    }

private:
    static constexpr uint32_t none = no_block;

    struct Block {
        uint64_t address = 0, size = 0;
        uint64_t requested : 60 = 0;
        State state : 2 = State::free;
        bool is_large : 1 = false;
        bool is_expandable : 1 = false;
        uint32_t prev = none, next = none;
    };
    static_assert(sizeof(Block) == 32, "there may be millions");
    /// Contiguous memory of one owner: one segment, or adjacent expandable pieces.
    struct Range {
        uint64_t end = 0;
        uint32_t first = none, last = none;
        SegmentOwner owner;
    };

    using Ranges = std::map<uint64_t, Range>;

    uint32_t new_block(const Block& block);
    void drop_block(uint32_t b);
    uint32_t block_at(uint64_t address) const;
    /// Returns the block that contains the address.
    uint32_t block_covering(uint64_t address) const;
    Ranges::const_iterator range_covering(uint64_t address) const;
    bool is_split(const Block& block) const { return block.prev != none || block.next != none; }
    /// Splits a block. Returns the new upper block, which has the same state.
    uint32_t cut(uint32_t b, uint64_t size);
    /// Merges the next block into b.
    void join_next(uint32_t b);
    /// Marks b as the last block of its range if no block follows it.
    void note_last(uint32_t b);
    bool free_at(uint32_t b) const { return b != none && blocks_[b].state == State::free; }
    uint32_t make_room_at(uint64_t address, uint64_t rounded);
    void take(uint32_t b, uint64_t size, uint64_t requested);
    void release(uint32_t b);
    bool remove_mapped(Ranges::const_iterator range, uint64_t address, uint64_t size);

    struct Inactive {
        int64_t count = 0, bytes = 0;
    };
    Inactive inactive_in(const Range& range) const;
    Inactive counted_inactive(bool is_large) const;
    void change(Metric metric, bool is_large, int64_t by);

    AllocatorSettings settings_;
    Counters counters_;
    Ranges ranges_;
    BlockList<Block> blocks_;
    AddressIndex by_address_;
};

}  // namespace tidemark
