// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Blocks linked by address within their segment, addressed by index. Indexes of dropped blocks are reused.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace tidemark {

using BlockIndex = uint32_t;
constexpr BlockIndex no_block = UINT32_MAX;

/// Requires that Block has address and size in bytes (size 0 marks an unused index), and prev and next (BlockIndex).
template <class Block>
class BlockList {
public:
    Block& operator[](BlockIndex b) { return blocks_[b]; }
    const Block& operator[](BlockIndex b) const { return blocks_[b]; }

    BlockIndex add(const Block& block) {
        if (unused_.empty()) {
            blocks_.push_back(block);
            return static_cast<BlockIndex>(blocks_.size() - 1);
        }
        const BlockIndex b = unused_.back();
        unused_.pop_back();
        blocks_[b] = block;
        return b;
    }

    /// Drops a block. Its neighbors are not changed.
    void drop(BlockIndex b) {
        blocks_[b].size = 0;
        unused_.push_back(b);
    }

    /// Shortens b to `size` bytes. Returns the new block with the remaining bytes, which follows b and has the same
    /// contents.
    BlockIndex cut(BlockIndex b, uint64_t size) {
        Block upper = blocks_[b];
        upper.address += size;
        upper.size -= size;
        upper.prev = b;
        const BlockIndex u = add(upper);
        blocks_[b].size = size;
        blocks_[b].next = u;
        if (upper.next != no_block) {
            blocks_[upper.next].prev = u;
        }
        return u;
    }

    /// Merges the next block into b and drops it.
    void absorb_next(BlockIndex b) {
        const BlockIndex n = blocks_[b].next;
        blocks_[b].size += blocks_[n].size;
        blocks_[b].next = blocks_[n].next;
        if (blocks_[n].next != no_block) {
            blocks_[blocks_[n].next].prev = b;
        }
        drop(n);
    }

    /// Visits every block: visit(BlockIndex).
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (BlockIndex b = 0; b < blocks_.size(); ++b) {
            if (blocks_[b].size != 0) {
                visit(b);
            }
        }
    }

private:
    std::deque<Block> blocks_;  ///< a vector would need twice the memory whenever it grows
    std::vector<BlockIndex> unused_;
};

}  // namespace tidemark
