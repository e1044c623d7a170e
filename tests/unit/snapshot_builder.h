// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Snapshots as JSON, written as pickles, and the reader's result as text.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "storage/import/snapshot_reader.h"
#include "tests/unit/pickle_builder.h"
#include "tests/unit/pickle_packing.h"

namespace tidemark::test {

inline constexpr uint64_t base = 0x7f0000000000;
inline constexpr uint64_t mib = 1 << 20;

inline std::string data_file(const std::string& name) { return std::string(TIDEMARK_TEST_DATA) + "/snapshots/" + name; }

inline Bytes file_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline Result<Snapshot> read(const Bytes& bytes) {
    Progress progress;
    auto source = ByteSource::from_memory(bytes);
    return source ? read_snapshot(**source, progress) : Result<Snapshot>(source.error());
}

inline Snapshot read_json(const Json& json, int protocol = 4) {
    auto snapshot = read(pickle_of(json, protocol));
    EXPECT_TRUE(snapshot) << (snapshot ? "" : snapshot.error().sentence.english());
    return snapshot ? std::move(*snapshot) : Snapshot{};
}

inline std::string error_of(const Bytes& bytes) {
    const auto snapshot = read(bytes);
    return snapshot ? "no error" : snapshot.error().sentence.english();
}

inline std::string error_of(const Json& json) { return error_of(pickle_of(json)); }

inline Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

inline std::string stack_text(const Snapshot& snapshot, StackId stack) {
    std::string text;
    for (const FrameId id : snapshot.stacks.frames_of(stack)) {
        const Frame& frame = snapshot.stacks.frame(id);
        text += snapshot.stacks.string(frame.file) + ":" + std::to_string(frame.line) + ":" +
                snapshot.stacks.string(frame.function) + ";";
    }
    return text;
}

inline std::string context_text(const Snapshot& snapshot, uint32_t index) {
    const SnapshotContext& context = snapshot.contexts.at(index);
    return snapshot.stacks.string(context.compile_context) + "|" + snapshot.stacks.string(context.user_metadata);
}

/// Returns the content of a snapshot as JSON text. Ids are replaced with the items they refer to, so equal snapshots
/// have equal texts.
inline std::string text_of(const Snapshot& snapshot) {
    Json all;
    for (const auto& trace : snapshot.traces) {
        Json events = Json::array();
        for (const SnapshotEvent& event : trace) {
            const bool unknown = event.action == Action::unknown;
            events.push_back(
                {unknown ? snapshot.unknown_actions.at(event.unknown_action) : std::string(action_name(event.action)),
                 event.address, event.size, event.time_us, snapshot.streams.at(event.stream),
                 stack_text(snapshot, event.stack), context_text(snapshot, event.context),
                 event.pool == pool_not_recorded ? Json() : Json(snapshot.pools.at(event.pool))});
        }
        all["traces"].push_back(events);
    }
    for (const SnapshotSegment& segment : snapshot.segments) {
        Json blocks = Json::array();
        for (const SnapshotBlock& block : segment.blocks) {
            blocks.push_back({block.address, block.size, block.requested, static_cast<int>(block.state),
                              stack_text(snapshot, block.stack)});
        }
        all["segments"].push_back({segment.device, segment.address, segment.total_size,
                                   snapshot.streams.at(segment.stream), segment.is_large, segment.is_expandable,
                                   snapshot.pools.at(segment.pool), stack_text(snapshot, segment.stack), blocks});
    }
    for (const SnapshotAnnotation& one : snapshot.annotations) {
        all["annotations"].push_back({one.name, one.is_start, one.device, one.time_us});
    }
    all["settings"] = snapshot.settings;
    all["extra"] = snapshot.extra;
    return all.dump(1);
}

inline Json frame(const char* name, const char* file, int line) {
    return {{"name", name}, {"filename", file}, {"line", line}};
}

inline Json two_frames() {
    return shared(Json::array({shared(frame("forward", "net.py", 12)), shared(frame("main", "train.py", 40))}));
}

inline Json event(const char* action, uint64_t address, int64_t size) {
    return {{"action", action}, {"addr", address}, {"size", size}, {"stream", 0}, {"time_us", 1700000000000000}};
}

inline Json segment(uint64_t address, Json blocks) {
    return {{"device", 0},
            {"address", address},
            {"total_size", 2 * mib},
            {"stream", 0},
            {"segment_type", "small"},
            {"segment_pool_id", tuple({0, 0})},
            {"is_expandable", false},
            {"frames", Json::array()},
            {"blocks", std::move(blocks)}};
}

inline Json block(uint64_t address, int64_t size, const char* state) {
    return {{"address", address},
            {"size", size},
            {"requested_size", size - 12},
            {"state", state},
            {"frames", two_frames()}};
}

inline Json traces_only(Json events) {
    return {{"segments", Json::array()}, {"device_traces", Json::array({std::move(events)})}};
}

inline Json full_snapshot() {
    Json alloc = event("alloc", base, 500);
    alloc["frames"] = two_frames();
    alloc["compile_context"] = "0/1";
    alloc["user_metadata"] = "step 3";
    alloc["pool_id"] = tuple({7, 0});
    Json oom = event("oom", 0, 4096);
    oom.erase("addr");
    oom["device_free"] = 123456;
    Json other = segment(base + 4 * mib, Json::array({block(base + 4 * mib, 2 * mib, "active_pending_free")}));
    other["device"] = 1;
    other["stream"] = 0x55aa55aa;
    other["segment_type"] = "large";
    other["segment_pool_id"] = tuple({7, 0});
    other["is_expandable"] = true;
    return {{"segments",
             {segment(base, Json::array(
                                {block(base, 512, "active_allocated"), block(base + 512, 2 * mib - 512, "inactive")})),
              other}},
            {"device_traces", {Json::array({event("segment_alloc", base, 2 * mib), alloc, oom}), Json::array()}},
            {"allocator_settings",
             {{"PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:64"},
              {"max_split_size", -1},
              {"garbage_collection_threshold", 0.5},
              {"expandable_segments", false},
              {"roundup_power2_divisions", {{"1", 0}, {"2", 4}}}}},
            {"external_annotations",
             {{{"name", "fwd"}, {"stage", "START"}, {"device", 0}, {"time_us", 5}},
              {{"name", "fwd"}, {"stage", "END"}, {"device", 1}, {"time_us", 9}}}},
            {"trace_alloc_overflowed", true},
            {"note", "n"},
            {"something", Json::array({1, 2})}};
}

}  // namespace tidemark::test
