#include "storage/import/snapshot_reader.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/pickle_builder.h"
#include "tests/unit/pickle_packing.h"

namespace tidemark {
namespace {

using test::Bytes;
using test::contains;
using test::Json;
using test::pickle_of;
using test::PickleBuilder;
using test::shared;
using test::tuple;

constexpr uint64_t base = 0x7f0000000000;
constexpr uint64_t mib = 1 << 20;

std::string data_file(const std::string& name) { return std::string(TIDEMARK_TEST_DATA) + "/snapshots/" + name; }

Bytes file_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Result<Snapshot> read(const Bytes& bytes) {
    Progress progress;
    auto source = ByteSource::from_memory(bytes);
    return source ? read_snapshot(**source, progress) : Result<Snapshot>(source.error());
}

Snapshot read_json(const Json& json, int protocol = 4) {
    auto snapshot = read(pickle_of(json, protocol));
    EXPECT_TRUE(snapshot) << (snapshot ? "" : snapshot.error().message);
    return snapshot ? std::move(*snapshot) : Snapshot{};
}

std::string error_of(const Bytes& bytes) {
    const auto snapshot = read(bytes);
    return snapshot ? "no error" : snapshot.error().message;
}

std::string error_of(const Json& json) { return error_of(pickle_of(json)); }

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

std::string stack_text(const Snapshot& snapshot, StackId stack) {
    std::string text;
    for (const FrameId id : snapshot.stacks.frames_of(stack)) {
        const Frame& frame = snapshot.stacks.frame(id);
        text += snapshot.stacks.string(frame.file) + ":" + std::to_string(frame.line) + ":" +
                snapshot.stacks.string(frame.function) + ";";
    }
    return text;
}

std::string context_text(const Snapshot& snapshot, uint32_t index) {
    const SnapshotContext& context = snapshot.contexts.at(index);
    return snapshot.stacks.string(context.compile_context) + "|" + snapshot.stacks.string(context.user_metadata);
}

/// Everything that a Snapshot says, without the numbers it happens to use.
std::string text_of(const Snapshot& snapshot) {
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

Json frame(const char* name, const char* file, int line) {
    return {{"name", name}, {"filename", file}, {"line", line}};
}

Json two_frames() {
    return shared(Json::array({shared(frame("forward", "net.py", 12)), shared(frame("main", "train.py", 40))}));
}

Json event(const char* action, uint64_t address, int64_t size) {
    return {{"action", action}, {"addr", address}, {"size", size}, {"stream", 0}, {"time_us", 1700000000000000}};
}

Json segment(uint64_t address, Json blocks) {
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

Json block(uint64_t address, int64_t size, const char* state) {
    return {{"address", address},
            {"size", size},
            {"requested_size", size - 12},
            {"state", state},
            {"frames", two_frames()}};
}

Json traces_only(Json events) {
    return {{"segments", Json::array()}, {"device_traces", Json::array({std::move(events)})}};
}

Json full_snapshot() {
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

// What a snapshot holds.

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
    ASSERT_TRUE(snapshot) << snapshot.error().message;
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
    ASSERT_TRUE(snapshot) << snapshot.error().message;
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
    ASSERT_TRUE(snapshot) << snapshot.error().message;
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

// Older and newer schemas.

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

// Values that cannot be.

TEST(SnapshotReader, RejectsInvalidNumbers) {
    EXPECT_TRUE(contains(error_of(traces_only({event("alloc", 1, -5)})),
                         "An event of the snapshot is damaged: its \"size\" is the value -5"));
    EXPECT_TRUE(contains(error_of(traces_only({event("alloc", 1, (int64_t{1} << 60) + 1)})), "its \"size\""));
    Json negative = event("alloc", 1, 1);
    negative["addr"] = -1;
    EXPECT_TRUE(contains(error_of(traces_only({negative})), "its \"addr\" is the value -1"));
    Json textual = event("alloc", 1, 1);
    textual["time_us"] = "noon";
    EXPECT_TRUE(contains(error_of(traces_only({textual})), "its \"time_us\" is the value \"noon\""));
    Json device = segment(base, Json::array());
    device["device"] = 4096;
    EXPECT_TRUE(contains(error_of({{"segments", {device}}}),
                         "A segment of the snapshot is damaged: its \"device\" is the value 4096"));
}

TEST(SnapshotReader, RejectsOverlappingAndOutlyingBlocks) {
    const Json outside = segment(base, Json::array({block(base + 2 * mib, 512, "inactive")}));
    EXPECT_TRUE(contains(error_of({{"segments", {outside}}}), "overlaps another one or lies outside its segment"));
    const Json overlap =
        segment(base, Json::array({block(base, 1024, "inactive"), block(base + 512, 512, "inactive")}));
    EXPECT_TRUE(contains(error_of({{"segments", {overlap}}}), "overlaps another one"));
    Json end = segment(UINT64_MAX - 10, Json::array());
    EXPECT_TRUE(contains(error_of({{"segments", {end}}}), "beyond the address space"));
    const Json state = segment(base, Json::array({block(base, 512, "asleep")}));
    EXPECT_TRUE(contains(error_of({{"segments", {state}}}),
                         "A block of the snapshot is damaged: its \"state\" is the value \"asleep\""));
}

TEST(SnapshotReader, RejectsTooManyStreams) {
    Json events = Json::array();
    for (int i = 0; i < 65'537; ++i) {
        events.push_back({{"action", "alloc"}, {"addr", 1}, {"stream", i}});
    }
    EXPECT_TRUE(contains(error_of(traces_only(events)), "more than 65,535 streams"));
}

TEST(SnapshotReader, RejectsEventsUsedTwice) {
    const Json twice = shared(event("alloc", base, 1));
    EXPECT_TRUE(contains(error_of(traces_only({twice, twice})), "uses one event, block or segment twice"));
    const Json trace = shared(Json::array({event("alloc", base, 1)}));
    EXPECT_TRUE(contains(error_of({{"device_traces", {trace, trace}}}), "also used elsewhere"));
}

TEST(SnapshotReader, RejectsContainersChangedAfterUse) {
    PickleBuilder builder;
    builder.op(opcode::empty_list).op(opcode::empty_list);
    const uint32_t inner = builder.memoize();
    builder.op(opcode::append).get(inner).integer(1).op(opcode::append);
    EXPECT_TRUE(contains(error_of(builder.done()), "changes a container after using it elsewhere"));
    PickleBuilder self;
    self.op(opcode::empty_list).memoize();
    EXPECT_TRUE(contains(error_of(self.get(0).op(opcode::append).done()), "puts a container into itself"));
}

TEST(SnapshotReader, LimitsNestingAndExpansion) {
    PickleBuilder deep;
    for (int i = 0; i < 1000; ++i) {
        deep.op(opcode::empty_list);
    }
    for (int i = 0; i < 999; ++i) {
        deep.op(opcode::append);
    }
    EXPECT_TRUE(contains(error_of(deep.done()), "nests containers more than 64 levels deep"));

    PickleBuilder laughs;
    laughs.op(opcode::empty_dict)
        .text("segments")
        .op(opcode::empty_list)
        .op(opcode::setitem)
        .text("allocator_settings");
    laughs.op(opcode::empty_dict).text("x").op(opcode::empty_list);
    for (int i = 0; i < 50; ++i) {  // every level holds the one below twice
        const uint32_t below = laughs.memoize();
        laughs.op(opcode::pop).op(opcode::empty_list).op(opcode::mark).get(below).get(below).op(opcode::appends);
    }
    const auto snapshot = read(laughs.op(opcode::setitem).op(opcode::setitem).done());
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_EQ(snapshot->settings.at("x"), "\"(more than 64 KiB)\"");
}

TEST(SnapshotReader, RejectsEndlessStacks) {
    PickleBuilder builder;
    builder.op(opcode::empty_list).op(opcode::mark).value(frame("f", "a.py", 1));
    for (int i = 0; i < 70'000; ++i) {  // the same frame again and again
        builder.op(opcode::dup);
    }
    EXPECT_TRUE(contains(error_of(builder.op(opcode::appends).done()), "A stack has more than 65536 frames"));
}

TEST(SnapshotReader, RejectsDecompressionBombs) {
    Bytes bomb{opcode::proto, 4};
    for (int i = 0; i < 20'000'000; ++i) {
        bomb.push_back(opcode::empty_list);
        bomb.push_back(opcode::pop);
    }
    EXPECT_TRUE(
        contains(error_of(test::pack(bomb, test::Packing::zstd)), "unpacks to far more than a snapshot of its size"));
}

TEST(SnapshotReader, RejectsMixedLists) {
    EXPECT_FALSE(read(pickle_of(traces_only({event("alloc", 1, 1), 5}))));
    EXPECT_FALSE(read(pickle_of(traces_only({5, event("alloc", 1, 1)}))));
    EXPECT_FALSE(read(pickle_of(traces_only({event("alloc", 1, 1), segment(base, Json::array())}))));
    EXPECT_FALSE(read(pickle_of(traces_only({frame("f", "a.py", 1), 5}))));
    EXPECT_TRUE(contains(error_of(traces_only({segment(base, Json::array())})), "The trace of a device is a list of"));
    EXPECT_TRUE(contains(error_of({{"device_traces", 5}}), "\"device_traces\" is the value 5"));
    EXPECT_TRUE(contains(error_of({{"segments", "none"}}), "\"segments\" is the value \"none\""));
}

// Other files.

TEST(SnapshotReader, DescribesOtherPickles) {
    EXPECT_EQ(error_of(Json::array({1, 2, 3})),
              "The file is a pickle of a list of 3 items, not a memory snapshot; write one with "
              "torch.cuda.memory._dump_snapshot(\"file.pickle\").");
    EXPECT_TRUE(contains(error_of({{"weights", 1}, {"bias", 2}}),
                         "a pickle of a dict of 2 items, the first with the key \"weights\""));
    EXPECT_TRUE(contains(error_of(Json(5)), "a pickle of the value 5"));
    EXPECT_TRUE(contains(error_of(Json::array()), "a pickle of a list of 0 items"));
    EXPECT_TRUE(contains(error_of(event("alloc", 1, 1)), "a pickle of a part of a snapshot"));
}

TEST(SnapshotReader, DescribesOtherFiles) {
    const std::pair<std::string_view, const char*> files[]{
        {"PK\3\4data.pkl", "a zip archive, perhaps a model saved by torch.save"},
        {"{\"traceEvents\": []}", "a JSON file"},
        {" [1, 2]", "a JSON file"},
        {{"SQLite format 3\0", 16}, "an SQLite database"},
        {"<!DOCTYPE html>", "an HTML or XML page"},
        {"Hello, world", "a text file"},
        {"columns,of,numbers\n1,2,3\n", "a text file"},
        {"(a remark)", "a text file"},
        {"\x01\x02\x03\xff", "binary data of an unknown kind"},
        {"BZh91AY", "a bzip2 archive"},
        {"x", "a text file"},
    };
    for (const auto& [content, what] : files) {
        const std::string sentence = error_of(bytes_of(content));
        EXPECT_TRUE(contains(sentence, std::string("This looks like ") + what));
        EXPECT_TRUE(contains(sentence, "_dump_snapshot"));
    }
}

TEST(SnapshotReader, RejectsPicklesThatRunCode) {
    EXPECT_TRUE(contains(error_of(bytes_of("cos\nsystem\n(S'true'\ntR.")),
                         "wants to run code (opcode GLOBAL at byte 0 asks for os.system)"));
    PickleBuilder attack;
    attack.op(opcode::empty_dict).text("segments").text("posix").text("system").op(opcode::stack_global);
    EXPECT_TRUE(
        contains(error_of(attack.text("true").op(opcode::tuple1).op(opcode::reduce).done()), "asks for posix.system"));
}

TEST(SnapshotReader, RejectsTinyFiles) {
    EXPECT_TRUE(contains(error_of(Bytes{}), "empty"));
    EXPECT_TRUE(contains(error_of(Bytes{0x80}), "ends in the middle of the snapshot (after 1 bytes)"));
    EXPECT_TRUE(contains(error_of(Bytes{opcode::empty_dict}), "ends in the middle"));
    EXPECT_TRUE(contains(error_of(test::pack({}, test::Packing::gzip)), "unpacks to nothing"));
}

TEST(SnapshotReader, NamesTheFileInErrors) {
    Progress progress;
    const auto json = read_snapshot_file(data_file("s1_plain.json"), progress);
    ASSERT_FALSE(json);
    EXPECT_TRUE(contains(json.error().message, data_file("s1_plain.json") + ": This looks like a JSON file."));
    const auto missing = read_snapshot_file("/no/such/file", progress);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message, "Cannot open /no/such/file: No such file or directory.");
}

// Real files.

class RealSnapshot : public testing::TestWithParam<const char*> {};

TEST_P(RealSnapshot, ReadsAndReportsProgress) {
    Progress progress;
    double last = -1;
    progress.report = [&last](const char* phase, double fraction) {
        EXPECT_STREQ(phase, reading_phase);
        EXPECT_GE(fraction, last);
        last = fraction;
    };
    const auto snapshot = read_snapshot_file(data_file(GetParam()) + ".pickle", progress);
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_EQ(last, 1);
    ASSERT_EQ(snapshot->traces.size(), 1u);
    EXPECT_FALSE(snapshot->traces[0].empty());
    EXPECT_TRUE(snapshot->unknown_actions.empty());
    EXPECT_EQ(snapshot->settings.count("expandable_segments"), 1u);
}

INSTANTIATE_TEST_SUITE_P(SnapshotReader, RealSnapshot,
                         testing::Values("adam_steps", "cudagraph", "frag_oom", "gpt_ring", "s0_graph_leak", "s1_plain",
                                         "s1_retain_empty", "s2_oom_list", "s3_linear", "s3_varlen", "streams",
                                         "varlen_expandable"),
                         [](const auto& one) { return std::string(one.param); });

TEST(SnapshotReader, ReadsCompressedFilesAlike) {
    const Bytes plain = file_bytes(data_file("s3_varlen.pickle"));
    const auto expected = read(plain);
    ASSERT_TRUE(expected);
    for (const auto packing : {test::Packing::gzip, test::Packing::xz, test::Packing::zstd}) {
        const auto packed = read(test::pack(plain, packing));
        ASSERT_TRUE(packed) << packed.error().message;
        EXPECT_EQ(text_of(*packed), text_of(*expected));
    }
}

TEST(SnapshotReader, DetectsEveryTruncation) {
    const Bytes whole = file_bytes(data_file("s1_retain_empty.pickle"));
    ASSERT_TRUE(read(whole));
    for (size_t i = 1; i < 20; ++i) {
        const size_t size = whole.size() * i / 20;
        EXPECT_TRUE(contains(error_of(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size))),
                             "ends in the middle of the snapshot (after " + std::to_string(size) + " bytes)"));
    }
}

TEST(SnapshotReader, SurvivesEveryChangedByte) {
    Bytes bytes = file_bytes(data_file("s2_oom_list.pickle"));
    for (uint8_t& byte : bytes) {
        const uint8_t kept = byte;
        for (const uint8_t change : {uint8_t{0x01}, uint8_t{0x80}, uint8_t{0xff}}) {
            byte = kept ^ change;
            const auto snapshot = read(bytes);
            EXPECT_TRUE(snapshot || !snapshot.error().message.empty());
        }
        byte = kept;
    }
}

TEST(SnapshotReader, StopsWhenCanceled) {
    const Bytes bytes = file_bytes(data_file("s0_graph_leak.pickle"));
    auto source = ByteSource::from_memory(bytes);
    ASSERT_TRUE(source);
    Progress progress;
    progress.report = [&progress](const char*, double) { progress.canceled = true; };
    const auto snapshot = read_snapshot(**source, progress);
    ASSERT_FALSE(snapshot);
    EXPECT_EQ(snapshot.error().kind, ErrorKind::canceled);
}

}  // namespace
}  // namespace tidemark
