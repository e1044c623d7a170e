// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/block_ref.h"

#include <algorithm>

namespace tidemark::gui {

const Block& block_of(const MemoryState& state, BlockRef ref) { return state.segments[ref.segment].blocks[ref.block]; }

uint32_t block_at(const SegmentState& segment, uint64_t address) {
    const auto after = std::upper_bound(segment.blocks.begin(), segment.blocks.end(), address,
                                        [](uint64_t a, const Block& b) { return a < b.address; });
    return after == segment.blocks.begin() ? 0 : static_cast<uint32_t>(after - segment.blocks.begin() - 1);
}

std::optional<BlockRef> find_block_at(const MemoryState& state, uint64_t address) {
    for (uint32_t s = 0; s < state.segments.size(); ++s) {
        const SegmentState& segment = state.segments[s];
        if (address >= segment.address && address - segment.address < segment.size && !segment.blocks.empty()) {
            return BlockRef{s, block_at(segment, address)};
        }
    }
    return std::nullopt;
}

namespace {

/// Within a repeated step, a block may lie at another address than its allocation.
std::optional<BlockRef> find_moved_block(const MemoryState& state, AllocationIndex a) {
    for (uint32_t s = 0; s < state.segments.size(); ++s) {
        const auto& blocks = state.segments[s].blocks;
        const auto found =
            std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) { return block.allocation == a; });
        if (found != blocks.end()) {
            return BlockRef{s, static_cast<uint32_t>(found - blocks.begin())};
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<BlockRef> find_block(const MemoryState& state, const DeviceHistory& device, AllocationIndex a) {
    if (a == no_allocation || a >= device.allocations.size()) {
        return std::nullopt;
    }
    const auto ref = find_block_at(state, device.allocations.address[a]);
    if (ref && block_of(state, *ref).allocation == a) {
        return ref;
    }
    return state.point.repeated ? find_moved_block(state, a) : std::nullopt;
}

}  // namespace tidemark::gui
