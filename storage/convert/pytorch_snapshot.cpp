// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/convert/pytorch_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <vector>

#include "storage/convert/pickle_writer.h"
#include "storage/replay/memory_state.h"

namespace tidemark {
namespace {

std::string_view state_name(BlockState state) {
    switch (state) {
        case BlockState::inactive: return "inactive";
        case BlockState::allocated: return "active_allocated";
        case BlockState::pending_free: return "active_pending_free";
    }
    return {};
}

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

/// What all parts of a snapshot refer to: stacks, streams, pools, and the clock.
class SnapshotParts {
public:
    SnapshotParts(const Trace& trace, PickleWriter& pickle) : trace_(trace), pickle_(pickle) {}

    void frames(StackId stack) {
        pickle_.word("frames");
        if (const auto known = stacks_.find(stack); known != stacks_.end()) {
            pickle_.recall(known->second);
            return;
        }
        pickle_.begin_list();
        for (const FrameId frame : trace_.stacks.frames_of(stack)) {
            write_frame(frame);
        }
        pickle_.end_list();
        stacks_[stack] = pickle_.remember();
    }
    void stream(uint64_t handle) {
        pickle_.word("stream");
        pickle_.unsigned_integer(handle);
    }
    void stream_of(const Segment& segment) { stream(trace_.streams[segment.stream].handle); }
    void pool(const char* key, uint32_t pool) {
        pickle_.word(key);
        pickle_.pair(trace_.pools[pool].owner[0], trace_.pools[pool].owner[1]);
    }
    /// `time`: ns since trace start.
    void time(int64_t time) {
        pickle_.word("time_us");
        pickle_.integer((trace_.start_utc_ns + time) / 1000);
    }

private:
    void write_frame(FrameId id) {
        if (const auto known = frames_.find(id); known != frames_.end()) {
            pickle_.recall(known->second);
            return;
        }
        const Frame& frame = trace_.stacks.frame(id);
        pickle_.begin_dict();
        pickle_.word("name");
        pickle_.word(trace_.stacks.string(frame.function));
        pickle_.word("filename");
        pickle_.word(trace_.stacks.string(frame.file));
        pickle_.word("line");
        pickle_.integer(frame.line);
        pickle_.end_dict();
        frames_[id] = pickle_.remember();
    }

    const Trace& trace_;
    PickleWriter& pickle_;
    std::unordered_map<StackId, PickleWriter::Memo> stacks_;
    std::unordered_map<FrameId, PickleWriter::Memo> frames_;
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

/// The segments of one device after its last event, as torch.cuda.memory_snapshot() describes them.
class SegmentWriter {
public:
    SegmentWriter(const DeviceHistory& device, PickleWriter& pickle, SnapshotParts& parts)
        : device_(device), pickle_(pickle), parts_(parts) {}

    void write(const SegmentState& state) {
        const Segment& segment = device_.segments[state.segment];
        pickle_.begin_dict();
        number("device", static_cast<uint64_t>(device_.device));
        number("address", state.address);
        number("total_size", state.size);
        number("allocated_size", state.allocated);
        number("active_size", state.allocated + state.pending);
        number("requested_size", state.requested);
        parts_.stream_of(segment);
        pickle_.word("segment_type");
        pickle_.word(segment.is_large ? "large" : "small");
        parts_.pool("segment_pool_id", segment.pool);
        pickle_.word("is_expandable");
        pickle_.boolean(segment.is_expandable);
        parts_.frames(segment.stack);
        pickle_.word("blocks");
        pickle_.begin_list();
        for (const Block& block : state.blocks) {
            write_block(block);
            pickle_.end_item();
        }
        pickle_.end_list();
        pickle_.end_dict();
    }

private:
    void write_block(const Block& block) {
        const bool is_active = block.allocation != no_allocation;
        pickle_.begin_dict();
        number("address", block.address);
        number("size", block.size);
        number("requested_size", is_active ? device_.allocations.requested[block.allocation] : 0);
        pickle_.word("state");
        pickle_.word(state_name(block.state));
        parts_.frames(is_active ? device_.allocations.stack[block.allocation] : 0);
        pickle_.end_dict();
    }
    void number(const char* key, uint64_t value) {
        pickle_.word(key);
        pickle_.unsigned_integer(value);
    }

