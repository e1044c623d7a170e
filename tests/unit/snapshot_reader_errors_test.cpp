// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Rejects invalid snapshots and files that are not snapshots.
#include "storage/import/snapshot_reader.h"

#include <gtest/gtest.h>

#include "tests/unit/snapshot_builder.h"

namespace tidemark {
namespace {

using namespace test;

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
    for (int i = 0; i < 50; ++i) {  // every level contains the level below twice
        const uint32_t below = laughs.memoize();
        laughs.op(opcode::pop).op(opcode::empty_list).op(opcode::mark).get(below).get(below).op(opcode::appends);
    }
    const auto snapshot = read(laughs.op(opcode::setitem).op(opcode::setitem).done());
    ASSERT_TRUE(snapshot) << snapshot.error().sentence.english();
    EXPECT_EQ(snapshot->settings.at("x"), "\"(more than 64 KiB)\"");
}

TEST(SnapshotReader, RejectsEndlessStacks) {
    PickleBuilder builder;
    builder.op(opcode::empty_list).op(opcode::mark).value(frame("f", "a.py", 1));
    for (int i = 0; i < 70'000; ++i) {  // the same frame many times
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
    EXPECT_TRUE(
        contains(json.error().sentence.english(), data_file("s1_plain.json") + ": This looks like a JSON file."));
    const auto missing = read_snapshot_file("/no/such/file", progress);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().sentence.english(), "/no/such/file cannot be opened: No such file or directory.");
}

}  // namespace
}  // namespace tidemark
