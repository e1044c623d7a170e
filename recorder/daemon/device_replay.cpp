#include "recorder/daemon/device_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tidemark::recorder {

namespace {

/// How far back a told state can be compared, and ended allocations are known, in events.
constexpr size_t longest_memory = 1 << 16;
/// The allocator maps and unmaps expandable memory of its large pool in multiples of this, small_segment else.
constexpr uint64_t large_piece = 20 << 20;
/// More pieces than any device has memory for: the size is damaged.
constexpr uint64_t most_pieces = 1 << 18;

uint64_t piece_size(uint64_t size, const SegmentOwner& owner) {
    if (!owner.is_expandable || size / small_segment > most_pieces) {
        return size;
    }
    if (owner.is_large && size % large_piece == 0) {
        return large_piece;
    }
    return size % small_segment == 0 ? small_segment : size;
}

}  // namespace

DeviceReplay::DeviceReplay(int device, StreamingWriter& writer, const AllocatorSettings& settings,
                           const AllocatorState& start)
    : device_(device), writer_(writer), settings_(settings), map_(settings) {
    set_up(map_, start);
    for (const auto& [address, segment] : start.segments) {
        add_pieces(address, segment.size, segment.owner, before_history, {});
    }
    for (const auto& [address, block] : start.blocks) {
        AllocationRow row;
        row.lifetime.address = address;
        row.lifetime.requested = block.requested;
        row.lifetime.block_size = block.size;
        row.lifetime.segment = segment_at(address);
        row.lifetime.free_event = block.is_pending ? before_history : never;
        lifetimes_[address] = {writer_.created(device_, row), block.requested, block.size, block.is_pending};
    }
    note_peak();
    peak_event_ = 0;
}

void DeviceReplay::set_up(BlockMap& map, const AllocatorState& state) {
    for (const auto& [address, segment] : state.segments) {
        inconsistent_ += !map.add_segment(address, segment.size, segment.owner);
    }
    // From the top down, so that what is left free always lies in front.
    for (auto block = state.blocks.rbegin(); block != state.blocks.rend(); ++block) {
        inconsistent_ +=
            !map.place(block->first, block->second.requested, block->second.size, block->second.is_pending);
    }
    map.restart_counters();
}

void DeviceReplay::apply(const AllocatorEvent& event) {
    // Threads take their time stamps before they get their turn.
    AllocatorEvent turn = event;
    turn.time = last_time_ = std::max(event.time, last_time_);
    switch (event.action) {
        case Action::alloc: apply_alloc(turn); break;
        case Action::free_requested: apply_free_request(turn); break;
        case Action::free_completed: apply_free_completion(turn); break;
        case Action::segment_alloc:
        case Action::segment_map: apply_arrival(turn); break;
        case Action::segment_free:
        case Action::segment_unmap: apply_return(turn); break;
        default:
            unknown_ += event.action == Action::unknown;
            keep_as_other(turn);
            note({});
    }
    ++next_;
}

void DeviceReplay::skip(uint64_t count) {
    const auto end = static_cast<EventNumber>(std::min<uint64_t>(static_cast<uint64_t>(next_) + count, never - 1));
    lost_.push_back({next_, end, last_time_});
    next_ = end;
    recent_.clear();
}

void DeviceReplay::note(const StateChange& change) {
    recent_.push_back(change);
    if (recent_.size() > longest_memory) {
        recent_.pop_front();
    }
}

void DeviceReplay::keep_as_other(const AllocatorEvent& event) {
    const bool understood = event.action == Action::snapshot || event.action == Action::oom;
    OtherEvent other;
    other.event = next_;
    other.action = understood ? event.action : Action::unknown;
    other.name = event.action == Action::unknown ? fmt::format("action {}", event.raw_action)
                                                 : std::string(action_name(event.action));
    other.address = event.address;
    other.size = event.size;
    other.stack = event.stack;
    writer_.other_event(device_, other, event.time, event.origin);
}

