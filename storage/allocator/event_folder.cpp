// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/allocator/event_folder.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace tidemark {

namespace {

/// A size with more pieces than any device can hold is corrupt.
constexpr uint64_t most_pieces = 1 << 18;

/// Returns the size of the units in which expandable memory can be unmapped, in bytes.
uint64_t granule(const AllocatorSettings& settings, uint64_t size, const SegmentOwner& owner) {
    if (!owner.is_expandable || size / small_segment > most_pieces) {
        return size;
    }
    if (owner.is_large && size % settings.large_segment == 0) {
        return settings.large_segment;
    }
    return size % small_segment == 0 ? small_segment : size;
}

}  // namespace

int64_t set_up(BlockMap& map, std::span<const StartSegment> segments, std::span<const StartBlock> blocks) {
    int64_t misfits = 0;
    for (const StartSegment& segment : segments) {
        misfits += !map.add_segment(segment.address, segment.size, segment.owner);
    }
    // Starts at the highest address, so that the remaining free memory lies at the front.
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
        misfits += !map.place(block->address, block->requested, block->size, block->is_pending);
    }
    map.restart_counters();
    return misfits;
}

void EventFolder::start(std::span<const StartSegment> segments, std::span<const StartBlock> blocks) {
    inconsistent_ += set_up(map_, segments, blocks);
    for (const StartSegment& segment : segments) {
        add_pieces(segment, before_history, 0);
    }
    for (const StartBlock& block : blocks) {
        AllocationRow row;
        row.lifetime.address = block.address;
        row.lifetime.requested = block.requested;
        row.lifetime.block_size = block.size;
        row.lifetime.segment = segment_at(block.address);
        row.lifetime.stack = block.stack;
        row.lifetime.free_event = block.is_pending ? before_history : never_in_file;
        begin_lifetime(row, block.is_pending);
    }
    note_peak(0);
}

void EventFolder::apply(const AllocatorEvent& event) {
    AllocatorEvent in_order = event;
    in_order.time = last_time_ = last_written_time_ = std::max(event.time, last_time_);
    switch (event.action) {
        case Action::alloc: apply_alloc(in_order); break;
        case Action::free_requested: apply_free_request(in_order); break;
        case Action::free_completed: apply_free_completion(in_order); break;
        case Action::segment_alloc:
        case Action::segment_map: apply_arrival(in_order); break;
        case Action::segment_free:
        case Action::segment_unmap: apply_return(in_order); break;
        default: unknown_ += event.action == Action::unknown; keep_as_other(in_order);
    }
    ++next_;
}

void EventFolder::apply_unwritten(const AllocatorEvent& event) {
    last_time_ = std::max(event.time, last_time_);
    const auto block = unwritten_.find(event.address);
    switch (event.action) {
        case Action::alloc: {
            const auto placed = map_.allocate(event.address, event.size);
            inconsistent_ += !placed.consistent;
            const uint64_t size = placed.size != 0 ? placed.size : round_size(settings_, event.size);
            const auto added = unwritten_.insert_or_assign(event.address, Unwritten{event, size, false}).first;
            added->second.allocated.time = last_time_;
            break;
        }
        case Action::free_requested:
            inconsistent_ += !map_.request_free(event.address);
            if (block != unwritten_.end()) {
                block->second.is_pending = true;
            } else if (const auto freed = live_.take(event.address)) {
                stale_.insert_or_assign(event.address, Stale{*freed, event.stack, false});
            }
            break;
        case Action::free_completed:
            inconsistent_ += !map_.complete_free(event.address);
            if (block != unwritten_.end()) {
                unwritten_.erase(block);
            } else if (const auto stale = stale_.find(event.address); stale != stale_.end()) {
                stale->second.is_complete = true;
            } else if (const auto freed = live_.take(event.address)) {
                stale_.emplace(event.address, Stale{*freed, 0, true});
            }
            break;
        default: break;
    }
}

/// Returns the time of the next row's event, which happened at `time`: times do not decrease.
int64_t EventFolder::written_at(int64_t time) { return last_written_time_ = std::max(time, last_written_time_); }

void EventFolder::begin_unwritten(const Unwritten& block, int64_t time) {
    AllocationRow row;
    row.time = time;
    row.lifetime.alloc_event = next_++;
    row.lifetime.address = block.allocated.address;
    row.lifetime.requested = block.allocated.size;
    row.lifetime.block_size = block.size;
    row.lifetime.segment = segment_at(block.allocated.address);
    row.lifetime.stack = block.allocated.stack;
    row.lifetime.origin = block.allocated.origin;
    begin_lifetime(row, false);
    if (block.is_pending) {
        request_free(block.allocated.address, next_++, time, 0);
    }
}

