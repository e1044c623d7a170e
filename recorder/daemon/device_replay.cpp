// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/device_replay.h"

#include <algorithm>
#include <iterator>

#include "storage/trace/packed_counters.h"

namespace tidemark::recorder {

namespace {

/// Number of events for which reported states can be compared and ended allocations are known.
constexpr size_t history_limit = 1 << 16;
/// A step with more events is divided, so that its details can be deleted part by part.
constexpr FileEvent most_events_of_part = 1 << 14;

std::vector<StartSegment> segments_of(const AllocatorState& state) {
    std::vector<StartSegment> segments;
    segments.reserve(state.segments.size());
    for (const auto& [address, segment] : state.segments) {
        segments.push_back({address, segment.size, segment.owner, true, 0});
    }
    return segments;
}

std::vector<StartBlock> blocks_of(const AllocatorState& state) {
    std::vector<StartBlock> blocks;
    blocks.reserve(state.blocks.size());
    for (const auto& [address, block] : state.blocks) {
        blocks.push_back({address, block.size, block.requested, block.is_pending, 0});
    }
    return blocks;
}

}  // namespace

DeviceReplay::DeviceReplay(int device, StreamingWriter& writer, const AllocatorSettings& settings,
                           const AllocatorState& start, const AllocationListeners& listeners)
    : device_(device),
      writer_(writer),
      sites_(listeners.sites),
      labels_(listeners.labels),
      settings_(settings),
      folder_(settings, *this) {
    folder_.start(segments_of(start), blocks_of(start));
}

void DeviceReplay::apply(const AllocatorEvent& event) {
    StateChange change = change_before(event);
    is_other_event_ = false;
    is_light_ = event.is_light;
    folder_.apply(event);
    complete_after(change);
    recent_.push_back(change);
    if (recent_.size() > history_limit) {
        recent_.pop_front();
    }
    note(part_peaks_);
    if (events() - part_event_ >= most_events_of_part) {
        end_part(part_start_, last_time(), 0, false);
    }
}

void DeviceReplay::end_step(int64_t start, int64_t end, bool is_kept) {
    end_part(std::max(start, part_start_), std::max(end, last_time()), 1, is_kept);
}

void DeviceReplay::end_part(int64_t start, int64_t end, int64_t steps, bool is_kept) {
    if (events() > part_event_) {
        FileRepeatedSteps part;
        part.event = part_event_;
        part.after = events();
        part.start = std::min(start, end);
        part.end = end;
        part.count = steps;
        part.peak_allocated = part_peaks_.allocated;
        part.peak_active = part_peaks_.active;
        part.peak_requested = part_peaks_.requested;
        part.counters = packed_counters(values_of(folder_.map().counters()));
        writer_.complete_step(device_, part, is_kept);
    }
    begin_part(end);
}

void DeviceReplay::begin_part(int64_t time) {
    part_event_ = events();
    part_start_ = time;
    part_peaks_ = {};
    note(part_peaks_);
}

void DeviceReplay::apply_repeated(std::span<const AllocatorEvent> step, int64_t start, int64_t end, int64_t like,
                                  const std::function<void(size_t)>& before) {
    Peaks peaks;
    note(peaks);
    for (size_t i = 0; i < step.size(); ++i) {
        before(i);
        folder_.apply_unwritten(step[i]);
        note(peaks);
        if (step[i].action == Action::free_completed) {
            settle(step[i].address, no_allocation_row);
        }
    }
    recent_.clear();
    is_light_ = !step.empty() && step.back().is_light;
    has_unwritten_ = true;
    if (!belongs_to_repeats(like, peaks)) {
        begin_repeats(start, like, peaks);
    }
    repeats_.end = std::max({end, repeats_.start, last_time()});
    repeats_.events_left_out += static_cast<int64_t>(step.size());
    ++repeats_.count;
    const bool rows_can_stay = folder_.write_survivors(step.empty() ? end : step.front().time);
    can_add_repeats_ = events() == repeats_.event;
    report_repeats();
    if (!rows_can_stay) {
        end_repeats();
    }
    begin_part(repeats_.end);
}

bool DeviceReplay::belongs_to_repeats(int64_t like, const Peaks& peaks) const {
    return can_add_repeats_ && repeats_.like == like && repeats_.peak_allocated == peaks.allocated &&
           repeats_.peak_active == peaks.active && repeats_.peak_requested == peaks.requested;
}

void DeviceReplay::begin_repeats(int64_t start, int64_t like, const Peaks& peaks) {
    repeats_ = FileRepeatedSteps();
    repeats_.event = repeats_.after = events();
    repeats_.start = start;
    repeats_.like = like;
    repeats_.peak_allocated = peaks.allocated;
    repeats_.peak_active = peaks.active;
    repeats_.peak_requested = peaks.requested;
    repeats_row_ = 0;
}

void DeviceReplay::note(Peaks& peaks) const {
    const auto current = [&](Metric metric) { return folder_.map().counters().at(metric, PoolKind::all).current; };
    peaks.allocated = std::max(peaks.allocated, current(Metric::allocated_bytes));
    peaks.active = std::max(peaks.active, current(Metric::active_bytes));
    peaks.requested = std::max(peaks.requested, current(Metric::requested_bytes));
}

void DeviceReplay::report_repeats() {
    repeats_.after = events();
    if (repeats_row_ == 0) {
        repeats_row_ = writer_.repeated(device_, repeats_);
    } else {
        writer_.repeated_more(repeats_row_, device_, repeats_);
    }
}

void DeviceReplay::end_repeats() {
    if (!has_unwritten_) {
        return;
    }
    folder_.write_unwritten();
    repeats_.counters = packed_counters(values_of(folder_.map().counters()));
    report_repeats();
    can_add_repeats_ = has_unwritten_ = false;
    begin_part(repeats_.end);
}

/// Returns the change with the members that only the state before the event has.
StateChange DeviceReplay::change_before(const AllocatorEvent& event) const {
    StateChange change{event.action, event.address, event.size, 0, {}};
    if (event.action == Action::free_completed) {
        const LiveAllocation* const freed = folder_.live().find(event.address);
        if (freed == nullptr) {
            return {};
        }
        change.size = freed->size;
        change.requested = freed->requested;
    } else if (event.action == Action::segment_free || event.action == Action::segment_unmap) {
        const auto piece = folder_.piece_covering(event.address);
        change.owner = piece == folder_.pieces().end() ? SegmentOwner() : piece->second.owner;
    }
    return change;
}

/// Adds the members that only the state after the event has. Clears the change if the event changed no state.
void DeviceReplay::complete_after(StateChange& change) const {
    switch (change.action) {
        case Action::alloc: {
            const LiveAllocation& allocation = *folder_.live().find(change.address);
            change.size = allocation.size;
            change.requested = allocation.requested;
            break;
        }
        case Action::segment_alloc:
        case Action::segment_map:
            if (is_other_event_) {
                change = {};
            } else {
                change.owner = folder_.piece_covering(change.address)->second.owner;
            }
            break;
        case Action::free_requested:
        case Action::free_completed:
        case Action::segment_free:
        case Action::segment_unmap: break;
        default: change = {};
    }
}

void DeviceReplay::skip(uint64_t count) {
    const FileEvent next = events();
    const auto end = static_cast<FileEvent>(static_cast<uint64_t>(next) + count);
    lost_.push_back({next, end, last_time()});
    folder_.skip_to(end);
    recent_.clear();
}

FoldSink::LifetimeId DeviceReplay::created(const AllocationRow& row) {
    if (sites_ != nullptr) {
        sites_->allocated(row.lifetime.stack, row.lifetime.block_size);
    }
    const LifetimeId lifetime = writer_.created(device_, row);
    if (labels_ != nullptr) {
        labels_->allocated(writer_.row_id(lifetime), row, is_light_);
    }
    settle(row.lifetime.address, writer_.row_id(lifetime));
    return lifetime;
}

bool DeviceReplay::await_row(uint64_t address) {
    if (!folder_.is_unwritten(address)) {
        return false;
    }
    awaited_.insert(address);
    return true;
}

void DeviceReplay::settle(uint64_t address, int64_t row) {
    if (awaited_.erase(address) > 0) {
        settled_.push_back({address, row});
    }
}

void DeviceReplay::free_requested(LifetimeId lifetime, FileEvent event, int64_t time, StackId stack) {
    writer_.free_requested(lifetime, event, time, stack);
}

void DeviceReplay::free_completed(const LiveAllocation& allocation, FileEvent event, int64_t time) {
    // If the end was lost, the lifetime counts as ended with the last one that was seen.
    const FileEvent ended = ended_.empty() ? event : std::max(event, ended_.back().ended);
    ended_.push_back({allocation.address, writer_.row_id(allocation.id), writer_.alloc_event(allocation.id), ended});
    while (static_cast<size_t>(ended - ended_.front().ended) > history_limit) {
        ended_.pop_front();
    }
    writer_.free_completed(allocation.id, event, time);
    if (sites_ != nullptr) {
        sites_->freed(allocation.stack, allocation.size);
    }
}

void DeviceReplay::for_each_block(const SiteWatch::VisitBlock& visit) const {
    folder_.for_each_open([&](const LiveAllocation& allocation) {
        visit({allocation.address, allocation.stack, writer_.alloc_event(allocation.id)});
    });
}

uint32_t DeviceReplay::segment_added(const FileSegment& segment, int64_t time) {
    const uint32_t position = writer_.segment_added(device_, segment, time);
    segment_changes_.push_back({true, segment.alloc_event == before_history ? before_all_times : time, segment.address,
                                segment.size, position});
    return position;
}

void DeviceReplay::segment_removed(uint32_t position, const SegmentEnd& end) {
    writer_.segment_removed(device_, position, end.event, end.time, end.stack);
    segment_changes_.push_back({false, end.time, end.address, end.size, position});
}

/// Never called, since can_cut_segments() is false: rows that were written do not change.
uint32_t DeviceReplay::cut_segment(uint32_t position, uint64_t) { return position; }

void DeviceReplay::other_event(const FileOtherEvent& event, int64_t time, uint32_t origin) {
    is_other_event_ = true;
    writer_.other_event(device_, event, time, origin);
}

int64_t DeviceReplay::allocation_at(uint64_t address, FileEvent events) const {
    const LiveAllocation* const live = folder_.live().find(address);
    if (live != nullptr && writer_.alloc_event(live->id) < events) {
        return writer_.row_id(live->id);
    }
    const auto not_ended_yet = std::partition_point(ended_.begin(), ended_.end(),
                                                    [&](const EndedLifetime& ended) { return ended.ended < events; });
    const auto found = std::find_if(not_ended_yet, ended_.end(), [&](const EndedLifetime& ended) {
        return ended.address == address && ended.created < events;
    });
    return found == ended_.end() ? no_allocation_row : found->id;
}

int64_t DeviceReplay::reserved_bytes() const {
    return folder_.map().counters().at(Metric::reserved_bytes, PoolKind::all).current;
}

int64_t DeviceReplay::allocated_bytes() const {
    return folder_.map().counters().at(Metric::allocated_bytes, PoolKind::all).current;
}

std::optional<StateDifference> DeviceReplay::compare(const AllocatorState& reported) const {
    const auto now = static_cast<uint64_t>(events());
    if (reported.events_before > now || now - reported.events_before > recent_.size()) {
        return std::nullopt;
    }
    AllocatorState then = AllocatorState::of(folder_.map());
    const auto changes = static_cast<ptrdiff_t>(now - reported.events_before);
    for (auto change = recent_.rbegin(); change != recent_.rbegin() + changes; ++change) {
        undo(then, *change);
    }
    return difference(reported, then);
}

void DeviceReplay::adopt(const AllocatorState& reported) {
    BlockMap map(settings_);
    inconsistent_ += set_up(map, segments_of(reported), blocks_of(reported));
    redo(map, reported.events_before);
    folder_.replace_map(std::move(map));
    const AllocatorState now = AllocatorState::of(folder_.map());
    repair_segments(now);
    repair_lifetimes(now);
    recent_.clear();
}

void DeviceReplay::redo(BlockMap& map, uint64_t from) const {
    const auto changes = static_cast<ptrdiff_t>(static_cast<uint64_t>(events()) - from);
    for (auto change = recent_.end() - changes; change != recent_.end(); ++change) {
        switch (change->action) {
            case Action::alloc: map.allocate(change->address, change->requested); break;
            case Action::free_requested: map.request_free(change->address); break;
            case Action::free_completed: map.complete_free(change->address); break;
            case Action::segment_alloc:
            case Action::segment_map: map.add_segment(change->address, change->size, change->owner); break;
            case Action::segment_free:
            case Action::segment_unmap:
                if (!map.remove_segment(change->address, change->size)) {
                    map.evict(change->address, change->size);
                }
                break;
            default: break;
        }
    }
}

bool DeviceReplay::has_lost_time_point() const {
    return std::any_of(lost_.begin(), lost_.end(), [](const LostEvents& lost) { return lost.next < lost.end; });
}

std::pair<FileEvent, int64_t> DeviceReplay::lost_time_point(FileEvent after) {
    for (LostEvents& lost : lost_) {
        if (lost.next < lost.end && lost.next > after) {
            return {lost.next++, lost.time};
        }
    }
    return {std::max<FileEvent>(0, events() - 1), last_time()};
}

void DeviceReplay::repair_segments(const AllocatorState& now) {
    const auto belongs = [&](uint64_t address, const EventFolder::Piece& piece) {
        const auto above = now.segments.upper_bound(address);
        if (above == now.segments.begin()) {
            return false;
        }
        const auto& [start, segment] = *std::prev(above);
        return piece.end <= start + segment.size && piece.owner == segment.owner;
    };
    const EventFolder::Pieces before = folder_.pieces();
    for (const auto& [address, piece] : before) {
        if (!belongs(address, piece)) {
            const auto [event, time] = lost_time_point(before_history);
            folder_.remove_pieces(address, piece.end - address, event, time, 0);
        }
    }
    // Adds memory without a row. Rows of segments have rising events, so these get the last event.
    for (const auto& [start, segment] : now.segments) {
        const uint64_t end = start + segment.size;
        for (uint64_t at = start; at < end;) {
            const auto piece = folder_.pieces().lower_bound(at);
            const bool is_last = piece == folder_.pieces().end() || piece->first >= end;
            const uint64_t covered_from = is_last ? end : piece->first;
            const uint64_t covered_to = is_last ? end : piece->second.end;
            if (at < covered_from) {
                folder_.add_pieces({at, covered_from - at, segment.owner, true, 0},
                                   std::max<FileEvent>(0, events() - 1), last_time());
            }
            at = covered_to;
        }
    }
}

/// Ends the rows of what the state does not have.
void DeviceReplay::end_other_lifetimes(const AllocatorState& now) {
    const auto is_same = [&](const LiveAllocation& allocation) {
        const auto block = now.blocks.find(allocation.address);
        return block != now.blocks.end() && block->second.requested == allocation.requested &&
               block->second.size == allocation.size && (block->second.is_pending || !allocation.is_pending);
    };
    const auto is_freed = [&](const LiveAllocation& allocation) {
        return !is_same(allocation) || now.blocks.at(allocation.address).is_pending;
    };
    std::vector<LiveAllocation> freed;
    std::copy_if(folder_.live().begin(), folder_.live().end(), std::back_inserter(freed), is_freed);
    for (const LiveAllocation& allocation : freed) {
        if (!allocation.is_pending) {
            const auto [event, time] = lost_time_point(writer_.alloc_event(allocation.id));
            folder_.request_free(allocation.address, event, time, 0);
        }
        if (!is_same(allocation)) {
            const auto [event, time] = lost_time_point(writer_.free_event(allocation.id));
            folder_.end_lifetime(allocation.address, event, time);
        }
    }
}

void DeviceReplay::repair_lifetimes(const AllocatorState& now) {
    end_other_lifetimes(now);
    for (const auto& [address, block] : now.blocks) {
        if (folder_.live().find(address) != nullptr || !has_lost_time_point()) {
            continue;  // no lost event could have allocated it, so it gets no row
        }
        const auto [event, time] = lost_time_point(before_history);
        AllocationRow row;
        row.time = time;
        row.lifetime.alloc_event = event;
        row.lifetime.address = address;
        row.lifetime.requested = block.requested;
        row.lifetime.block_size = block.size;
        row.lifetime.segment = segment_at(address);
        folder_.begin_lifetime(row, false);
        if (block.is_pending) {
            const auto [freed, free_time] = lost_time_point(event);
            folder_.request_free(address, freed, free_time, 0);
        }
    }
}

}  // namespace tidemark::recorder
