// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Blocks of a memory state by their place in it.
#pragma once

#include <optional>

#include "storage/replay/memory_state.h"

namespace tidemark::gui {

/// A block in use, or a free gap, of a segment of a state.
struct BlockRef {
    uint32_t segment = 0;  ///< index into MemoryState::segments
    uint32_t block = 0;
    bool operator==(const BlockRef&) const = default;
};

const Block& block_of(const MemoryState& state, BlockRef ref);
/// Returns the position of the block of a segment that contains an address.
uint32_t block_at(const SegmentState& segment, uint64_t address);
/// Returns the block, in use or free, that contains an address.
std::optional<BlockRef> find_block_at(const MemoryState& state, uint64_t address);
/// Returns the block of an allocation in a state; nothing if the allocation has none there.
std::optional<BlockRef> find_block(const MemoryState& state, const DeviceHistory& device, AllocationIndex a);

}  // namespace tidemark::gui