void DeviceReplay::note_peak() {
    const int64_t allocated = map_.counters().at(Metric::allocated_bytes, PoolKind::all).current;
    if (allocated > peak_bytes_) {
        peak_bytes_ = allocated;
        peak_event_ = next_ + 1;
    }
}

void DeviceReplay::apply_alloc(const AllocatorEvent& event) {
    const auto placed = map_.allocate(event.address, event.size);
    inconsistent_ += !placed.consistent;
    AllocationRow row;
    row.time = event.time;
    row.lifetime.alloc_event = next_;
    row.lifetime.address = event.address;
    row.lifetime.requested = event.size;
    row.lifetime.block_size = placed.size != 0 ? placed.size : round_size(settings_, event.size);
    row.lifetime.segment = segment_at(event.address);
    row.lifetime.stack = event.stack;
    row.lifetime.origin = event.origin;
    const auto [slot, is_new] = lifetimes_.try_emplace(event.address);
    if (!is_new) {
        // Its free was never reported; the address is in new hands, so it must have happened by now.
        if (!slot->second.is_pending) {
            writer_.free_requested(slot->second.id, next_, event.time, 0);
        }
        end_lifetime(event.address, slot->second, next_, event.time);
        inconsistent_ += placed.consistent;
    }
    slot->second = {writer_.created(device_, row), event.size, row.lifetime.block_size, false};
    note({Action::alloc, event.address, row.lifetime.block_size, event.size, {}});
    note_peak();
}

void DeviceReplay::apply_free_request(const AllocatorEvent& event) {
    inconsistent_ += !map_.request_free(event.address);
    note({Action::free_requested, event.address, 0, 0, {}});
    const auto lifetime = lifetimes_.find(event.address);
    if (lifetime == lifetimes_.end() || lifetime->second.is_pending) {
        keep_as_other(event);
        return;
    }
    lifetime->second.is_pending = true;
    writer_.free_requested(lifetime->second.id, next_, event.time, event.stack);
}

void DeviceReplay::apply_free_completion(const AllocatorEvent& event) {
    inconsistent_ += !map_.complete_free(event.address);
    const auto lifetime = lifetimes_.find(event.address);
    if (lifetime == lifetimes_.end()) {
        keep_as_other(event);
        note({});
        return;
    }
    note({Action::free_completed, event.address, lifetime->second.size, lifetime->second.requested, {}});
    if (!lifetime->second.is_pending) {
        writer_.free_requested(lifetime->second.id, next_, event.time, event.stack);
    }
    end_lifetime(event.address, lifetime->second, next_, event.time);
    lifetimes_.erase(lifetime);
}

void DeviceReplay::end_lifetime(uint64_t address, const Lifetime& lifetime, EventNumber event, int64_t time) {
    // Of lives whose end got lost it is not known better: they count as ended with the last one that was seen.
    const EventNumber ended = ended_.empty() ? event : std::max(event, ended_.back().ended);
    ended_.push_back({address, writer_.row_id(lifetime.id), writer_.alloc_event(lifetime.id), ended});
    while (static_cast<size_t>(ended - ended_.front().ended) > longest_memory) {
        ended_.pop_front();
    }
    writer_.free_completed(lifetime.id, event, time);
}

int64_t DeviceReplay::allocation_at(uint64_t address, EventNumber events) const {
    const auto lifetime = lifetimes_.find(address);
    if (lifetime != lifetimes_.end() && writer_.alloc_event(lifetime->second.id) < events) {
        return writer_.row_id(lifetime->second.id);
    }
    const auto had_not_ended = std::partition_point(ended_.begin(), ended_.end(),
                                                    [&](const EndedLifetime& ended) { return ended.ended < events; });
    const auto found = std::find_if(had_not_ended, ended_.end(), [&](const EndedLifetime& ended) {
        return ended.address == address && ended.created < events;
    });
    return found == ended_.end() ? no_allocation_row : found->id;
}