/// Returns a row that still shows a freed block where this block is now; stale_.end() if there is none.
std::map<uint64_t, EventFolder::Stale>::iterator EventFolder::stale_over(const Unwritten& block) {
    const uint64_t begin = block.allocated.address;
    auto stale = stale_.lower_bound(begin + block.size);
    if (stale == stale_.begin()) {
        return stale_.end();
    }
    --stale;
    return begin < stale->first + stale->second.allocation.size ? stale : stale_.end();
}

/// Takes a block that has no row and takes the place of an allocation: one of the same requested bytes, if possible in
/// a block of the same size; the allocator does not split off a small rest. Nothing if there is none.
std::optional<EventFolder::Unwritten> EventFolder::take_unwritten(const LiveAllocation& instead_of) {
    auto found = unwritten_.end();
    for (auto entry = unwritten_.begin(); entry != unwritten_.end(); ++entry) {
        const Unwritten& block = entry->second;
        if (!block.is_pending && block.allocated.size == instead_of.requested) {
            found = entry;
            if (block.size == instead_of.size) {
                break;
            }
        }
    }
    return found == unwritten_.end() ? std::nullopt : std::optional(unwritten_.extract(found).mapped());
}

void EventFolder::end_stale(const Stale& stale, int64_t time) {
    live_.set(stale.allocation);
    if (!stale.allocation.is_pending) {
        request_free(stale.allocation.address, next_++, time, stale.free_stack);
    }
    if (stale.is_complete) {
        end_lifetime(stale.allocation.address, next_++, time);
    }
}

/// Rows may show less than there is: what the last step allocated may replace rows in the next one.
bool EventFolder::rows_show_too_much() const {
    uint64_t shown = 0, there = 0;
    for (const auto& [address, stale] : stale_) {
        shown += stale.allocation.is_pending ? 0 : stale.allocation.size;
    }
    for (const auto& [address, block] : unwritten_) {
        there += block.is_pending ? 0 : block.size;
    }
    return shown > there;
}

/// Returns by requested bytes how many more allocations the rows show than there are, before the survivors have rows.
EventFolder::Excess EventFolder::excess_without(const std::vector<Unwritten>& survivors) const {
    Excess excess;
    for (const auto& [address, stale] : stale_) {
        excess[stale.allocation.requested] += !stale.allocation.is_pending;
    }
    for (const auto& [address, block] : unwritten_) {
        excess[block.allocated.size] -= !block.is_pending;
    }
    for (const Unwritten& survivor : survivors) {
        --excess[survivor.allocated.size];
    }
    return excess;
}

/// Ends a row of a freed allocation of as many bytes as this block has, if possible of a block of the same size.
void EventFolder::end_surplus(const Unwritten& block, int64_t time) {
    auto surplus = stale_.end();
    for (auto entry = stale_.begin(); entry != stale_.end(); ++entry) {
        const LiveAllocation& allocation = entry->second.allocation;
        if (!allocation.is_pending && allocation.requested == block.allocated.size) {
            const bool is_first = surplus == stale_.end();
            surplus = is_first || allocation.size == block.size ? entry : surplus;
        }
    }
    if (surplus != stale_.end()) {
        end_stale(stale_.extract(surplus).mapped(), time);
    }
}

/// A row that is in the way ends, and a block that takes its place gets one instead. If the rows then show too many
/// allocations of so many bytes, another one ends.
void EventFolder::write_survivor(const Unwritten& survivor, Excess& excess) {
    const int64_t time = written_at(survivor.allocated.time);
    std::vector<Unwritten> blocks{survivor};
    for (size_t i = 0; i < blocks.size(); ++i) {
        for (auto stale = stale_over(blocks[i]); stale != stale_.end(); stale = stale_over(blocks[i])) {
            const Stale ended = stale_.extract(stale).mapped();
            end_stale(ended, time);
            const LiveAllocation& allocation = ended.allocation;
            if (allocation.is_pending) {
                continue;
            }
            --excess[allocation.requested];
            if (auto instead = take_unwritten(allocation)) {
                ++excess[instead->allocated.size];
                blocks.push_back(*std::move(instead));
            }
        }
    }
    if (int64_t& surplus = excess[survivor.allocated.size]; ++surplus > 0) {
        end_surplus(survivor, time);
        --surplus;
    }
    for (const Unwritten& block : blocks) {
        begin_unwritten(block, time);
    }
}

std::vector<EventFolder::Unwritten> EventFolder::take_unwritten_before(int64_t time) {
    std::vector<Unwritten> taken;
    for (auto block = unwritten_.begin(); block != unwritten_.end();) {
        const bool is_taken = block->second.allocated.time < time && !block->second.is_pending;
        if (is_taken) {
            taken.push_back(std::move(block->second));
        }
        block = is_taken ? unwritten_.erase(block) : std::next(block);
    }
    return taken;
}

