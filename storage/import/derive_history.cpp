#include "storage/import/derive_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

#include "storage/allocator/block_map.h"
#include "storage/base/units.h"

namespace tidemark {

namespace {

constexpr uint32_t nothing = UINT32_MAX;

/// One allocation while its story is put together; its block size is 0 until known.
using Lifetime = Allocation;

/// Memory from the driver while the order of events is still being walked.
struct Piece {
    uint64_t end = 0;
    SegmentOwner owner;
    bool pool_known = true;
    StackId stack = 0;
    uint32_t segment = no_segment;  ///< index in the history, once it has one
};
using Pieces = std::map<uint64_t, Piece>;

Pieces::iterator piece_covering(Pieces& pieces, uint64_t address) {
    auto piece = pieces.upper_bound(address);
    if (piece == pieces.begin()) {
        return pieces.end();
    }
    --piece;
    return address < piece->second.end ? piece : pieces.end();
}

class Derivation {
public:
    Derivation(const Snapshot& snapshot, int device, int64_t zero_us, std::vector<DataGap>& data_gaps)
        : snapshot_(snapshot),
          device_(device),
          zero_us_(zero_us),
          data_gaps_(data_gaps),
          settings_(AllocatorSettings::from_text(snapshot.settings)) {
        if (static_cast<size_t>(device) < snapshot.traces.size()) {
            events_ = snapshot.traces[static_cast<size_t>(device)];
        }
        for (const SnapshotSegment& segment : snapshot.segments) {
            if (segment.device == device) {
                final_segments_.push_back(&segment);
            }
        }
        history_.device = device;
    }

    DeviceHistory run() {
        set_times();
        pair_events();
        match_final_blocks();
        order_lifetimes();
        find_start_segments();
        size_start_blocks();
        walk();
        compare_with_end();
        fill_columns();
        report_data_gaps();
        return std::move(history_);
    }

private:
    void set_times();
    void pair_events();
    void pair_alloc(EventNumber i);
    void pair_free_request(EventNumber i);
    void pair_free_completion(EventNumber i);
    void match_final_blocks();
    void order_lifetimes();
    SegmentOwner owner_of_event(EventNumber i, bool& pool_known) const;
    void find_start_segments();
    void size_start_blocks();
    void walk();
    void walk_event(EventNumber i);
    void keep_as_other(EventNumber i);
    void walk_segment_arrival(EventNumber i);
    void walk_segment_return(EventNumber i);
    uint32_t add_segment(uint64_t address, const Piece& piece, EventNumber alloc_event);
    void compare_with_end();
    void fill_columns();
    void report_data_gaps();
    void lose(DataGapKind kind, DataGapReason reason, int64_t count, int64_t bytes = 0) {
        data_gaps_.push_back({kind, device_, history_.time_of_state(0), count, bytes, reason, {}, {}});
    }

    const Snapshot& snapshot_;
    const int device_;
    const int64_t zero_us_;
    std::vector<DataGap>& data_gaps_;
    const AllocatorSettings settings_;
    std::span<const SnapshotEvent> events_;
    std::vector<const SnapshotSegment*> final_segments_;

