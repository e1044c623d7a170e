// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/history_start.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

namespace tidemark {

namespace {

class StartFinder {
public:
    StartFinder(const DeviceSnapshot& device, const AllocatorSettings& settings)
        : device_(device), settings_(settings) {}

    HistoryStart run() {
        find_blocks();
        match_final_blocks();
        order_blocks();
        find_segments();
        size_blocks();
        for (const auto& [address, piece] : pieces_) {
            result_.segments.push_back({address, piece.end - address, piece.owner, piece.pool_known, piece.stack});
        }
        return std::move(result_);
    }

private:
    struct Piece {
        uint64_t end = 0;
        SegmentOwner owner;
        bool pool_known = true;
        bool is_large_guessed = false;
        StackId stack = 0;
    };
    using Pieces = std::map<uint64_t, Piece>;

    void find_blocks();
    void match_final_blocks();
    void order_blocks();
    void find_segments();
    void undo_arrival(const SnapshotEvent& event);
    void undo_return(const SnapshotEvent& event);
    void decide_pool(const SnapshotEvent& event);
    void size_blocks();
    void size_unsure_blocks();
    Pieces::iterator piece_covering(uint64_t address);

    /// A block whose true size follows from the allocations after it.
    struct Unsure {
        uint64_t end;
        size_t block;
    };

