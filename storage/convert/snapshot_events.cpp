// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/convert/snapshot_events.h"

#include <algorithm>
#include <utility>

#include "storage/replay/time_point.h"

namespace tidemark {
namespace {

constexpr uint64_t default_stream = 0;

/// A change of the memory that the allocator has from the driver. The pieces of expandable memory that one event maps
/// or unmaps are contiguous.
struct DriverChange {
    uint64_t address = 0, size = 0;

    void add(const Segment& piece) {
        address = size == 0 ? piece.address : std::min(address, piece.address);
        size += piece.size;
    }
};

/// The events of one device.
class EventWriter {
public:
    EventWriter(const Trace& trace, const DeviceHistory& device, PickleWriter& pickle, SnapshotParts& parts)
        : trace_(trace), device_(device), has_times_(has_times(trace, device)), pickle_(pickle), parts_(parts) {
        for (const Segment& piece : device.segments) {
            arrivals_[piece.alloc_event].add(piece);
            returns_[piece.free_event].add(piece);
        }
    }

    void write() {
        pickle_.begin_list();
        for (EventNumber event = 0; event < device_.event_count(); ++event) {
            pickle_.begin_dict();
            write_event(event);
            if (has_times_) {
                parts_.time(device_.event_time[static_cast<size_t>(event)]);
            }
            pickle_.end_dict();
            pickle_.end_item();
        }
        pickle_.end_list();
    }

private:
    void write_event(EventNumber event) {
        const EventRef ref = device_.event_ref[static_cast<size_t>(event)];
        switch (ref.action()) {
            case Action::alloc:
            case Action::free_requested:
            case Action::free_completed: write_allocation(ref.action(), ref.index()); return;
            case Action::segment_alloc:
            case Action::segment_map: {
                const Segment& segment = device_.segments[ref.index()];
                write_segment(ref.action(), change_at(arrivals_, event, segment), segment, segment.stack);
                return;
            }
            case Action::segment_free:
            case Action::segment_unmap: {
                const Segment& segment = device_.segments[ref.index()];
                write_segment(ref.action(), change_at(returns_, event, segment), segment, segment.free_stack);
                return;
            }
            default: write_other(device_.others[ref.index()]); return;
        }
    }

    using Changes = std::unordered_map<EventNumber, DriverChange>;

    /// Returns the change of an event, which in a damaged file may not be that of the segment.
    static DriverChange change_at(const Changes& changes, EventNumber event, const Segment& segment) {
        const auto found = changes.find(event);
        return found == changes.end() ? DriverChange{segment.address, segment.size} : found->second;
    }

    void write_allocation(Action action, AllocationIndex a) {
        const Allocations& all = device_.allocations;
        write_place(action_name(action), "addr", all.address[a], all.requested[a]);
        if (all.segment[a] != no_segment) {
            write_owner(device_.segments[all.segment[a]]);
        } else {
            parts_.stream(default_stream);
        }
        if (action == Action::alloc) {
            write_origin(all.origin[a]);
        }
        parts_.frames(action == Action::alloc ? all.stack[a] : all.free_stack[a]);
    }

    void write_segment(Action action, const DriverChange& change, const Segment& segment, StackId stack) {
        write_place(action_name(action), "addr", change.address, change.size);
        write_owner(segment);
        parts_.frames(stack);
    }

    void write_other(const OtherEvent& other) {
        write_place(other.name, other.action == Action::oom ? "device_free" : "addr", other.address, other.size);
        parts_.stream(default_stream);
        write_origin(other.origin);
        if (other.stack != 0) {
            parts_.frames(other.stack);
        }
    }

    void write_place(std::string_view action, const char* address_key, uint64_t address, uint64_t size) {
        pickle_.word("action");
        pickle_.word(action);
        pickle_.word(address_key);
        pickle_.unsigned_integer(address);
        pickle_.word("size");
        pickle_.unsigned_integer(size);
    }

    void write_owner(const Segment& segment) {
        parts_.stream_of(segment);
        if (segment.pool_known) {
            parts_.pool("pool_id", segment.pool);
        }
    }

    void write_origin(uint32_t index) {
        const Origin& origin = trace_.origins[index];
        for (const auto& [key, value] : {std::pair("compile_context", &origin.compile_context),
                                         std::pair("user_metadata", &origin.user_metadata)}) {
            if (!value->empty()) {
                pickle_.word(key);
                pickle_.word(*value);
            }
        }
    }

    const Trace& trace_;
    const DeviceHistory& device_;
    const bool has_times_;
    PickleWriter& pickle_;
    SnapshotParts& parts_;
    Changes arrivals_, returns_;
};

}  // namespace

void write_snapshot_events(const Trace& trace, const DeviceHistory& device, PickleWriter& pickle,
                           SnapshotParts& parts) {
    EventWriter(trace, device, pickle, parts).write();
}

}  // namespace tidemark
