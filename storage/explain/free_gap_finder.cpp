// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/free_gap_finder.h"

namespace tidemark {
namespace {

uint64_t used(const Block& block) { return block.state == BlockState::inactive ? 0 : block.size; }

GapCandidate window_of(const SegmentState& segment, size_t first, size_t end, uint64_t size, uint64_t in_use) {
    GapCandidate window{segment.blocks[first].address, size, static_cast<int64_t>(in_use), {}};
    for (size_t b = first; b < end; ++b) {
        if (used(segment.blocks[b]) > 0) {
            window.blocks.push_back(segment.blocks[b].allocation);
        }
    }
    return window;
}

}  // namespace

GapCandidate cheapest_gap(const MemoryState& state, uint64_t bytes) {
    GapCandidate best;
    for (const SegmentState& segment : state.segments) {
        uint64_t size = 0, in_use = 0;
        size_t first = 0;
        for (size_t end = 0; end < segment.blocks.size(); ++end) {
            size += segment.blocks[end].size;
            in_use += used(segment.blocks[end]);
            while (size - segment.blocks[first].size >= bytes) {
                size -= segment.blocks[first].size;
                in_use -= used(segment.blocks[first]);
                ++first;
            }
            const bool is_better = best.size == 0 || static_cast<int64_t>(in_use) < best.in_use;
            if (size >= bytes && is_better) {
                best = window_of(segment, first, end + 1, size, in_use);
            }
        }
    }
    return best;
}

}  // namespace tidemark