    DeviceHistory history_;
    std::vector<Lifetime> before_;     ///< alive before event 0
    uint32_t start_lifetimes_ = 0;     ///< how many of lives_ are from before the history, once ordered
    std::vector<Lifetime> lifetimes_;  ///< first of the trace's own; after order_lives: before_, then own
    std::vector<uint32_t>
        lifetime_of_event_;  ///< for alloc and free events; before_ lives are counted down from the top
    std::unordered_map<uint64_t, uint32_t> open_;  ///< address -> life not completed yet
    Pieces pieces_;
    BlockMap map_{settings_};
    int64_t inconsistent_ = 0, guessed_ = 0, guessed_bytes_ = 0, unknown_ = 0, pools_unknown_ = 0;
};

// Lives from before the history are numbered from the top while both lists grow.
constexpr uint32_t before_tag = 0x80000000u;

void Derivation::set_times() {
    history_.event_time.resize(events_.size());
    history_.event_ref.resize(events_.size());
    lifetime_of_event_.assign(events_.size(), nothing);
    bool any_time = false;
    for (const SnapshotEvent& event : events_) {
        any_time |= event.time_us != no_time;
    }
    int64_t last = 0;
    for (size_t i = 0; i < events_.size(); ++i) {
        const int64_t time = any_time
                                 ? (events_[i].time_us == no_time ? last : trace_time(events_[i].time_us, zero_us_))
                                 : static_cast<int64_t>(i) * 1000;
        last = i == 0 ? time : std::max(last, time);
        history_.event_time[i] = last;
    }
    if (!any_time && !events_.empty()) {
        lose(DataGapKind::no_times, DataGapReason::no_times, static_cast<int64_t>(events_.size()));
    }
}

void Derivation::pair_events() {
    open_.reserve(1 << 14);
    for (EventNumber i = 0; i < static_cast<EventNumber>(events_.size()); ++i) {
        switch (events_[static_cast<size_t>(i)].action) {
            case Action::alloc: pair_alloc(i); break;
            case Action::free_requested: pair_free_request(i); break;
            case Action::free_completed: pair_free_completion(i); break;
            default: break;
        }
    }
}

void Derivation::pair_alloc(EventNumber i) {
    const SnapshotEvent& event = events_[static_cast<size_t>(i)];
    const auto [slot, is_new] = open_.try_emplace(event.address, nothing);
    if (!is_new) {
        // Its free was never reported; the address is in new hands, so it must have happened by now.
        Lifetime& lost = slot->second & before_tag ? before_[slot->second & ~before_tag] : lifetimes_[slot->second];
        lost.free_event = std::min(lost.free_event, i);
        lost.free_completed = i;
        ++inconsistent_;
    }
    slot->second = static_cast<uint32_t>(lifetimes_.size());
    lifetime_of_event_[static_cast<size_t>(i)] = slot->second;
    Lifetime lifetime;
    lifetime.address = event.address;
    lifetime.requested = event.size;
    lifetime.alloc_event = i;
    lifetime.stack = event.stack;
    lifetime.origin = event.context;
    lifetimes_.push_back(lifetime);
}

void Derivation::pair_free_request(EventNumber i) {
    const SnapshotEvent& event = events_[static_cast<size_t>(i)];
    const auto [slot, is_new] = open_.try_emplace(event.address, nothing);
    if (is_new) {
        slot->second = before_tag | static_cast<uint32_t>(before_.size());
        Lifetime lifetime;
        lifetime.address = event.address;
        lifetime.requested = event.size;
        before_.push_back(lifetime);
    }
    Lifetime& lifetime = slot->second & before_tag ? before_[slot->second & ~before_tag] : lifetimes_[slot->second];
    inconsistent_ += lifetime.free_event != never;
    lifetime.free_event = i;
    lifetime.free_stack = event.stack;
    lifetime_of_event_[static_cast<size_t>(i)] = slot->second;
}

void Derivation::pair_free_completion(EventNumber i) {
    const SnapshotEvent& event = events_[static_cast<size_t>(i)];
    const auto [slot, is_new] = open_.try_emplace(event.address, nothing);
    if (is_new) {
        // Freed before the history began, and was still waiting for a stream.
        slot->second = before_tag | static_cast<uint32_t>(before_.size());
        Lifetime lifetime;
        lifetime.address = event.address;
        lifetime.requested = event.size;
        lifetime.free_event = before_history;
        before_.push_back(lifetime);
    }
    Lifetime& lifetime = slot->second & before_tag ? before_[slot->second & ~before_tag] : lifetimes_[slot->second];
    if (lifetime.free_event == never) {
        lifetime.free_event = i;
        ++inconsistent_;
    }
    lifetime.free_completed = i;
    lifetime_of_event_[static_cast<size_t>(i)] = slot->second;
    open_.erase(slot);
}

void Derivation::match_final_blocks() {
    for (const SnapshotSegment* segment : final_segments_) {
        for (const SnapshotBlock& block : segment->blocks) {
            if (block.state == BlockState::inactive) {
                continue;
            }
            const auto found = open_.find(block.address);
            if (found != open_.end()) {
                if (found->second & before_tag) {
                    before_[found->second & ~before_tag].block_size = block.size;
                }
                open_.erase(found);
                continue;
            }
            Lifetime lifetime;
            lifetime.address = block.address;
            lifetime.requested = block.requested;
            lifetime.block_size = block.size;
            lifetime.stack = block.stack;
            lifetime.free_event = block.state == BlockState::pending_free ? before_history : never;
            before_.push_back(lifetime);
        }
    }
    if (!final_segments_.empty()) {
        // Events say these live, the state at the end does not: freed between the two copies PyTorch takes.
        inconsistent_ += static_cast<int64_t>(open_.size());
    }
    open_.clear();
}

void Derivation::order_lifetimes() {
    const uint32_t count = static_cast<uint32_t>(before_.size());
    std::vector<uint32_t> order(count), place(count);
    for (uint32_t k = 0; k < count; ++k) {
        order[k] = k;
    }
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return before_[a].address < before_[b].address; });
    std::vector<Lifetime> sorted;
    sorted.reserve(count + lifetimes_.size());
    for (uint32_t k = 0; k < count; ++k) {
        place[order[k]] = k;
        sorted.push_back(before_[order[k]]);
    }
    sorted.insert(sorted.end(), lifetimes_.begin(), lifetimes_.end());
    lifetimes_ = std::move(sorted);
    before_ = {};
    for (uint32_t& lifetime : lifetime_of_event_) {
        if (lifetime != nothing) {
            lifetime = lifetime & before_tag ? place[lifetime & ~before_tag] : lifetime + count;
        }
    }
    start_lifetimes_ = count;
    history_.truncated = count > 0;
}