    const DeviceHistory& device_;
    PickleWriter& pickle_;
    SnapshotParts& parts_;
};

/// The begin or the end of a span of time with a name.
struct Boundary {
    int64_t time = 0;
    bool is_start = false;
    int device = 0;
    std::string name;
};

/// Returns the boundaries by time. At one time, what began before ends first, and what begins and ends there follows.
std::vector<Boundary> boundaries_of(const Trace& trace) {
    std::vector<Boundary> ends, boundaries;
    const auto add = [&](const std::string& name, int device, int64_t start, std::optional<int64_t> end) {
        boundaries.push_back({start, true, device, name});
        if (end && *end > start) {
            ends.push_back({*end, false, device, name});
        } else if (end) {
            boundaries.push_back({*end, false, device, name});
        }
    };
    for (const Annotation& span : trace.annotations) {
        add(span.name, span.device, span.start, span.closed ? std::optional(span.end) : std::nullopt);
    }
    for (const Step& step : trace.steps) {
        add(fmt::format("ProfilerStep#{}", step.number), 0, step.start, step.end);
    }
    boundaries.insert(boundaries.begin(), ends.begin(), ends.end());
    std::stable_sort(boundaries.begin(), boundaries.end(),
                     [](const Boundary& a, const Boundary& b) { return a.time < b.time; });
    return boundaries;
}

void write_annotations(const Trace& trace, PickleWriter& pickle, SnapshotParts& parts) {
    pickle.begin_list();
    for (const Boundary& boundary : boundaries_of(trace)) {
        pickle.begin_dict();
        pickle.word("name");
        pickle.word(boundary.name);
        pickle.word("stage");
        pickle.word(boundary.is_start ? "START" : "END");
        pickle.word("device");
        pickle.integer(boundary.device);
        parts.time(boundary.time);
        pickle.end_dict();
        pickle.end_item();
    }
    pickle.end_list();
}

void write_traces(std::span<const Analysis* const> devices, PickleWriter& pickle, SnapshotParts& parts) {
    int last = 0;
    for (const Analysis* analysis : devices) {
        last = std::max(last, analysis->device().device);
    }
    pickle.begin_list();
    for (int device = 0; device <= last; ++device) {
        const auto found = std::find_if(devices.begin(), devices.end(), [device](const Analysis* analysis) {
            return analysis->device().device == device;
        });
        if (found != devices.end()) {
            EventWriter((*found)->trace(), (*found)->device(), pickle, parts).write();
        } else {
            pickle.begin_list();
            pickle.end_list();
        }
    }
    pickle.end_list();
}

void write_segments(std::span<const Analysis* const> devices, PickleWriter& pickle, SnapshotParts& parts) {
    pickle.begin_list();
    for (const Analysis* analysis : devices) {
        const DeviceHistory& device = analysis->device();
        SegmentWriter writer(device, pickle, parts);
        for (const SegmentState& segment : memory_state(device, analysis->live(), device.event_count()).segments) {
            writer.write(segment);
            pickle.end_item();
        }
    }
    pickle.end_list();
}

/// Returns the value of a JSON text; the text itself if it is no JSON, or nested as no setting is.
nlohmann::ordered_json setting(const std::string& text) {
    constexpr int deepest = 16;
    bool is_too_deep = false;
    const auto check = [&](int depth, nlohmann::ordered_json::parse_event_t, const nlohmann::ordered_json&) {
        is_too_deep = is_too_deep || depth > deepest;
        return !is_too_deep;
    };
    const auto value = nlohmann::ordered_json::parse(text, check, false);
    return value.is_discarded() || is_too_deep ? nlohmann::ordered_json(text) : value;
}

void write_settings(const Trace& trace, PickleWriter& pickle) {
    pickle.begin_dict();
    for (const auto& [name, text] : trace.settings) {
        pickle.text(name);
        pickle.json(setting(text));
    }
    pickle.end_dict();
}

}  // namespace

Status write_pytorch_snapshot(std::span<const Analysis* const> devices, const TakeBytes& take) {
    const Trace& trace = devices.front()->trace();
    PickleWriter pickle(take);
    SnapshotParts parts(trace, pickle);
    pickle.begin_dict();
    pickle.word("segments");
    write_segments(devices, pickle, parts);
    pickle.word("device_traces");
    write_traces(devices, pickle, parts);
    pickle.word("allocator_settings");
    write_settings(trace, pickle);
    pickle.word("external_annotations");
    write_annotations(trace, pickle, parts);
    pickle.end_dict();
    return pickle.finish();
}

}  // namespace tidemark
