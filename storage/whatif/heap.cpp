// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/heap.h"

namespace tidemark {

uint32_t Heap::arena_of(uint32_t pool, uint32_t stream, bool is_large) {
    for (uint32_t i = 0; i < arena_count(); ++i) {
        const SegmentOwner& owner = arenas_[i].owner;
        if (owner.pool == pool && owner.stream == stream && owner.is_large == is_large) {
            return i;
        }
    }
    arenas_.push_back({{stream, pool, is_large, false}, std::pmr::set<FreeBlock>(memory_.get()), {}});
    return arena_count() - 1;
}

void Heap::merge(BlockIndex b) {
    const HeapBlock::State state = blocks_[b].state;
    if (const BlockIndex n = blocks_[b].next; n != no_block && blocks_[n].state == state) {
        unfile(n);
        blocks_.absorb_next(b);
    }
    const BlockIndex p = blocks_[b].prev;
    if (p == no_block || blocks_[p].state != state) {
        return;
    }
    // b replaces p, which is dropped.
    unfile(p);
    blocks_[b].address = blocks_[p].address;
    blocks_[b].size += blocks_[p].size;
    blocks_[b].prev = blocks_[p].prev;
    if (blocks_[p].prev != no_block) {
        blocks_[blocks_[p].prev].next = b;
    }
    blocks_.drop(p);
}

void Heap::file(BlockIndex b) {
    HeapBlock& block = blocks_[b];
    if (block.state == HeapBlock::State::unmapped) {
        arenas_[block.arena].unmapped.emplace(block.address, b);
        return;
    }
    block.filed_at = searches;
    block.owner = no_allocation;
    arenas_[block.arena].free.insert({block.size, block.address, b});
}

void Heap::unfile(BlockIndex b) {
    const HeapBlock& block = blocks_[b];
    if (block.state == HeapBlock::State::unmapped) {
        arenas_[block.arena].unmapped.erase(block.address);
    } else {
        arenas_[block.arena].free.erase({block.size, block.address, b});
    }
}

}  // namespace tidemark