SegmentOwner Derivation::owner_of_event(EventNumber i, bool& pool_known) const {
    const SnapshotEvent& event = events_[static_cast<size_t>(i)];
    const bool is_expandable = event.action == Action::segment_map || event.action == Action::segment_unmap;
    SegmentOwner owner{event.stream, 0, event.size > small_segment, is_expandable};
    pool_known = event.pool != pool_not_recorded || snapshot_.pools.size() == 1;
    if (event.pool != pool_not_recorded) {
        owner.pool = event.pool;
    }
    if (event.action == Action::segment_map) {
        // Memory is mapped for the very next allocation; its size tells the pool.
        for (size_t k = static_cast<size_t>(i); k < events_.size(); ++k) {
            if (events_[k].action == Action::alloc) {
                owner.is_large = round_size(settings_, events_[k].size) > small_size;
                break;
            }
        }
    } else if (event.action == Action::segment_unmap) {
        owner.is_large = event.size % (20 << 20) == 0;
    }
    return owner;
}

void Derivation::find_start_segments() {
    for (const SnapshotSegment* s : final_segments_) {
        pieces_[s->address] = {s->address + s->total_size,
                               {s->stream, s->pool, s->is_large, s->is_expandable},
                               true,
                               s->stack,
                               no_segment};
    }
    for (EventNumber i = static_cast<EventNumber>(events_.size()); i-- > 0;) {
        const SnapshotEvent& event = events_[static_cast<size_t>(i)];
        if (event.action == Action::segment_alloc || event.action == Action::segment_map) {
            auto piece = piece_covering(pieces_, event.address);
            if (piece == pieces_.end() || piece->second.end < event.address + event.size) {
                continue;
            }
            const Piece whole = piece->second;
            const uint64_t start = piece->first, end = event.address + event.size;
            pieces_.erase(piece);
            if (start < event.address) {
                pieces_[start] = whole;
                pieces_[start].end = event.address;
            }
            if (end < whole.end) {
                pieces_[end] = whole;
            }
        } else if (event.action == Action::segment_free || event.action == Action::segment_unmap) {
            if (piece_covering(pieces_, event.address) == pieces_.end()) {
                Piece piece;
                piece.end = event.address + event.size;
                piece.owner = owner_of_event(i, piece.pool_known);
                pieces_[event.address] = piece;
            }
        }
    }
    history_.truncated |= !pieces_.empty();
}

