// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads valid snapshots, also of older and newer schemas.
#include "storage/import/snapshot_reader.h"

#include <gtest/gtest.h>

#include "tests/unit/snapshot_builder.h"

namespace tidemark {
namespace {

using namespace test;

TEST(SnapshotReader, ReadsEveryPart) {
    const Snapshot snapshot = read_json(full_snapshot());
    EXPECT_EQ(snapshot.pickle_protocol, 4);
    ASSERT_EQ(snapshot.traces.size(), 2u);
    ASSERT_EQ(snapshot.traces[0].size(), 3u);
    EXPECT_TRUE(snapshot.traces[1].empty());

    const SnapshotEvent& alloc = snapshot.traces[0][1];
    EXPECT_EQ(alloc.action, Action::alloc);
    EXPECT_EQ(alloc.address, base);
    EXPECT_EQ(alloc.size, 500u);
    EXPECT_EQ(alloc.time_us, 1700000000000000);
    EXPECT_EQ(stack_text(snapshot, alloc.stack), "net.py:12:forward;train.py:40:main;");
    EXPECT_EQ(context_text(snapshot, alloc.context), "0/1|step 3");
    EXPECT_EQ(snapshot.pools.at(alloc.pool), (PoolKey{7, 0}));

    const SnapshotEvent& oom = snapshot.traces[0][2];
    EXPECT_EQ(oom.action, Action::oom);
    EXPECT_EQ(oom.address, 123456u);
    EXPECT_EQ(oom.stack, 0u);
    EXPECT_EQ(oom.context, 0u);
    EXPECT_EQ(oom.pool, pool_not_recorded);
}

TEST(SnapshotReader, ReadsSegmentsAndBlocks) {
    const Snapshot snapshot = read_json(full_snapshot());
    ASSERT_EQ(snapshot.segments.size(), 2u);
    const SnapshotSegment& first = snapshot.segments[0];
    EXPECT_EQ(first.address, base);
    EXPECT_EQ(first.total_size, 2 * mib);
    EXPECT_FALSE(first.is_large);
    EXPECT_FALSE(first.is_expandable);
    EXPECT_EQ(first.pool, 0u);
    ASSERT_EQ(first.blocks.size(), 2u);
    EXPECT_EQ(first.blocks[0].state, BlockState::allocated);
    EXPECT_EQ(first.blocks[0].requested, 500u);
    EXPECT_EQ(first.blocks[1].address, base + 512);
    EXPECT_EQ(first.blocks[1].state, BlockState::inactive);

    const SnapshotSegment& second = snapshot.segments[1];
    EXPECT_EQ(second.device, 1);
    EXPECT_EQ(snapshot.streams.at(second.stream), 0x55aa55aau);
    EXPECT_TRUE(second.is_large);
    EXPECT_TRUE(second.is_expandable);
    EXPECT_EQ(snapshot.pools.at(second.pool), (PoolKey{7, 0}));
    EXPECT_EQ(second.blocks[0].state, BlockState::pending_free);
}

TEST(SnapshotReader, ReadsSettingsAnnotationsAndExtras) {
    const Snapshot snapshot = read_json(full_snapshot());
    EXPECT_EQ(snapshot.settings.at("PYTORCH_CUDA_ALLOC_CONF"), "\"max_split_size_mb:64\"");
    EXPECT_EQ(snapshot.settings.at("max_split_size"), "-1");
    EXPECT_EQ(snapshot.settings.at("garbage_collection_threshold"), "0.5");
    EXPECT_EQ(snapshot.settings.at("expandable_segments"), "false");
    EXPECT_EQ(snapshot.settings.at("roundup_power2_divisions"), R"({"1":0,"2":4})");
    ASSERT_EQ(snapshot.annotations.size(), 2u);
    EXPECT_EQ(snapshot.annotations[0].name, "fwd");
    EXPECT_TRUE(snapshot.annotations[0].is_start);
    EXPECT_FALSE(snapshot.annotations[1].is_start);
    EXPECT_EQ(snapshot.annotations[1].device, 1);
    EXPECT_EQ(snapshot.annotations[1].time_us, 9);
    EXPECT_EQ(snapshot.extra,
              (std::map<std::string, std::string>{{"note", "\"n\""}, {"trace_alloc_overflowed", "true"}}));
}

TEST(SnapshotReader, MergesEqualStacks) {
    Json events = Json::array();
    for (int i = 0; i < 3; ++i) {
        events.push_back(event("alloc", base + 512u * static_cast<unsigned>(i), 100));
        events.back()["frames"] =
            i < 2 ? two_frames() : Json::array({frame("forward", "net.py", 12), frame("main", "train.py", 40)});
    }
    const Snapshot snapshot = read_json(traces_only(events));
    const auto& trace = snapshot.traces.at(0);
    EXPECT_EQ(trace[0].stack, trace[1].stack);
    EXPECT_EQ(trace[0].stack, trace[2].stack);
    EXPECT_EQ(snapshot.stacks.stack_count(), 3u);
}

TEST(SnapshotReader, ReadsEveryProtocolAlike) {
    const std::string expected = text_of(read_json(full_snapshot(), 4));
    EXPECT_EQ(text_of(read_json(full_snapshot(), 2)), expected);
    EXPECT_EQ(text_of(read_json(full_snapshot(), 3)), expected);
    EXPECT_EQ(text_of(read_json(full_snapshot(), 5)), expected);
}

Json reversed(const Json& json) {
    Json result = json.is_object() ? Json::object() : json.is_array() ? Json::array() : json;
    if (json.is_object()) {
        for (auto item = json.rbegin(); item != json.rend(); ++item) {
            result[item.key()] = reversed(item.value());
        }
    } else if (json.is_array()) {
        for (const Json& item : json) {
            result.push_back(reversed(item));
        }
    }
    return result;
}

TEST(SnapshotReader, AcceptsKeysInAnyOrder) {
    Json snapshot = full_snapshot();
    snapshot.erase("allocator_settings");  // a nested setting's text keeps its keys' order
    EXPECT_EQ(Json::parse(text_of(read_json(reversed(snapshot)))), Json::parse(text_of(read_json(snapshot))));
}

TEST(SnapshotReader, AcceptsDictsFilledKeyByKey) {
    PickleBuilder builder;
    builder.op(opcode::empty_dict).text("device_traces").op(opcode::empty_list).op(opcode::empty_list).memoize();
    builder.op(opcode::empty_dict);
    for (const char* key : {"addr", "size"}) {
        builder.text(key).integer(512).op(opcode::setitem);
    }
    builder.text("frames").op(opcode::empty_list).op(opcode::setitem);
    builder.text("action").text("alloc").op(opcode::setitem);
    builder.text("stream").integer(9).op(opcode::setitem);
    const auto snapshot = read(builder.op(opcode::append).op(opcode::append).op(opcode::setitem).done());
    ASSERT_TRUE(snapshot) << snapshot.error().sentence.english();
    ASSERT_EQ(snapshot->traces.at(0).size(), 1u);
    const SnapshotEvent& event = snapshot->traces[0][0];
    EXPECT_EQ(event.action, Action::alloc);
    EXPECT_EQ(event.address, 512u);
    EXPECT_EQ(snapshot->streams.at(event.stream), 9u);
    EXPECT_EQ(event.time_us, no_time);
}

TEST(SnapshotReader, UsesTheLastOfEqualKeys) {
    PickleBuilder builder;
    builder.op(opcode::empty_dict).op(opcode::mark);
    for (const int64_t time : {5, 6}) {
        const Json annotation = {{"name", "fwd"}, {"stage", "START"}, {"time_us", time}};
        builder.text("external_annotations").value(Json::array({annotation, annotation}));
        builder.text("segments")
            .value(Json::array({segment(base + static_cast<uint64_t>(time) * 8 * mib, Json::array())}));
        builder.text("device_traces").value(Json::array({Json::array({event("alloc", base, time)})}));
    }
    const auto snapshot = read(builder.op(opcode::setitems).done());
    ASSERT_TRUE(snapshot) << snapshot.error().sentence.english();
    ASSERT_EQ(snapshot->annotations.size(), 2u);
    EXPECT_EQ(snapshot->annotations[1].time_us, 6);
    ASSERT_EQ(snapshot->segments.size(), 1u);
    EXPECT_EQ(snapshot->segments[0].address, base + 48 * mib);
    ASSERT_EQ(snapshot->traces.at(0).size(), 1u);
    EXPECT_EQ(snapshot->traces[0][0].size, 6u);
}

TEST(SnapshotReader, AcceptsEventsFilledInSeveralSteps) {
    PickleBuilder builder;
    builder.op(opcode::empty_dict).text("device_traces").op(opcode::empty_list).op(opcode::empty_list);
    builder.op(opcode::empty_dict).op(opcode::mark).text("action").text("alloc").text("addr").integer(512);
    builder.text("compile_context").text("0/0").op(opcode::setitems);
    builder.text("user_metadata").text("m").op(opcode::setitem).text("size").integer(7).op(opcode::setitem);
    const auto snapshot = read(builder.op(opcode::append).op(opcode::append).op(opcode::setitem).done());
    ASSERT_TRUE(snapshot) << snapshot.error().sentence.english();
    const SnapshotEvent& event = snapshot->traces.at(0).at(0);
    EXPECT_EQ(event.size, 7u);
    EXPECT_EQ(context_text(*snapshot, event.context), "0/0|m");
}

TEST(SnapshotReader, ReadsEventsWrittenInBatches) {
    Json events = Json::array();
    for (unsigned i = 0; i < 40'001; ++i) {
        events.push_back(event(i % 2 ? "free_completed" : "alloc", base + 512ull * i, i));
    }
    Json snapshot = traces_only(events);
    snapshot["device_traces"].push_back(Json::array({event("oom", 1, 1)}));
    for (const int protocol : {2, 4}) {
        const Snapshot result = read_json(snapshot, protocol);
        ASSERT_EQ(result.traces.size(), 2u);
        ASSERT_EQ(result.traces[0].size(), 40'001u);
        for (unsigned i = 0; i < 40'001; ++i) {
            ASSERT_EQ(result.traces[0][i].size, i);
        }
        EXPECT_EQ(result.traces[1].size(), 1u);
    }
}

TEST(SnapshotReader, AcceptsMissingKeys) {
    const Snapshot snapshot = read_json(traces_only({{{"action", "free_requested"}, {"addr", 512}, {"size", 3}}}));
    const SnapshotEvent& event = snapshot.traces.at(0).at(0);
    EXPECT_EQ(event.time_us, no_time);
    EXPECT_EQ(event.stack, 0u);
    EXPECT_EQ(event.context, 0u);
    EXPECT_EQ(event.pool, pool_not_recorded);
}

TEST(SnapshotReader, AcceptsSnapshotsWithoutTracesOrSegments) {
    const Snapshot segments = read_json({{"segments", {segment(base, Json::array())}}});
    EXPECT_EQ(segments.segments.size(), 1u);
    EXPECT_TRUE(segments.traces.empty());
    const Snapshot traces = read_json({{"device_traces", {Json::array({event("alloc", base, 1)})}}});
    EXPECT_EQ(traces.traces.at(0).size(), 1u);
    const Snapshot empty = read_json({{"segments", Json::array()}, {"device_traces", Json::array({Json::array()})}});
    EXPECT_EQ(empty.traces.size(), 1u);
}

TEST(SnapshotReader, ReadsABareListOfSegments) {
    const Json history = {{"addr", base}, {"real_size", 1000}, {"frames", {frame("f", "a.py", 1)}}};
    const Json old = {{"device", 1},
                      {"address", base},
                      {"total_size", 4096},
                      {"stream", 0},
                      {"segment_type", "large"},
                      {"blocks",
                       {{{"size", 1024}, {"state", "active_allocated"}, {"history", {history}}},
                        {{"size", 1024}, {"state", "active_awaiting_free"}},
                        {{"size", 2048}, {"state", "inactive"}, {"history", {history}}}}}};
    const Snapshot snapshot = read_json(Json::array({old}));
    ASSERT_EQ(snapshot.segments.size(), 1u);
    const auto& blocks = snapshot.segments[0].blocks;
    ASSERT_EQ(blocks.size(), 3u);
    EXPECT_EQ(blocks[0].address, base);
    EXPECT_EQ(blocks[0].requested, 1000u);
    EXPECT_EQ(stack_text(snapshot, blocks[0].stack), "a.py:1:f;");
    EXPECT_EQ(blocks[1].address, base + 1024);
    EXPECT_EQ(blocks[1].state, BlockState::pending_free);
    EXPECT_EQ(blocks[1].requested, 1024u);
    EXPECT_EQ(blocks[2].address, base + 2048);
    EXPECT_EQ(blocks[2].requested, 0u);
    EXPECT_EQ(blocks[2].stack, 0u);
}

TEST(SnapshotReader, FillsGapsBetweenBlocks) {
    const Snapshot snapshot = read_json(
        {{"segments",
          {segment(base, Json::array({block(base + 1024, 512, "inactive"), block(base + 512, 512, "inactive")}))}}});
    const auto& blocks = snapshot.segments.at(0).blocks;
    ASSERT_EQ(blocks.size(), 4u);
    EXPECT_EQ(blocks[0].address, base);
    EXPECT_EQ(blocks[0].size, 512u);
    EXPECT_EQ(blocks[1].address, base + 512);
    EXPECT_EQ(blocks[3].address, base + 1536);
    EXPECT_EQ(blocks[3].size, 2 * mib - 1536);
}

TEST(SnapshotReader, KeepsUnknownActions) {
    const Snapshot snapshot = read_json(traces_only(
        {event("annotate", 1, 2), event("alloc", 1, 2), event("defragment", 1, 2), event("annotate", 3, 4)}));
    EXPECT_EQ(snapshot.unknown_actions, (std::vector<std::string>{"annotate", "defragment"}));
    const auto& trace = snapshot.traces.at(0);
    EXPECT_EQ(trace[0].action, Action::unknown);
    EXPECT_EQ(trace[2].unknown_action, 1);
    EXPECT_EQ(trace[3].unknown_action, 0);
}

TEST(SnapshotReader, LimitsUnknownActions) {
    Json events = Json::array();
    for (int i = 0; i < 400; ++i) {
        events.push_back(event(("action" + std::to_string(i)).c_str(), 1, 2));
    }
    const Snapshot snapshot = read_json(traces_only(events));
    EXPECT_EQ(snapshot.unknown_actions.size(), 256u);
    EXPECT_EQ(snapshot.unknown_actions.at(snapshot.traces[0][399].unknown_action), "(others)");
    EXPECT_EQ(snapshot.unknown_actions.at(snapshot.traces[0][254].unknown_action), "action254");
}

TEST(SnapshotReader, ReadsContextsInEveryForm) {
    Json plain = event("alloc", 1, 2), with_dict = plain, shared_dict = plain, empty = plain;
    plain["compile_context"] = "N/A";
    plain["user_metadata"] = "";
    with_dict["user_metadata"] = shared({{"step", 3}, {"tags", {"a", nullptr, true, 1.5}}, {"pair", tuple({1, 2})}});
    shared_dict["user_metadata"] = with_dict["user_metadata"];
    empty["user_metadata"] = Json::object();
    const Snapshot snapshot = read_json(traces_only({plain, with_dict, shared_dict, empty}));
    const auto& trace = snapshot.traces.at(0);
    EXPECT_EQ(trace[0].context, 0u);
    EXPECT_EQ(context_text(snapshot, trace[1].context), R"(|{"step":3,"tags":["a",null,true,1.5],"pair":[1,2]})");
    EXPECT_EQ(trace[2].context, trace[1].context);
    EXPECT_EQ(trace[3].context, 0u);
    EXPECT_EQ(snapshot.contexts.size(), 2u);
}

TEST(SnapshotReader, AcceptsMetadataWithSchemaKeys) {
    Json odd = event("alloc", 1, 2);
    odd["user_metadata"] = {{"stage", "START"}, {"name", "x"}, {"total_size", 1},
                            {"filename", "f"},  {"state", 2},  {"size", -1}};
    const Snapshot snapshot = read_json(traces_only({odd}));
    EXPECT_EQ(context_text(snapshot, snapshot.traces.at(0).at(0).context),
              std::string("|").append(odd["user_metadata"].dump()));
    EXPECT_TRUE(snapshot.annotations.empty());
}

TEST(SnapshotReader, ReplacesInvalidUtf8) {
    Json events = Json::array({event("alloc", 1, 2)});
    events[0]["user_metadata"] = "a\xff\xc3(\xed\xa0\x80z";
    const Snapshot snapshot = read_json(traces_only(events));
    const std::string bad = "\xef\xbf\xbd";
    EXPECT_EQ(context_text(snapshot, snapshot.traces.at(0).at(0).context),
              "|a" + bad + bad + "(" + bad + bad + bad + "z");
}

TEST(SnapshotReader, ReadsSixtyFourBitAddresses) {
    Json high = event("alloc", UINT64_MAX, 1);
    high["stream"] = UINT64_MAX - 1;
    const Snapshot snapshot = read_json(traces_only({high}));
    EXPECT_EQ(snapshot.traces.at(0).at(0).address, UINT64_MAX);
    EXPECT_EQ(snapshot.streams.at(snapshot.traces[0][0].stream), UINT64_MAX - 1);
}

}  // namespace
}  // namespace tidemark