SegmentOwner DeviceReplay::owner_of_arrival(const AllocatorEvent& event) const {
    SegmentOwner owner{event.stream, event.pool, event.size > small_segment, event.action == Action::segment_map};
    if (owner.is_expandable) {
        // A request of the small pool never maps more than one small_segment; and memory of one address range is of
        // one pool. With segments of an unusual size set, the next comparison with PyTorch's state mends it.
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

void DeviceReplay::apply_arrival(const AllocatorEvent& event) {
    const SegmentOwner owner = owner_of_arrival(event);
    if (event.size == 0 || !map_.add_segment(event.address, event.size, owner)) {
        ++inconsistent_;
        keep_as_other(event);
        note({});
        return;
    }
    unknown_pools_ += !event.pool_known;
    add_pieces(event.address, event.size, owner, next_, event);
    note({event.action, event.address, event.size, 0, owner});
}

void DeviceReplay::apply_return(const AllocatorEvent& event) {
    const auto piece = piece_covering(event.address);
    const SegmentOwner owner = piece == pieces_.end() ? SegmentOwner() : piece->second.owner;
    if (!map_.remove_segment(event.address, event.size)) {
        ++inconsistent_;
        map_.evict(event.address, event.size);
    }
    note({event.action, event.address, event.size, 0, owner});
    if (!remove_pieces(event.address, event.size, next_, event.time, event.stack)) {
        keep_as_other(event);
    }
}

DeviceReplay::Pieces::const_iterator DeviceReplay::piece_covering(uint64_t address) const {
    auto piece = pieces_.upper_bound(address);
    if (piece == pieces_.begin()) {
        return pieces_.end();
    }
    --piece;
    return address < piece->second.end ? piece : pieces_.end();
}

uint32_t DeviceReplay::segment_at(uint64_t address) const {
    const auto piece = piece_covering(address);
    return piece == pieces_.end() ? no_segment : piece->second.position;
}

// Expandable memory may go back in other portions than it came, but only in whole pieces: a row for each.
void DeviceReplay::add_pieces(uint64_t address, uint64_t size, const SegmentOwner& owner, EventNumber event,
                              const AllocatorEvent& cause) {
    Segment segment;
    segment.size = piece_size(size, owner);
    segment.alloc_event = event;
    segment.stream = owner.stream;
    segment.pool = owner.pool;
    segment.pool_known = cause.pool_known;
    segment.is_large = owner.is_large;
    segment.is_expandable = owner.is_expandable;
    segment.stack = cause.stack;
    for (uint64_t at = address; at < address + size; at += segment.size) {
        segment.address = at;
        const uint32_t position = writer_.segment_added(device_, segment, cause.time);
        pieces_[at] = {at + segment.size, owner, position};
        segment_changes_.push_back(
            {true, event == before_history ? before_all_times : cause.time, at, segment.size, position});
    }
}

bool DeviceReplay::remove_pieces(uint64_t address, uint64_t size, EventNumber event, int64_t time, StackId stack) {
    bool any = false;
    for (auto piece = pieces_.lower_bound(address); piece != pieces_.end() && piece->second.end <= address + size;) {
        writer_.segment_removed(device_, piece->second.position, event, time, stack);
        segment_changes_.push_back(
            {false, time, piece->first, piece->second.end - piece->first, piece->second.position});
        piece = pieces_.erase(piece);
        any = true;
    }
    return any;
}

int64_t DeviceReplay::reserved_bytes() const {
    return map_.counters().at(Metric::reserved_bytes, PoolKind::all).current;
}

std::optional<StateDifference> DeviceReplay::compare(const AllocatorState& reported) const {
    const auto now = static_cast<uint64_t>(next_);
    if (reported.events_before > now || now - reported.events_before > recent_.size()) {
        return std::nullopt;
    }
    AllocatorState then = AllocatorState::of(map_);
    for (auto change = recent_.rbegin(); change != recent_.rbegin() + static_cast<ptrdiff_t>(now - reported.events_before);
         ++change) {
        undo(then, *change);
    }
    return difference(reported, then);
}

void DeviceReplay::adopt(const AllocatorState& reported) {
    BlockMap map(settings_);
    set_up(map, reported);
    redo(map, reported.events_before);
    map_ = std::move(map);
    const AllocatorState now = AllocatorState::of(map_);
    repair_segments(now);
    repair_lifetimes(now);
    recent_.clear();
}

void DeviceReplay::redo(BlockMap& map, uint64_t from) const {
    const auto changes = static_cast<ptrdiff_t>(static_cast<uint64_t>(next_) - from);
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

std::pair<EventNumber, int64_t> DeviceReplay::lost_time_point(EventNumber after) {
    for (LostEvents& lost : lost_) {
        if (lost.next < lost.end && lost.next > after) {
            return {lost.next++, lost.time};
        }
    }
    return {std::max(0, next_ - 1), last_time_};
}

void DeviceReplay::repair_segments(const AllocatorState& now) {
    const auto belongs = [&](uint64_t address, const Piece& piece) {
        const auto above = now.segments.upper_bound(address);
        if (above == now.segments.begin()) {
            return false;
        }
        const auto& [start, segment] = *std::prev(above);
        return piece.end <= start + segment.size && piece.owner == segment.owner;
    };
    for (auto piece = pieces_.begin(); piece != pieces_.end();) {
        const auto next = std::next(piece);
        if (!belongs(piece->first, piece->second)) {
            const auto [event, time] = lost_time_point(before_history);
            remove_pieces(piece->first, piece->second.end - piece->first, event, time, 0);
        }
        piece = next;
    }
    // What no row tells of. Rows of segments come by rising event, so these arrive with the last one.
    AllocatorEvent cause;
    cause.time = last_time_;
    for (const auto& [start, segment] : now.segments) {
        const uint64_t end = start + segment.size;
        for (uint64_t at = start; at < end;) {
            const auto piece = pieces_.lower_bound(at);
            const uint64_t covered_from = piece == pieces_.end() ? end : std::min(piece->first, end);
            if (at < covered_from) {
                add_pieces(at, covered_from - at, segment.owner, std::max(0, next_ - 1), cause);
            }
            at = piece == pieces_.end() || piece->first >= end ? end : piece->second.end;
        }
    }
}

void DeviceReplay::repair_lifetimes(const AllocatorState& now) {
    for (auto lifetime = lifetimes_.begin(); lifetime != lifetimes_.end();) {
        const auto block = now.blocks.find(lifetime->first);
        if (block != now.blocks.end() && block->second.requested == lifetime->second.requested &&
            block->second.size == lifetime->second.size && (block->second.is_pending || !lifetime->second.is_pending)) {
            if (block->second.is_pending && !lifetime->second.is_pending) {
                const auto [event, time] = lost_time_point(writer_.alloc_event(lifetime->second.id));
                writer_.free_requested(lifetime->second.id, event, time, 0);
                lifetime->second.is_pending = true;
            }
            ++lifetime;
            continue;
        }
        if (!lifetime->second.is_pending) {
            const auto [event, time] = lost_time_point(writer_.alloc_event(lifetime->second.id));
            writer_.free_requested(lifetime->second.id, event, time, 0);
        }
        const auto [event, time] = lost_time_point(writer_.free_event(lifetime->second.id));
        end_lifetime(lifetime->first, lifetime->second, event, time);
        lifetime = lifetimes_.erase(lifetime);
    }
    for (const auto& [address, block] : now.blocks) {
        if (lifetimes_.contains(address) || !has_lost_time_point()) {
            continue;  // without a lost event there is no moment it could have been born at: its free has no row
        }
        const auto [event, time] = lost_time_point(before_history);
        AllocationRow row;
        row.time = time;
        row.lifetime.alloc_event = event;
        row.lifetime.address = address;
        row.lifetime.requested = block.requested;
        row.lifetime.block_size = block.size;
        row.lifetime.segment = segment_at(address);
        const auto id = writer_.created(device_, row);
        if (block.is_pending) {
            const auto [freed, free_time] = lost_time_point(event);
            writer_.free_requested(id, freed, free_time, 0);
        }
        lifetimes_[address] = {id, block.requested, block.size, block.is_pending};
    }
}

}  // namespace tidemark::recorder