// Whoever was there before the history and is freed in it has a known request, but its block may be larger. In the
// small pool and in expandable memory blocks are always split, so the rounded request is exact. In the large pool up to
// 1 MiB may have been left on: certain if the next block is that near; else the first allocation from the free memory
// behind it starts exactly where it ends.
void Derivation::size_start_blocks() {
    struct Open {
        uint64_t end;
        uint32_t lifetime;
    };
    std::map<uint64_t, Open> unsure;
    const uint32_t count = start_lifetimes_;
    for (uint32_t k = 0; k < count; ++k) {
        Lifetime& lifetime = lifetimes_[k];
        if (lifetime.block_size != 0) {
            continue;
        }
        const uint64_t rounded = round_size(settings_, lifetime.requested);
        lifetime.block_size = rounded;
        const auto piece = piece_covering(pieces_, lifetime.address);
        if (piece == pieces_.end()) {
            ++inconsistent_;
            continue;
        }
        uint64_t end = piece->second.end;
        if (k + 1 < count) {
            end = std::min(end, std::max(lifetimes_[k + 1].address, lifetime.address));
        }
        const uint64_t room = end - lifetime.address;
        if (room < rounded) {
            lifetime.block_size = std::max(room, min_block_size);
            ++inconsistent_;
        } else if (room > rounded && !should_split(settings_, rounded, room - rounded, piece->second.owner.is_large,
                                                   piece->second.owner.is_expandable)) {
            lifetime.block_size = room;
        } else if (room > rounded && piece->second.owner.is_large && !piece->second.owner.is_expandable) {
            unsure[lifetime.address] = {end, k};
        }
    }
    for (EventNumber i = 0; i < static_cast<EventNumber>(events_.size()) && !unsure.empty(); ++i) {
        const SnapshotEvent& event = events_[static_cast<size_t>(i)];
        const bool completes = event.action == Action::free_completed;
        if (event.action != Action::alloc && !completes) {
            continue;
        }
        auto open = unsure.upper_bound(event.address);
        if (open == unsure.begin()) {
            continue;
        }
        --open;
        Lifetime& lifetime = lifetimes_[open->second.lifetime];
        if (completes && event.address == open->first) {
            ++guessed_;
            guessed_bytes_ += static_cast<int64_t>(small_size);
            unsure.erase(open);
        } else if (!completes && event.address > open->first && event.address < open->second.end) {
            const uint64_t size = event.address - open->first;
            if (size >= lifetime.block_size && size <= lifetime.block_size + small_size) {
                lifetime.block_size = size;
            } else {
                ++guessed_;
            }
            unsure.erase(open);
        }
    }
}

uint32_t Derivation::add_segment(uint64_t address, const Piece& piece, EventNumber alloc_event) {
    Segment segment;
    segment.address = address;
    segment.size = piece.end - address;
    segment.alloc_event = alloc_event;
    segment.stream = piece.owner.stream;
    segment.pool = piece.owner.pool;
    segment.is_large = piece.owner.is_large;
    segment.is_expandable = piece.owner.is_expandable;
    segment.pool_known = piece.pool_known;
    segment.stack = piece.stack;
    history_.segments.push_back(segment);
    return static_cast<uint32_t>(history_.segments.size() - 1);
}

void Derivation::walk() {
    for (auto& [address, piece] : pieces_) {
        if (!map_.add_segment(address, piece.end - address, piece.owner)) {
            ++inconsistent_;
        }
        piece.segment = add_segment(address, piece, before_history);
    }
    // From the top down, so that what is left free always lies in front.
    for (size_t k = start_lifetimes_; k-- > 0;) {
        Lifetime& lifetime = lifetimes_[k];
        if (!map_.place(lifetime.address, lifetime.requested, lifetime.block_size,
                        lifetime.free_event == before_history)) {
            ++inconsistent_;
        }
        const auto piece = piece_covering(pieces_, lifetime.address);
        lifetime.segment = piece == pieces_.end() ? no_segment : piece->second.segment;
    }
    map_.restart_counters();
    for (EventNumber i = 0; i < static_cast<EventNumber>(events_.size()); ++i) {
        walk_event(i);
    }
}

void Derivation::walk_event(EventNumber i) {
    const SnapshotEvent& event = events_[static_cast<size_t>(i)];
    switch (event.action) {
        case Action::alloc: {
            Lifetime& lifetime = lifetimes_[lifetime_of_event_[static_cast<size_t>(i)]];
            const auto placed = map_.allocate(event.address, event.size);
            inconsistent_ += !placed.consistent;
            lifetime.block_size = placed.size != 0 ? placed.size : round_size(settings_, event.size);
            const auto piece = piece_covering(pieces_, event.address);
            lifetime.segment = piece == pieces_.end() ? no_segment : piece->second.segment;
            break;
        }
        case Action::free_requested: inconsistent_ += !map_.request_free(event.address); break;
        case Action::free_completed: inconsistent_ += !map_.complete_free(event.address); break;
        case Action::segment_alloc:
        case Action::segment_map: walk_segment_arrival(i); return;
        case Action::segment_free:
        case Action::segment_unmap: walk_segment_return(i); return;
        default:
            unknown_ += event.action == Action::unknown;
            keep_as_other(i);
            return;
    }
    history_.event_ref[static_cast<size_t>(i)] = EventRef(event.action, lifetime_of_event_[static_cast<size_t>(i)]);
}