void EventFolder::sort_by_time(std::vector<Unwritten>& blocks) {
    std::sort(blocks.begin(), blocks.end(), [](const Unwritten& a, const Unwritten& b) {
        return std::pair(a.allocated.time, a.allocated.address) < std::pair(b.allocated.time, b.allocated.address);
    });
}

bool EventFolder::write_survivors(int64_t start) {
    std::vector<Unwritten> survivors = take_unwritten_before(start);
    sort_by_time(survivors);
    Excess excess = excess_without(survivors);
    for (const Unwritten& survivor : survivors) {
        write_survivor(survivor, excess);
    }
    note_peak(next_);
    return !rows_show_too_much();
}

void EventFolder::write_unwritten() {
    // What replaces stale rows has existed for as long as those show.
    const bool replaces = !stale_.empty();
    for (const auto& [address, stale] : std::exchange(stale_, {})) {
        end_stale(stale, written_at(last_time_));
    }
    std::vector<Unwritten> blocks;
    for (auto& [address, block] : std::exchange(unwritten_, {})) {
        blocks.push_back(std::move(block));
    }
    sort_by_time(blocks);
    for (const Unwritten& block : blocks) {
        begin_unwritten(block, written_at(replaces ? last_time_ : block.allocated.time));
    }
    note_peak(next_);
}

void EventFolder::keep_as_other(const AllocatorEvent& event) {
    const bool understood = event.action == Action::snapshot || event.action == Action::oom;
    FileOtherEvent other;
    other.event = next_;
    other.action = understood ? event.action : Action::unknown;
    other.name = event.action == Action::unknown ? event.unknown_name : std::string(action_name(event.action));
    other.address = event.address;
    other.size = event.size;
    other.stack = event.stack;
    sink_.other_event(other, event.time, event.origin);
}

void EventFolder::note_peak(FileEvent state) {
    const int64_t allocated = map_.counters().at(Metric::allocated_bytes, PoolKind::all).current;
    if (allocated > peak_bytes_) {
        peak_bytes_ = allocated;
        peak_event_ = state;
    }
}

void EventFolder::begin_lifetime(const AllocationRow& row, bool is_pending) {
    live_.set({row.lifetime, sink_.created(row), is_pending});
}

void EventFolder::request_free(uint64_t address, FileEvent event, int64_t time, StackId stack) {
    LiveAllocation& allocation = *live_.find(address);
    allocation.is_pending = true;
    sink_.free_requested(allocation.id, event, time, stack);
}

void EventFolder::end_lifetime(uint64_t address, FileEvent event, int64_t time) {
    if (const auto ended = live_.take(address)) {
        sink_.free_completed(*ended, event, time);
    }
}

void EventFolder::apply_alloc(const AllocatorEvent& event) {
    const auto placed = map_.allocate(event.address, event.size);
    inconsistent_ += !placed.consistent;
    if (const LiveAllocation* const lost = live_.find(event.address)) {
        // The free event of this allocation was lost. Its address is in use again, so it has been freed by now.
        if (!lost->is_pending) {
            request_free(event.address, next_, event.time, 0);
        }
        end_lifetime(event.address, next_, event.time);
        inconsistent_ += placed.consistent;
    }
    AllocationRow row;
    row.time = event.time;
    row.lifetime.alloc_event = next_;
    row.lifetime.address = event.address;
    row.lifetime.requested = event.size;
    row.lifetime.block_size = placed.size != 0 ? placed.size : round_size(settings_, event.size);
    row.lifetime.segment = segment_at(event.address);
    row.lifetime.stack = event.stack;
    row.lifetime.origin = event.origin;
    begin_lifetime(row, false);
    note_peak(next_ + 1);
}

void EventFolder::apply_free_request(const AllocatorEvent& event) {
    inconsistent_ += !map_.request_free(event.address);
    const LiveAllocation* const freed = live_.find(event.address);
    if (freed == nullptr || freed->is_pending) {
        keep_as_other(event);
        return;
    }
    request_free(event.address, next_, event.time, event.stack);
}

void EventFolder::apply_free_completion(const AllocatorEvent& event) {
    inconsistent_ += !map_.complete_free(event.address);
    const LiveAllocation* const freed = live_.find(event.address);
    if (freed == nullptr) {
        keep_as_other(event);
        return;
    }
    if (!freed->is_pending) {
        request_free(event.address, next_, event.time, event.stack);
    }
    end_lifetime(event.address, next_, event.time);
}

