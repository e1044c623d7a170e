// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/derive_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "storage/base/units.h"
#include "storage/import/history_columns.h"
#include "storage/import/history_start.h"

namespace tidemark {

namespace {

class Derivation {
public:
    Derivation(const Snapshot& snapshot, int device, int64_t zero_us, std::vector<DataGap>& data_gaps)
        : snapshot_(snapshot),
          zero_us_(zero_us),
          data_gaps_(data_gaps),
          settings_(AllocatorSettings::from_text(snapshot.settings)) {
        if (static_cast<size_t>(device) < snapshot.traces.size()) {
            source_.events = snapshot.traces[static_cast<size_t>(device)];
        }
        for (const SnapshotSegment& segment : snapshot.segments) {
            if (segment.device == device) {
                source_.final_segments.push_back(&segment);
            }
        }
        segments_by_address_ = source_.final_segments;
        std::stable_sort(segments_by_address_.begin(), segments_by_address_.end(),
                         [](const SnapshotSegment* a, const SnapshotSegment* b) { return a->address < b->address; });
        source_.has_private_pools = snapshot.pools.size() > 1;
        history_.device = device;
    }

    DeviceHistory run() {
        set_times();
        const HistoryStart start = find_history_start(source_, settings_);
        history_.truncated = !start.segments.empty() || !start.blocks.empty();
        HistoryColumns columns(history_);
        EventFolder folder(settings_, columns);
        folder.start(start.segments, start.blocks);
        for (size_t i = 0; i < source_.events.size(); ++i) {
            folder.apply(event_of(i));
        }
        columns.finish();
        take_stacks_of_final_blocks();
        report_data_gaps(start, folder);
        return std::move(history_);
    }

private:
    void set_times();
    AllocatorEvent event_of(size_t i) const;
    std::optional<SegmentOwner> reported_owner(const SnapshotEvent& event) const;
    int64_t blocks_that_differ_at_end(const BlockMap& map) const;
    void take_stacks_of_final_blocks();
    void report_data_gaps(const HistoryStart& start, const EventFolder& folder);
    void report(DataGapKind kind, DataGapReason reason, int64_t count, int64_t bytes = 0,
                DataGapArguments arguments = {}) {
        data_gaps_.push_back(
            {kind, history_.device, history_.time_of_state(0), count, bytes, reason, std::move(arguments), {}});
    }