/// Snapshots, OOMs, unknown actions, and segment actions that name no segment: kept under their name.
void Derivation::keep_as_other(EventNumber i) {
    const SnapshotEvent& event = events_[static_cast<size_t>(i)];
    const bool understood = event.action == Action::snapshot || event.action == Action::oom;
    OtherEvent other;
    other.event = i;
    other.action = understood ? event.action : Action::unknown;
    other.name = event.action == Action::unknown ? snapshot_.unknown_actions[event.unknown_action]
                                                 : std::string(action_name(event.action));
    other.address = event.address;
    other.size = event.size;
    other.stack = event.stack;
    history_.event_ref[static_cast<size_t>(i)] = EventRef(other.action, static_cast<uint32_t>(history_.others.size()));
    history_.others.push_back(std::move(other));
}

void Derivation::walk_segment_arrival(EventNumber i) {
    const SnapshotEvent& event = events_[static_cast<size_t>(i)];
    Piece piece;
    piece.end = event.address + event.size;
    piece.owner = owner_of_event(i, piece.pool_known);
    piece.stack = event.stack;
    // A segment that is still there at the end is described there in full. (If the address was given back and taken
    // again, only its last life is.)
    for (const SnapshotSegment* s : final_segments_) {
        if (s->address <= event.address && event.address < s->address + s->total_size &&
            (s->is_expandable || s->total_size == event.size)) {
            piece.owner.pool = s->pool;
            piece.owner.is_large = s->is_large;
            piece.owner.stream = s->stream;
            piece.pool_known = true;
        }
    }
    inconsistent_ += !map_.add_segment(event.address, event.size, piece.owner);
    pools_unknown_ += !piece.pool_known;
    piece.segment = add_segment(event.address, piece, i);
    pieces_[event.address] = piece;
    history_.event_ref[static_cast<size_t>(i)] = EventRef(event.action, piece.segment);
}

void Derivation::walk_segment_return(EventNumber i) {
    const SnapshotEvent& event = events_[static_cast<size_t>(i)];
    if (!map_.remove_segment(event.address, event.size)) {
        ++inconsistent_;
        map_.evict(event.address, event.size);
    }
    // Expandable memory may go back in other portions than it came: cut and end every piece it covers.
    const uint64_t end = event.address + event.size;
    uint32_t last_segment = no_segment;
    for (auto piece = piece_covering(pieces_, event.address); piece != pieces_.end() && piece->first < end;) {
        const uint64_t start = piece->first;
        const Piece whole = piece->second;
        const EventNumber created = history_.segments[whole.segment].alloc_event;
        piece = pieces_.erase(piece);
        uint32_t going = whole.segment;
        if (start < event.address) {
            Piece low = whole;
            low.end = event.address;
            history_.segments[whole.segment].size = event.address - start;
            pieces_[start] = low;
            Piece middle = whole;
            middle.end = std::min(whole.end, end);
            going = add_segment(event.address, middle, created);
        }
        if (whole.end > end) {
            Piece high = whole;
            high.segment = add_segment(end, high, created);
            pieces_[end] = high;
            history_.segments[going].size = end - history_.segments[going].address;
            piece = pieces_.end();
        }
        history_.segments[going].free_event = i;
        history_.segments[going].free_stack = event.stack;
        last_segment = going;
    }
    if (last_segment == no_segment) {
        keep_as_other(i);
    } else {
        history_.event_ref[static_cast<size_t>(i)] = EventRef(event.action, last_segment);
    }
}