// PyTorch reserves a separate address range for each pool, stream and request class, and maps memory into it for one
// request at a time (c10/cuda/CUDACachingAllocator.cpp, get_pool and try_allocate_expandable_block). The request size
// selects the pool: small up to 1 MiB, large above. Memory is mapped in whole granules: 2 MiB for the small pool,
// large_segment_size_mb (20 MiB) for the large pool. A small request needs exactly one granule, so the mapped size
// identifies the pool. The request itself is less reliable: if it failed, the next allocation belongs to another
// request. Only if a granule of the large pool is as small as one of the small pool, the neighbor in the same address
// range decides.
SegmentOwner EventFolder::owner_of_arrival(const AllocatorEvent& event) const {
    if (event.reported_owner) {
        return *event.reported_owner;
    }
    SegmentOwner owner{event.stream, event.pool, event.size > small_segment, event.action == Action::segment_map};
    if (owner.is_expandable && !owner.is_large && settings_.large_segment <= small_segment) {
        const auto next = pieces_.lower_bound(event.address);
        if (next != pieces_.begin()) {
            const Piece& before = std::prev(next)->second;
            if (before.end == event.address && before.owner.is_expandable && before.owner.stream == owner.stream &&
                before.owner.pool == owner.pool) {
                owner.is_large = before.owner.is_large;
            }
        }
    }
    return owner;
}

void EventFolder::apply_arrival(const AllocatorEvent& event) {
    const SegmentOwner owner = owner_of_arrival(event);
    if (event.size == 0 || !map_.add_segment(event.address, event.size, owner)) {
        ++inconsistent_;
        keep_as_other(event);
        return;
    }
    const bool pool_known = event.pool_known || event.reported_owner;
    unknown_pools_ += !pool_known;
    add_pieces({event.address, event.size, owner, pool_known, event.stack}, next_, event.time);
}

void EventFolder::apply_return(const AllocatorEvent& event) {
    if (!map_.remove_segment(event.address, event.size)) {
        ++inconsistent_;
        map_.evict(event.address, event.size);
    }
    if (!remove_pieces(event.address, event.size, next_, event.time, event.stack)) {
        keep_as_other(event);
    }
}

EventFolder::Pieces::const_iterator EventFolder::piece_covering(uint64_t address) const {
    auto piece = pieces_.upper_bound(address);
    if (piece == pieces_.begin()) {
        return pieces_.end();
    }
    --piece;
    return address < piece->second.end ? piece : pieces_.end();
}

uint32_t EventFolder::segment_at(uint64_t address) const {
    const auto piece = piece_covering(address);
    return piece == pieces_.end() ? no_segment : piece->second.position;
}

// Expandable memory may be unmapped in other units than it was mapped in. If rows cannot be split later, each granule
// gets its own row from the start.
void EventFolder::add_pieces(const StartSegment& memory, FileEvent event, int64_t time) {
    FileSegment segment;
    segment.size = sink_.can_cut_segments() ? memory.size : granule(settings_, memory.size, memory.owner);
    segment.alloc_event = event;
    segment.stream = memory.owner.stream;
    segment.pool = memory.owner.pool;
    segment.pool_known = memory.pool_known;
    segment.is_large = memory.owner.is_large;
    segment.is_expandable = memory.owner.is_expandable;
    segment.stack = memory.stack;
    for (uint64_t at = memory.address; at < memory.address + memory.size; at += segment.size) {
        segment.address = at;
        pieces_[at] = {at + segment.size, memory.owner, sink_.segment_added(segment, time)};
    }
}

bool EventFolder::remove_pieces(uint64_t address, uint64_t size, FileEvent event, int64_t time, StackId stack) {
    const uint64_t end = address + size;
    const bool can_cut = sink_.can_cut_segments();
    auto piece = pieces_.lower_bound(address);
    if (const auto low = piece_covering(address); can_cut && low != pieces_.end() && low->first < address) {
        const Piece upper{low->second.end, low->second.owner, sink_.cut_segment(low->second.position, address)};
        pieces_[low->first].end = address;
        piece = pieces_.emplace(address, upper).first;
    }
    bool any = false;
    while (piece != pieces_.end() && piece->first < end) {
        if (piece->second.end > end) {
            if (!can_cut) {
                break;
            }
            const Piece upper{piece->second.end, piece->second.owner, sink_.cut_segment(piece->second.position, end)};
            piece->second.end = end;
            pieces_.emplace(end, upper);
        }
        sink_.segment_removed(piece->second.position,
                              {piece->first, piece->second.end - piece->first, event, time, stack});
        piece = pieces_.erase(piece);
        any = true;
    }
    return any;
}

}  // namespace tidemark
