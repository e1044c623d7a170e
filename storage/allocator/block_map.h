// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The allocator's segments and blocks, moved forward one event at a time, with every counter kept as it keeps them.
//
// The event folder derives block sizes with it; the replay of a trace knows them. Not thread-safe. All addresses and
// sizes in bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "storage/allocator/block_list.h"
#include "storage/allocator/counters.h"
#include "storage/allocator/rules.h"

namespace tidemark {

/// Stream, pool and kind of a segment. Adjacent expandable pieces join only when all of it is equal.
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

    /// Adds memory from the driver. Returns false, and changes nothing, if it overlaps another segment.
    bool add_segment(uint64_t address, uint64_t size, const SegmentOwner& owner);
    /// Removes memory. Returns false, and changes nothing, if it is not there or not free.
    bool remove_segment(uint64_t address, uint64_t size);
    /// Frees the blocks in this memory and removes it. Returns false if it is not there.
    bool evict(uint64_t address, uint64_t size);

    struct Placement {
        uint64_t size = 0;        ///< of the block
        bool consistent = false;  ///< false: the event contradicts the state, which was changed to fit
    };
    /// Allocates a block. Without `exact_size` its size follows from the rules. Returns size 0 if no segment is there.
    Placement allocate(uint64_t address, uint64_t requested, std::optional<uint64_t> exact_size = std::nullopt);
    /// The owner frees the block. Returns false if no allocated block starts there.
    bool request_free(uint64_t address);
    /// The block can serve again. Returns false if no pending block starts there.
    bool complete_free(uint64_t address);

    /// Sets up a block of a start state: like allocate, anywhere in free memory.
    bool place(uint64_t address, uint64_t requested, uint64_t size, bool pending);
    /// Makes the present state the starting point: peaks and totals count from here.
    void restart_counters();

    const Counters& counters() const { return counters_; }
    Counters& counters() { return counters_; }

    /// Returns the owner of the segment that contains the address.
    const SegmentOwner* owner_of(uint64_t address) const;
    /// Visits the blocks of every range by address: visit(range address, range size, owner, const
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
        uint64_t address = 0, size = 0, requested = 0;
        uint32_t prev = none, next = none;
        State state = State::free;
        bool is_large = false, is_expandable = false;
    };
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
    /// The block that covers the address, wherever it starts.
    uint32_t block_covering(uint64_t address) const;
    Ranges::const_iterator range_covering(uint64_t address) const;
    bool is_split(const Block& block) const { return block.prev != none || block.next != none; }
    /// Cuts a block in two; the new block is the upper part, in the same state, and is returned.
    uint32_t cut(uint32_t b, uint64_t size);
    /// Joins b with its successor; b stays.
    void join_next(uint32_t b);
    /// Makes b the last block of its range if none comes after it.
    void note_last(uint32_t b);
    bool free_at(uint32_t b) const { return b != none && blocks_[b].state == State::free; }
    uint32_t bend_to_fit(uint64_t address, uint64_t rounded);
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
    std::unordered_map<uint64_t, uint32_t> by_address_;
};

}  // namespace tidemark