void Derivation::compare_with_end() {
    if (final_segments_.empty()) {
        return;
    }
    std::unordered_map<uint64_t, std::pair<uint64_t, BlockState>> reported;
    for (const SnapshotSegment* segment : final_segments_) {
        for (const SnapshotBlock& block : segment->blocks) {
            reported[block.address] = {block.size, block.state};
        }
    }
    int64_t differing = 0;
    map_.for_each_range([&](uint64_t, uint64_t, const SegmentOwner&, const std::vector<BlockMap::BlockView>& blocks) {
        for (const BlockMap::BlockView& block : blocks) {
            const auto found = reported.find(block.address);
            const BlockState state = block.state == BlockMap::State::free        ? BlockState::inactive
                                     : block.state == BlockMap::State::allocated ? BlockState::allocated
                                                                                 : BlockState::pending_free;
            differing += found == reported.end() || found->second != std::pair(block.size, state);
        }
    });
    inconsistent_ += differing;
}

void Derivation::fill_columns() {
    // Pieces of expandable memory were cut after allocations had been assigned to them.
    std::vector<uint32_t> order(history_.segments.size());
    for (uint32_t k = 0; k < order.size(); ++k) {
        order[k] = k;
    }
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return history_.segments[a].alloc_event < history_.segments[b].alloc_event;
    });
    std::vector<Segment> sorted;
    std::vector<uint32_t> place(order.size());
    std::vector<uint32_t> expandable;
    for (uint32_t k = 0; k < order.size(); ++k) {
        place[order[k]] = k;
        sorted.push_back(history_.segments[order[k]]);
        if (sorted.back().is_expandable) {
            expandable.push_back(k);
        }
    }
    history_.segments = std::move(sorted);
    for (EventRef& ref : history_.event_ref) {
        const bool of_segment = ref.action() >= Action::segment_alloc && ref.action() <= Action::segment_unmap;
        if (of_segment && ref.index() < place.size()) {
            ref = EventRef(ref.action(), place[ref.index()]);
        }
    }
    const auto piece_of = [&](const Lifetime& lifetime) {
        for (uint32_t k : expandable) {
            const Segment& s = history_.segments[k];
            if (s.address <= lifetime.address && lifetime.address < s.address + s.size &&
                s.alloc_event <= lifetime.alloc_event && lifetime.alloc_event < s.free_event) {
                return k;
            }
        }
        return no_segment;
    };
    history_.allocations.reserve(lifetimes_.size());
    for (Lifetime& lifetime : lifetimes_) {
        lifetime.segment = lifetime.segment == no_segment ? no_segment : place[lifetime.segment];
        if (lifetime.segment != no_segment && history_.segments[lifetime.segment].is_expandable) {
            lifetime.segment = piece_of(lifetime);
        }
        history_.allocations.push_back(lifetime);
    }
}

void Derivation::report_data_gaps() {
    int64_t bare = 0, bare_bytes = 0, all_bytes = 0;
    for (const Lifetime& lifetime : lifetimes_) {
        all_bytes += static_cast<int64_t>(lifetime.requested);
        if (lifetime.stack == 0) {
            bare += 1;
            bare_bytes += static_cast<int64_t>(lifetime.requested);
        }
    }
    if (history_.truncated) {
        lose(DataGapKind::history_truncated, DataGapReason::late_start, start_lifetimes_);
    }
    if (guessed_ > 0) {
        lose(DataGapKind::block_size_guessed, DataGapReason::size_before_history, guessed_, guessed_bytes_);
    }
    if (inconsistent_ > 0) {
        lose(DataGapKind::events_inconsistent, DataGapReason::contradicting_events, inconsistent_);
    }
    if (unknown_ > 0) {
        lose(DataGapKind::unknown_actions, DataGapReason::unknown_actions, unknown_);
    }
    if (pools_unknown_ > 0) {
        lose(DataGapKind::pool_unknown, DataGapReason::pool_not_in_history, pools_unknown_);
    }
    if (bare > 0 && all_bytes > 0) {
        lose(DataGapKind::no_stacks, DataGapReason::no_stacks, bare, bare_bytes);
        data_gaps_.back().arguments = {{"allocations", fmt::to_string(lifetimes_.size())},
                                       {"requested_bytes", fmt::to_string(all_bytes)}};
    }
}

}  // namespace

int64_t trace_time(int64_t time_us, int64_t zero_us) {
    constexpr int64_t limit = INT64_MAX / 2000;
    return (std::clamp(time_us, -limit, limit) - std::clamp(zero_us, -limit, limit)) * 1000;
}

DeviceHistory derive_history(const Snapshot& snapshot, int device, int64_t zero_us, std::vector<DataGap>& data_gaps) {
    return Derivation(snapshot, device, zero_us, data_gaps).run();
}

}  // namespace tidemark