    const DeviceSnapshot& device_;
    const AllocatorSettings& settings_;
    HistoryStart result_;
    /// The allocated or pending block at an address: its index in result_.blocks, or `allocated_in_history`.
    std::unordered_map<uint64_t, size_t> open_;
    static constexpr size_t allocated_in_history = SIZE_MAX;  ///< allocated by an event
    Pieces pieces_;
    std::map<uint64_t, Unsure> unsure_;  ///< by address
};

StartFinder::Pieces::iterator StartFinder::piece_covering(uint64_t address) {
    auto piece = pieces_.upper_bound(address);
    if (piece == pieces_.begin()) {
        return pieces_.end();
    }
    --piece;
    return address < piece->second.end ? piece : pieces_.end();
}

void StartFinder::find_blocks() {
    open_.reserve(1 << 14);
    for (const SnapshotEvent& event : device_.events) {
        const bool completes = event.action == Action::free_completed;
        if (event.action == Action::alloc) {
            open_[event.address] = allocated_in_history;
        } else if (completes || event.action == Action::free_requested) {
            const auto [slot, is_new] = open_.try_emplace(event.address, result_.blocks.size());
            if (is_new) {
                // Completed without a request: freed before the history began, while a stream still used it.
                result_.blocks.push_back({event.address, 0, event.size, completes, 0});
            }
            if (completes) {
                open_.erase(slot);
            }
        }
    }
}

void StartFinder::match_final_blocks() {
    for (const SnapshotSegment* segment : device_.final_segments) {
        for (const SnapshotBlock& block : segment->blocks) {
            if (block.state == BlockState::inactive) {
                continue;
            }
            const auto found = open_.find(block.address);
            if (found == open_.end()) {
                result_.blocks.push_back(
                    {block.address, block.size, block.requested, block.state == BlockState::pending_free, block.stack});
                continue;
            }
            if (found->second != allocated_in_history) {
                result_.blocks[found->second].size = block.size;
            }
            open_.erase(found);
        }
    }
    if (!device_.final_segments.empty()) {
        // According to the events these blocks are alive, but the final state lacks them: they were freed between
        // PyTorch's two copies.
        result_.inconsistent += static_cast<int64_t>(open_.size());
    }
    open_.clear();
}

void StartFinder::order_blocks() {
    auto& blocks = result_.blocks;
    std::stable_sort(blocks.begin(), blocks.end(),
                     [](const StartBlock& a, const StartBlock& b) { return a.address < b.address; });
    const auto duplicates = std::unique(
        blocks.begin(), blocks.end(), [](const StartBlock& a, const StartBlock& b) { return a.address == b.address; });
    result_.inconsistent += blocks.end() - duplicates;
    blocks.erase(duplicates, blocks.end());
}

void StartFinder::find_segments() {
    for (const SnapshotSegment* s : device_.final_segments) {
        pieces_[s->address] = {
            s->address + s->total_size, {s->stream, s->pool, s->is_large, s->is_expandable}, true, false, s->stack};
    }
    for (auto event = device_.events.rbegin(); event != device_.events.rend(); ++event) {
        switch (event->action) {
            case Action::segment_alloc:
            case Action::segment_map: undo_arrival(*event); break;
            case Action::segment_free:
            case Action::segment_unmap: undo_return(*event); break;
            case Action::alloc:
            case Action::free_requested: decide_pool(*event); break;
            default: break;
        }
    }
}

/// Cuts the memory out of all pieces: parts of it that were returned later are pieces of their own.
void StartFinder::undo_arrival(const SnapshotEvent& event) {
    const uint64_t end = event.address + event.size;
    auto piece = pieces_.upper_bound(event.address);
    if (piece != pieces_.begin() && std::prev(piece)->second.end > event.address) {
        --piece;
    }
    while (piece != pieces_.end() && piece->first < end) {
        const uint64_t start = piece->first;
        const Piece whole = piece->second;
        piece = pieces_.erase(piece);
        if (start < event.address) {
            pieces_[start] = whole;
            pieces_[start].end = event.address;
        }
        if (end < whole.end) {
            pieces_[end] = whole;
            return;
        }
    }
}

void StartFinder::undo_return(const SnapshotEvent& event) {
    if (piece_covering(event.address) != pieces_.end()) {
        return;
    }
    const bool is_expandable = event.action == Action::segment_unmap;
    Piece piece;
    piece.end = event.address + event.size;
    piece.owner = {event.stream, event.pool == pool_not_recorded ? 0 : event.pool, event.size > small_segment,
                   is_expandable};
    piece.pool_known = is_pool_known(device_, event);
    if (is_expandable) {
        piece.owner.is_large = event.size % settings_.large_segment == 0;
        piece.is_large_guessed = true;
    }
    pieces_[event.address] = piece;
}

/// Decides the pool by a request that the memory served. Several granules of the small pool can be as large as one
/// granule of the large pool.
void StartFinder::decide_pool(const SnapshotEvent& event) {
    const auto piece = piece_covering(event.address);
    if (piece != pieces_.end() && piece->second.is_large_guessed) {
        piece->second.owner.is_large = round_size(settings_, event.size) > small_size;
        piece->second.is_large_guessed = false;
    }
}

// Computes the sizes of blocks from before the history.
//
// If such a block is freed in the history, its request is known, but the block may be larger. In the small pool and in
// expandable memory, blocks are always split, so the rounded request is exact. In the large pool, a remainder of up to
// 1 MiB stays with the block. The size is certain if the next block is that close. Otherwise the first allocation from
// the free memory after the block starts exactly where the block ends.
void StartFinder::size_blocks() {
    auto& blocks = result_.blocks;
    for (size_t k = 0; k < blocks.size(); ++k) {
        StartBlock& block = blocks[k];
        if (block.size != 0) {
            continue;
        }
        const uint64_t rounded = round_size(settings_, block.requested);
        block.size = rounded;
        const auto piece = piece_covering(block.address);
        if (piece == pieces_.end()) {
            ++result_.inconsistent;
            continue;
        }
        const SegmentOwner& owner = piece->second.owner;
        uint64_t end = piece->second.end;
        if (k + 1 < blocks.size()) {
            end = std::min(end, blocks[k + 1].address);
        }
        const uint64_t room = end - block.address;
        if (room < rounded) {
            block.size = std::max(room, min_block_size);
            ++result_.inconsistent;
        } else if (room > rounded &&
                   !should_split(settings_, rounded, room - rounded, owner.is_large, owner.is_expandable)) {
            block.size = room;
        } else if (room > rounded && owner.is_large && !owner.is_expandable) {
            unsure_[block.address] = {end, k};
        }
    }
    size_unsure_blocks();
}

void StartFinder::size_unsure_blocks() {
    for (const SnapshotEvent& event : device_.events) {
        if (unsure_.empty()) {
            return;
        }
        const bool completes = event.action == Action::free_completed;
        if (event.action != Action::alloc && !completes) {
            continue;
        }
        auto open = unsure_.upper_bound(event.address);
        if (open == unsure_.begin()) {
            continue;
        }
        --open;
        StartBlock& block = result_.blocks[open->second.block];
        if (completes && event.address == open->first) {
            ++result_.guessed_blocks;
            result_.guessed_bytes += static_cast<int64_t>(small_size);
            unsure_.erase(open);
        } else if (!completes && event.address > open->first && event.address < open->second.end) {
            const uint64_t size = event.address - open->first;
            if (size >= block.size && size <= block.size + small_size) {
                block.size = size;
            } else {
                ++result_.guessed_blocks;
            }
            unsure_.erase(open);
        }
    }
}

}  // namespace

HistoryStart find_history_start(const DeviceSnapshot& device, const AllocatorSettings& settings) {
    return StartFinder(device, settings).run();
}

bool is_pool_known(const DeviceSnapshot& device, const SnapshotEvent& event) {
    return event.pool != pool_not_recorded || !device.has_private_pools;
}

}  // namespace tidemark