    const Snapshot& snapshot_;
    const int64_t zero_us_;
    std::vector<DataGap>& data_gaps_;
    const AllocatorSettings settings_;
    DeviceSnapshot source_;
    std::vector<const SnapshotSegment*> segments_by_address_;
    DeviceHistory history_;
};

void Derivation::set_times() {
    const auto& events = source_.events;
    history_.event_time.resize(events.size());
    const auto has_time = [](const SnapshotEvent& event) { return event.time_us != no_time; };
    const auto first = std::find_if(events.begin(), events.end(), has_time);
    const bool any_time = first != events.end();
    const auto timeless = static_cast<int64_t>(events.size()) - std::count_if(first, events.end(), has_time);
    int64_t last = any_time ? trace_time(first->time_us, zero_us_) : 0;
    for (size_t i = 0; i < events.size(); ++i) {
        const int64_t time = !any_time             ? static_cast<int64_t>(i) * 1000
                             : has_time(events[i]) ? trace_time(events[i].time_us, zero_us_)
                                                   : last;
        last = std::max(last, time);
        history_.event_time[i] = last;
    }
    if (timeless > 0) {
        report(DataGapKind::no_times, any_time ? DataGapReason::clock_error : DataGapReason::no_times, timeless);
    }
}

AllocatorEvent Derivation::event_of(size_t i) const {
    const SnapshotEvent& event = source_.events[i];
    AllocatorEvent result;
    result.action = event.action;
    if (event.action == Action::unknown) {
        result.unknown_name = snapshot_.unknown_actions[event.unknown_action];
    }
    result.time = history_.event_time[i];
    result.address = event.address;
    result.size = event.size;
    result.stream = event.stream;
    result.pool = event.pool == pool_not_recorded ? 0 : event.pool;
    result.pool_known = is_pool_known(source_, event);
    result.stack = event.stack;
    result.origin = event.context;
    if (event.action == Action::segment_alloc || event.action == Action::segment_map) {
        result.reported_owner = reported_owner(event);
    }
    return result;
}

/// Returns the owner of a segment that still exists at the end, because the final state contains it. If its address was
/// returned to the driver and reused, the final state contains only the last segment.
std::optional<SegmentOwner> Derivation::reported_owner(const SnapshotEvent& event) const {
    const auto after =
        std::upper_bound(segments_by_address_.begin(), segments_by_address_.end(), event.address,
                         [](uint64_t address, const SnapshotSegment* segment) { return address < segment->address; });
    if (after == segments_by_address_.begin()) {
        return std::nullopt;
    }
    const SnapshotSegment& segment = **std::prev(after);
    if (event.address - segment.address >= segment.total_size ||
        (!segment.is_expandable && segment.total_size != event.size)) {
        return std::nullopt;
    }
    return SegmentOwner{segment.stream, segment.pool, segment.is_large, event.action == Action::segment_map};
}

int64_t Derivation::blocks_that_differ_at_end(const BlockMap& map) const {
    if (source_.final_segments.empty()) {
        return 0;
    }
    std::unordered_map<uint64_t, std::pair<uint64_t, BlockState>> reported;
    for (const SnapshotSegment* segment : source_.final_segments) {
        for (const SnapshotBlock& block : segment->blocks) {
            reported[block.address] = {block.size, block.state};
        }
    }
    int64_t differing = 0;
    map.for_each_range([&](uint64_t, uint64_t, const SegmentOwner&, const std::vector<BlockMap::BlockView>& blocks) {
        for (const BlockMap::BlockView& block : blocks) {
            const auto found = reported.find(block.address);
            const BlockState state = block.state == BlockMap::State::free        ? BlockState::inactive
                                     : block.state == BlockMap::State::allocated ? BlockState::allocated
                                                                                 : BlockState::pending_free;
            differing += found == reported.end() || found->second != std::pair(block.size, state);
        }
    });
    return differing;
}

/// With context="state", PyTorch records stacks for the blocks of the final state, and none for events.
void Derivation::take_stacks_of_final_blocks() {
    std::unordered_map<uint64_t, StackId> stacks;
    for (const SnapshotSegment* segment : source_.final_segments) {
        for (const SnapshotBlock& block : segment->blocks) {
            if (block.state != BlockState::inactive && block.stack != 0) {
                stacks.emplace(block.address, block.stack);
            }
        }
    }
    Allocations& allocations = history_.allocations;
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        if (allocations.stack[a] == 0 && allocations.free_completed[a] == never) {
            const auto found = stacks.find(allocations.address[a]);
            allocations.stack[a] = found == stacks.end() ? 0 : found->second;
        }
    }
}

void Derivation::report_data_gaps(const HistoryStart& start, const EventFolder& folder) {
    const Allocations& allocations = history_.allocations;
    int64_t bare = 0, bare_bytes = 0, all_bytes = 0, earlier = 0, earlier_bytes = 0, in_history = 0;
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        const auto requested = static_cast<int64_t>(allocations.requested[a]);
        const bool is_bare = allocations.stack[a] == 0, is_earlier = allocations.alloc_event[a] == before_history;
        all_bytes += requested;
        bare += is_bare;
        bare_bytes += is_bare ? requested : 0;
        earlier += is_bare && is_earlier;
        earlier_bytes += is_bare && is_earlier ? requested : 0;
        in_history += !is_earlier;
    }
    const auto start_blocks = static_cast<int64_t>(start.blocks.size());
    const int64_t guessed = start.guessed_blocks;
    const int64_t inconsistent = start.inconsistent + folder.inconsistent() + blocks_that_differ_at_end(folder.map());
    if (history_.truncated) {
        report(DataGapKind::history_truncated, DataGapReason::late_start, start_blocks, 0,
               {{"allocations", std::to_string(in_history)}});
    }
    if (guessed > 0) {
        report(DataGapKind::block_size_guessed, DataGapReason::size_before_history, guessed, start.guessed_bytes);
    }
    if (inconsistent > 0) {
        report(DataGapKind::events_inconsistent, DataGapReason::contradicting_events, inconsistent);
    }
    if (folder.unknown_actions() > 0) {
        report(DataGapKind::unknown_actions, DataGapReason::unknown_actions, folder.unknown_actions());
    }
    if (folder.unknown_pools() > 0) {
        report(DataGapKind::pool_unknown, DataGapReason::pool_not_in_history, folder.unknown_pools());
    }
    if (bare > 0 && all_bytes > 0) {
        report(DataGapKind::no_stacks, DataGapReason::no_stacks, bare, bare_bytes,
               {{"allocations", std::to_string(allocations.size())},
                {"requested_bytes", std::to_string(all_bytes)},
                {"earlier", std::to_string(earlier)},
                {"earlier_bytes", std::to_string(earlier_bytes)}});
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
