// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The last step of SnapshotBuilder: converts the pickle's top value to the Snapshot.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "storage/base/utf8.h"
#include "storage/import/pickle_text.h"
#include "storage/import/snapshot_builder.h"

namespace tidemark {
namespace {

constexpr size_t json_limit = size_t{64} << 10;
constexpr std::string_view json_cut = "\"(more than 64 KiB)\"";

std::string quoted_json(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool is_schema_key(TextId key) {
    return key == word::segments || key == word::device_traces || key == word::external_annotations ||
           key == word::allocator_settings;
}

}  // namespace

Result<Snapshot> SnapshotBuilder::finish(PickleValue root) {
    TIDEMARK_TRY(finish_root(root));
    finish_damage();
    return std::move(snapshot_);
}

/// Accepts a dict as written by `_dump_snapshot`, or the plain list of segments that torch.cuda.memory_snapshot()
/// returned.
Status SnapshotBuilder::finish_root(PickleValue root) {
    Object* top = object(root);
    if (top && top->kind == Kind::record_list && record_lists_[top->payload].front().kind == Kind::segment) {
        return finish_segments(root);
    }
    if (top && top->kind == Kind::dict) {
        const Pairs fields = pairs(*top);
        const word::WordSet keys = keys_of(fields);
        if (keys.has(word::segments) || keys.has(word::device_traces)) {
            return finish_top_level(fields);
        }
    }
    return input_error(
        "The file is a pickle of {what}, not a memory snapshot; write one with "
        "torch.cuda.memory._dump_snapshot(\"file.pickle\").",
        with("what", describe(root)));
}

Status SnapshotBuilder::finish_top_level(Pairs fields) {
    const auto value_of = [&](TextId key) { return find(fields, key).value_or(PickleValue{}); };
    const Status segments = finish_segments(value_of(word::segments));
    const Status traces = finish_traces(value_of(word::device_traces));
    const bool any_event =
        std::any_of(snapshot_.traces.begin(), snapshot_.traces.end(), [](const auto& trace) { return !trace.empty(); });
    if (!segments && !any_event) {
        return segments;
    }
    if (!traces && snapshot_.segments.empty()) {
        return traces;
    }
    note_damage_unless(bool(segments), word::segments);
    note_damage_unless(bool(traces), word::device_traces);
    note_damage_unless(bool(finish_annotations(value_of(word::external_annotations))), word::external_annotations);
    finish_settings(value_of(word::allocator_settings));
    for (size_t i = 0; i < fields.size(); i += 2) {
        const PickleValue key = fields[i], value = fields[i + 1];
        if (key.kind == PickleKind::text && !is_schema_key(key.text) && value.kind != PickleKind::object) {
            snapshot_.extra[valid_utf8(texts_[key.text])] = json_of(value);
        }
    }
    return {};
}

/// Returns the records of one kind in a list, once, for their only valid use.
Result<std::span<const SnapshotBuilder::Run>> SnapshotBuilder::take_runs(PickleValue value, Kind kind,
                                                                         const Sentence& what) {
    Object* list = object(value);
    if (value.kind == PickleKind::none || is_empty_container(value)) {
        return std::span<const Run>{};
    }
    if (!list || list->kind != Kind::record_list || record_lists_[list->payload].front().kind != kind) {
        return input_error("{part} is {what}.", with("part", what), with("what", describe(value)));
    }
    if (list->taken) {
        return input_error("{part} is also used elsewhere in the snapshot.", with("part", what));
    }
    list->taken = true;
    return std::span<const Run>(record_lists_[list->payload]);
}

Status SnapshotBuilder::finish_segments(PickleValue list) {
    const auto runs = take_runs(list, Kind::segment, Sentence("The snapshot's \"segments\""));
    if (!runs) {
        return runs.error();
    }
    std::vector<SnapshotSegment> segments;
    for (const Run& run : *runs) {
        const auto first = snapshot_.segments.begin() + run.first;
        std::move(first, first + run.count, std::back_inserter(segments));
    }
    snapshot_.segments = std::move(segments);
    return {};
}

Status SnapshotBuilder::finish_annotations(PickleValue list) {
    const auto runs = take_runs(list, Kind::annotation, Sentence("The snapshot's \"external_annotations\""));
    if (!runs) {
        return runs.error();
    }
    std::vector<SnapshotAnnotation> annotations;
    for (const Run& run : *runs) {
        const auto first = snapshot_.annotations.begin() + run.first;
        std::move(first, first + run.count, std::back_inserter(annotations));
    }
    snapshot_.annotations = std::move(annotations);
    return {};
}

Status SnapshotBuilder::finish_traces(PickleValue value) {
    const Object* list = object(value);
    if (value.kind == PickleKind::none) {
        return {};
    }
    if (!list || list->kind != Kind::list) {
        return input_error("The snapshot's \"device_traces\" is {what}, not a list of lists.",
                           with("what", describe(value)));
    }
    const auto traces = items(*list);
    if (traces.size() > static_cast<size_t>(max_devices)) {
        return input_error("The snapshot has traces of {devices} devices; Tidemark reads up to {limit}.",
                           with("devices", traces.size()), with("limit", max_devices));
    }
    events_copied_.assign(events_.size() / events_.chunk_size + 1, 0);
    snapshot_.traces.resize(traces.size());
    Status first_damaged;
    for (size_t i = 0; i < traces.size(); ++i) {
        const Status read = finish_trace(traces[i], snapshot_.traces[i]);
        first_damaged = first_damaged ? read : first_damaged;
    }
    return first_damaged;
}

Status SnapshotBuilder::finish_trace(PickleValue list, std::vector<SnapshotEvent>& trace) {
    const auto runs = take_runs(list, Kind::event, Sentence("The trace of a device"));
    if (!runs) {
        return runs.error();
    }
    size_t count = 0;
    for (const Run& run : *runs) {
        count += run.count;
    }
    trace.clear();
    trace.reserve(count);
    for (const Run& run : *runs) {
        copy_events(run, trace);
    }
    return {};
}

/// Frees the memory chunk by chunk, so that a large trace never exists twice.
void SnapshotBuilder::copy_events(Run run, std::vector<SnapshotEvent>& trace) {
    constexpr size_t chunk_size = decltype(events_)::chunk_size;
    size_t at = run.first;
    const size_t end = at + run.count;
    while (at < end) {
        const size_t chunk = at / chunk_size;
        const size_t part = std::min(end, (chunk + 1) * chunk_size) - at;
        trace.insert(trace.end(), &events_[at], &events_[at] + part);
        at += part;
        events_copied_[chunk] += static_cast<uint32_t>(part);
        if (events_copied_[chunk] == chunk_size) {
            events_.drop_chunk(chunk);
        }
    }
}

void SnapshotBuilder::finish_settings(PickleValue value) {
    const Object* dict = object(value);
    if (!dict || dict->kind != Kind::dict) {
        note_damage_unless(value.kind == PickleKind::none || is_empty_container(value), word::allocator_settings);
        return;
    }
    const Pairs fields = pairs(*dict);
    for (size_t i = 0; i < fields.size(); i += 2) {
        if (fields[i].kind == PickleKind::text) {
            snapshot_.settings[valid_utf8(texts_[fields[i].text])] = json_of(fields[i + 1]);
        }
    }
}

void SnapshotBuilder::note_damage_unless(bool good, TextId key) {
    if (!good) {
        note_damage(Record::snapshot, key);
    }
}

std::string_view SnapshotBuilder::name_of(Record record) {
    switch (record) {
        case Record::snapshot: return "snapshot";
        case Record::event: return "event";
        case Record::frame: return "frame";
        case Record::block: return "block";
        case Record::segment: return "segment";
        case Record::annotation: return "annotation";
    }
    return {};
}

/// Names the values as in Python: "event.stream"; "event" for something else among events.
void SnapshotBuilder::finish_damage() {
    for (const auto& [what, count] : damaged_) {
        const auto& [record, key] = what;
        std::string name(name_of(record));
        if (key != word::empty) {
            name += fmt::format(".{}", texts_[key]);
        }
        snapshot_.damaged[name] += count;
    }
}

bool SnapshotBuilder::is_empty_container(PickleValue value) const {
    const Object* container = object(value);
    return container && (container->kind == Kind::list || container->kind == Kind::dict) && container->payload == none;
}

// Descriptions for error messages.

Sentence SnapshotBuilder::describe(PickleValue value) const {
    if (const Object* container = object(value)) {
        switch (container->kind) {
            case Kind::dict: {
                const Pairs fields = pairs(*container);
                const auto count = static_cast<int64_t>(fields.size() / 2);
                return !fields.empty() && fields[0].kind == PickleKind::text
                           ? Sentence::plural(count, "a dict of {n} item, the first with the key {key}",
                                              "a dict of {n} items, the first with the key {key}",
                                              with("key", json_of(fields[0])))
                           : Sentence::plural(count, "a dict of {n} item", "a dict of {n} items");
            }
            case Kind::list:
                return Sentence::plural(static_cast<int64_t>(items(*container).size()), "a list of {n} item",
                                        "a list of {n} items");
            case Kind::pair: return Sentence("a pair of numbers");
            case Kind::frame_list:
            case Kind::stack: return Sentence("a list of stack frames");
            case Kind::record_list: return Sentence("a list of events, blocks, segments or annotations");
            default: return Sentence("a part of a snapshot");
        }
    }
    if (value.kind == PickleKind::bytes) {
        return Sentence("raw bytes");
    }
    const std::string shown = json_of(value);
    constexpr size_t longest = 60;
    return shown.size() > longest ? Sentence("a long text") : Sentence("the value {value}", with("value", shown));
}

Error SnapshotBuilder::wrong(const Sentence& owner, TextId key, PickleValue value) const {
    return input_error("{owner} of the snapshot is damaged: its \"{key}\" is {what}.", with("owner", owner),
                       with("key", texts_[key]), with("what", describe(value)));
}

// JSON.

std::string SnapshotBuilder::json_of(PickleValue value) const {
    std::string json;
    render_json(value, json);
    return json.size() > json_limit ? std::string(json_cut) : json;
}

/// Stops soon after the limit, because shared containers can expand without end. `nest` limits the depth.
void SnapshotBuilder::render_json(PickleValue value, std::string& json) const {
    if (json.size() > json_limit) {
        return;
    }
    switch (value.kind) {
        case PickleKind::none:
        case PickleKind::bytes: json += "null"; return;
        case PickleKind::boolean: json += value.integer ? "true" : "false"; return;
        case PickleKind::integer: json += fmt::format("{}", value.integer); return;
        case PickleKind::large_unsigned: json += fmt::format("{}", value.large_unsigned); return;
        case PickleKind::real: json += nlohmann::json(value.real).dump(); return;
        case PickleKind::text: json += quoted_json(texts_[value.text]); return;
        case PickleKind::object: render_object(*object(value), json); return;
    }
}

void SnapshotBuilder::render_object(const Object& container, std::string& json) const {
    const char* separator = "";
    if (container.kind == Kind::dict) {
        const Pairs fields = pairs(container);
        json += '{';
        for (size_t i = 0; i < fields.size() && json.size() <= json_limit; i += 2) {
            json += separator;
            json += fields[i].kind == PickleKind::text ? quoted_json(texts_[fields[i].text])
                                                       : quoted_json(json_of(fields[i]));
            json += ':';
            render_json(fields[i + 1], json);
            separator = ",";
        }
        json += '}';
    } else if (container.kind == Kind::list) {
        json += '[';
        for (const PickleValue item : items(container)) {
            json += separator;
            render_json(item, json);
            separator = ",";
            if (json.size() > json_limit) {
                break;
            }
        }
        json += ']';
    } else if (container.kind == Kind::pair) {
        json += fmt::format("[{},{}]", pairs_[container.payload][0], pairs_[container.payload][1]);
    } else {
        json += "null";  // a list of things that only look like events or frames
    }
}

}  // namespace tidemark
