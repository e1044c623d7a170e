// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/convert/pytorch_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "storage/convert/snapshot_events.h"
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
        add(fmt::format("ProfilerStep#{}", step.number), trace.main_device().device, step.start, step.end);
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
            write_snapshot_events((*found)->trace(), (*found)->device(), pickle, parts);
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
