// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The trace file: reading returns the written trace; forged and corrupt files are rejected; FORMAT.md is correct.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "storage/analysis/analysis.h"
#include "storage/format/chunk_codec.h"
#include "storage/format/schema.h"
#include "storage/import/derive_history.h"
#include "storage/import/import.h"
#include "storage/read/open_trace.h"
#include "storage/read/read_graph.h"
#include "storage/timeline/curves.h"
#include "tests/unit/change_trace.h"
#include "tests/unit/query_rows.h"
#include "tests/unit/recorded_rows.h"
#include "tests/unit/small_graph.h"
#include "tests/unit/trace_equality.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

/// Of a file that a writer of the trace left.
constexpr const char* part_ending = ".0123456789abcdef.part";

class TraceFile : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("tidemark_trace_" + std::to_string(::getpid()));
        fs::create_directories(folder_);
        path_ = (folder_ / "run.tide").string();
        Progress progress;
        auto imported = import_snapshot(snapshot("streams"), path_, IfExists::replace, progress);
        ASSERT_TRUE(imported) << imported.error().sentence.english();
        original_ = *imported;
    }
    void TearDown() override { fs::remove_all(folder_); }

    static std::string snapshot(const std::string& name) {
        return std::string(TIDEMARK_TEST_DATA) + "/snapshots/" + name + ".pickle";
    }
    static Result<std::shared_ptr<const Trace>> open(const std::string& path) {
        Progress progress;
        return open_trace(path, progress);
    }
    void alter(const char* sql) { test::change_trace(path_, sql); }
    void expect_rejected(ErrorKind kind, const std::string& words) {
        const auto opened = open(path_);
        ASSERT_FALSE(opened);
        const std::string sentence = opened.error().sentence.english();
        EXPECT_EQ(kind, opened.error().kind) << sentence;
        EXPECT_NE(std::string::npos, sentence.find(words)) << sentence;
    }

    fs::path folder_;
    std::string path_;
    std::shared_ptr<const Trace> original_;
};

TEST_F(TraceFile, ReadsTheWrittenTrace) {
    for (const char* name : {"streams", "cudagraph", "varlen_expandable", "expandable_mixed", "gpt_ring", "two_gpus"}) {
        SCOPED_TRACE(name);
        Progress progress;
        const auto written = import_snapshot(snapshot(name), path_, IfExists::replace, progress);
        ASSERT_TRUE(written) << written.error().sentence.english();
        const auto read = open(path_);
        ASSERT_TRUE(read) << read.error().sentence.english();
        ASSERT_EQ((*written)->devices.size(), (*read)->devices.size());
        for (size_t d = 0; d < (*read)->devices.size(); ++d) {
            test::expect_same_device((*written)->devices[d], (*read)->devices[d]);
        }
        EXPECT_EQ((*written)->data_gaps.size(), (*read)->data_gaps.size());
        EXPECT_EQ((*written)->annotations.size(), (*read)->annotations.size());
        EXPECT_EQ((*written)->stacks.stack_count(), (*read)->stacks.stack_count());
        EXPECT_EQ((*written)->settings, (*read)->settings);
    }
}

TEST_F(TraceFile, OpensWithoutChunks) {
    alter("DELETE FROM allocation_chunk");
    const auto read = open(path_);
    ASSERT_TRUE(read) << read.error().sentence.english();
    test::expect_same_device(original_->main_device(), (*read)->main_device());
}

TEST_F(TraceFile, IsOneFileNotInWalMode) {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
        EXPECT_EQ("run.tide", entry.path().filename());
        ++files;
    }
    EXPECT_EQ(1, files);
    std::ifstream file(path_, std::ios::binary);
    std::string head(100, '\0');
    file.read(head.data(), 100);
    EXPECT_EQ("TIDE", head.substr(68, 4));
    EXPECT_EQ(1, head[18]) << "not in WAL mode";
}

TEST_F(TraceFile, ReadingDoesNotModifyTheFile) {
    const auto before = fs::last_write_time(path_);
    chmod(path_.c_str(), 0444);
    ASSERT_TRUE(open(path_));
    EXPECT_EQ(before, fs::last_write_time(path_));
}

TEST_F(TraceFile, DoesNotReplaceAnExistingFileUnlessAllowed) {
    Progress progress;
    const auto again = import_snapshot(snapshot("s1_plain"), path_, IfExists::fail, progress);
    ASSERT_FALSE(again);
    EXPECT_EQ(ErrorKind::environment, again.error().kind);
    EXPECT_TRUE(open(path_));
}

TEST_F(TraceFile, CanceledWritingKeepsTheOldFile) {
    Progress progress;
    progress.canceled = true;
    EXPECT_FALSE(write_trace(*original_, peak_events(*original_), path_, IfExists::replace, progress));
    EXPECT_TRUE(open(path_));
    EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(path_).parent_path()), fs::directory_iterator()), 1);
}

TEST_F(TraceFile, RejectsASecondWriterOfTheSameTarget) {
    const int other = ::open((path_ + part_ending).c_str(), O_CREAT | O_RDWR, 0666);
    ASSERT_EQ(0, flock(other, LOCK_EX));
    Progress progress;
    const auto status = write_trace(*original_, peak_events(*original_), path_, IfExists::replace, progress);
    ASSERT_FALSE(status);
    EXPECT_NE(std::string::npos, status.error().sentence.english().find("another program"));
    EXPECT_TRUE(fs::exists(path_ + part_ending)) << "the other writer's file must stay";
    ::close(other);
    EXPECT_TRUE(write_trace(*original_, peak_events(*original_), path_, IfExists::replace, progress))
        << "a file that a killed writer left is replaced";
}

TEST_F(TraceFile, RejectsForeignEmptyAndMissingFiles) {
    alter("PRAGMA application_id=7");
    expect_rejected(ErrorKind::input, "another program");
    std::ofstream(path_, std::ios::trunc) << "hello";
    expect_rejected(ErrorKind::input, "not a Tidemark trace");
    std::ofstream(path_, std::ios::trunc) << "";
    expect_rejected(ErrorKind::input, "empty");
    fs::remove(path_);
    expect_rejected(ErrorKind::environment, "cannot be opened");
    fs::create_directory(path_);
    expect_rejected(ErrorKind::input, "is a folder");
}

TEST_F(TraceFile, RejectsNewerVersions) {
    alter("PRAGMA user_version=99");
    expect_rejected(ErrorKind::input, "newer Tidemark");
}

TEST_F(TraceFile, RejectsTriggersAndViewsInPlaceOfTables) {
    alter("CREATE TRIGGER t AFTER INSERT ON meta BEGIN SELECT 1; END");
    expect_rejected(ErrorKind::input, "trigger");
    alter("DROP TRIGGER t; DROP TABLE sample; CREATE VIEW sample AS SELECT 1 AS id");
    expect_rejected(ErrorKind::input, "not an ordinary table");
}

TEST_F(TraceFile, IgnoresUnknownTables) {
    alter("CREATE TABLE of_the_future(x); INSERT INTO of_the_future VALUES(1)");
    EXPECT_TRUE(open(path_));
}

TEST_F(TraceFile, RejectsInvalidReferencesAndCounts) {
    for (const char* sql : {"UPDATE segment SET stream=77 WHERE id=1", "UPDATE stack SET caller=id WHERE id=3",
                            "UPDATE device SET events=events-1", "UPDATE device SET events=2000000000",
                            "UPDATE frame SET file=123456 WHERE id=1", "DELETE FROM string WHERE id=2",
                            "UPDATE segment SET size=-1 WHERE id=1",
                            "DELETE FROM allocation_chunk; UPDATE allocation SET requested=-5"}) {
        SCOPED_TRACE(sql);
        SetUp();
        alter(sql);
        EXPECT_FALSE(open(path_));
    }
}

TEST_F(TraceFile, ReportsEventsWithoutARow) {
    alter("DELETE FROM event");
    const auto read = open(path_);
    ASSERT_TRUE(read) << read.error().sentence.english();
    const DeviceHistory& device = (*read)->main_device();
    EXPECT_LE(1, test::count_gaps((*read)->data_gaps, DataGapReason::undescribed_events));
    EXPECT_EQ(1, test::count_gaps((*read)->data_gaps, DataGapReason::tables_changed));
    for (const EventRef ref : device.event_ref) {
        EXPECT_TRUE(ref.action() != Action::unknown || ref.index() < device.others.size());
    }
}

TEST_F(TraceFile, KeepsASecondFreeOfASegmentAsAnEvent) {
    Snapshot snapshot;
    snapshot.streams = {0};
    SnapshotEvent segment_free;
    segment_free.action = Action::segment_free;
    segment_free.address = 1 << 30;
    segment_free.size = 20 << 20;
    snapshot.traces = {{segment_free, segment_free}};
    auto trace = std::make_shared<Trace>();
    trace->devices.push_back(derive_history(snapshot, 0, 0, trace->data_gaps));
    const DeviceHistory& device = trace->devices.front();
    ASSERT_EQ(1u, device.others.size());
    EXPECT_EQ("segment_free", device.others[0].name);
    EXPECT_EQ(0, Analysis(trace, device).curves().value(Series::reserved, 2));
}

TEST_F(TraceFile, SurvivesDamagedBytesAndRejectsTruncatedFiles) {
    std::ifstream in(path_, std::ios::binary);
    const std::string good((std::istreambuf_iterator<char>(in)), {});
    uint32_t seed = 17;
    for (int k = 0; k < 150; ++k) {
        std::string bad = good;
        for (int flips = 0; flips <= k % 4; ++flips) {
            seed = seed * 1664525 + 1013904223;
            bad[seed % bad.size()] ^= static_cast<char>(1 + (seed >> 24) % 255);
        }
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << bad;
        const auto opened = open(path_);  // either an error or a trace, but no crash
        if (!opened) {
            EXPECT_FALSE(opened.error().sentence.english().empty());
        }
    }
    for (int k = 0; k < 20; ++k) {
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << good.substr(0, good.size() * k / 20);
        EXPECT_FALSE(open(path_)) << k << "/20 of the file";
    }
}

TEST_F(TraceFile, OpensEveryReleasedFormat) {
    // One trace of each version, written by that version from expandable_graph.pickle, and since version 2 with
    // small_graph(). The test below writes the current version. Traces of released versions are never rewritten.
    Progress progress;
    const auto imported = read_snapshot_trace(snapshot("expandable_graph"), progress);
    ASSERT_TRUE(imported);
    for (int version = 1; version <= trace_format_version; ++version) {
        SCOPED_TRACE(version);
        const auto old = open(std::string(TIDEMARK_TEST_DATA) + "/traces/format-" + std::to_string(version) + ".tide");
        ASSERT_TRUE(old) << old.error().sentence.english();
        EXPECT_EQ(version, (*old)->format_version);
        test::expect_same_device((*imported)->main_device(), (*old)->main_device());
    }
}

/// Queries for all graph data of a trace.
constexpr const char* graph_queries[] = {
    "SELECT id, type, variable, sequence, output, state, created_time, executed_time, released_time, destroyed_time "
    "FROM "
    "nodes "
    "ORDER BY id",
    "SELECT * FROM autograd_edge ORDER BY node, slot",
    "SELECT node, name, allocation, byte_offset, bytes, version, is_view, is_packed, destroyed_time FROM saved_tensors "
    "ORDER BY id",
    "SELECT allocation, time, category, text FROM allocation_category c LEFT JOIN string ON string.id = name "
    "ORDER BY c.id",
    "SELECT * FROM heap_scan",
    "SELECT * FROM referrer ORDER BY id",
    "SELECT referrer, position, kind, name.text, function.text, file.text, line FROM path_link LEFT JOIN string name "
    "ON name.id = name LEFT JOIN string function ON function.id = function LEFT JOIN string file ON file.id = file "
    "ORDER BY referrer, position",
    "SELECT value FROM meta WHERE key = 'graph.nodes_left_out'",
};

TEST_F(TraceFile, ReadsGraphsOfEveryFormat) {
    Progress progress;
    const auto trace = read_snapshot_trace(snapshot("expandable_graph"), progress);
    ASSERT_TRUE(trace) << trace.error().sentence.english();
    (*trace)->source_text.add("/home/anna/train.py", 31, "    losses.append(loss)");
    const GraphTables graph = test::small_graph(**trace);
    ASSERT_TRUE(write_trace(**trace, peak_events(**trace), path_, IfExists::replace, progress, &graph));
    if (const char* copy_path = std::getenv("TIDEMARK_KEEP_FORMAT_TRACE")) {
        fs::copy_file(path_, copy_path, fs::copy_options::overwrite_existing);
    }
    ASSERT_TRUE(open(path_));
    const DeviceHistory& device = (*trace)->devices.front();
    const auto id = [&](uint32_t from_end) {
        return std::to_string(device.allocation_id(device.allocations.size() - 1 - from_end));
    };
    using Rows = std::vector<std::string>;
    const Rows expected_rows[] = {
        {"5|AccumulateGrad|layer.weight|NULL|" + id(0) + "|never_executed|NULL|NULL|NULL|NULL",
         "6|MulBackward0|NULL|41|" + id(2) + "|executed|10|20|NULL|NULL",
         "9|MeanBackward0|NULL|42|NULL|released|11|20|20|NULL",
         "10|MeanBackward0|NULL|43|" + id(3) + "|destroyed|12|21|21|30"},
        {"6|1|5|0", "9|0|6|3"},
        {"6|self|" + id(1) + "|64|100|1|1|0|NULL", "6|self|NULL|0|0|2|0|1|NULL",
         "9|self|" + id(2) + "|0|50|0|0|0|NULL"},
        {id(0) + "|1|parameter|layer.weight", id(3) + "|2|optimizer state|NULL", id(0) + "|3|unknown|NULL"},
        {"1|40|end|5000000|1000|12"},
        {"1|1|9|" + id(3), "2|1|NULL|NULL"},
        {"1|0|local|losses|train|/home/anna/train.py|31", "1|1|index|[3]|NULL|NULL|NULL"},
        {"7"}};
    const auto expect_graph_rows = [&](const std::string& path) {
        for (size_t i = 0; i < std::size(graph_queries); ++i) {
            EXPECT_EQ(expected_rows[i], test::query_rows(path, graph_queries[i]));
        }
    };
    expect_graph_rows(path_);
    // Graphs of older formats must have the same rows after they are read and written with the current format. Format 1
    // has no graph.
    for (int version = 2; version <= trace_format_version; ++version) {
        SCOPED_TRACE(version);
        const auto old = open(std::string(TIDEMARK_TEST_DATA) + "/traces/format-" + std::to_string(version) + ".tide");
        ASSERT_TRUE(old) << old.error().sentence.english();
        const auto old_graph = read_graph(**old, progress);
        ASSERT_TRUE(old_graph) << old_graph.error().sentence.english();
        ASSERT_TRUE(write_trace(**old, peak_events(**old), path_, IfExists::replace, progress, old_graph->get()));
        expect_graph_rows(path_);
        EXPECT_EQ((*old)->source_text.empty(), version < 5);
    }
}

TEST(CategoryNames, ConvertBackToTheSameCategory) {
    for (int i = 0; i < category_count; ++i) {
        EXPECT_EQ(static_cast<Category>(i), category_from_name(category_name(static_cast<Category>(i))));
    }
    EXPECT_EQ("saved for backward", category_name(Category::saved));
    EXPECT_EQ(Category::unknown, category_from_name("of the future"));
}

TEST_F(TraceFile, RejectsMissingTables) {
    for (const char* sql : {"DROP TABLE holder_link", "DROP TABLE op"}) {
        SCOPED_TRACE(sql);
        const int version = std::string(sql).ends_with("op") ? 1 : 2;
        fs::copy_file(std::string(TIDEMARK_TEST_DATA) + "/traces/format-" + std::to_string(version) + ".tide", path_,
                      fs::copy_options::overwrite_existing);
        ASSERT_TRUE(open(path_));
        alter(sql);
        expect_rejected(ErrorKind::input, "tables are missing");
    }
    fs::copy_file(std::string(TIDEMARK_TEST_DATA) + "/traces/format-1.tide", path_,
                  fs::copy_options::overwrite_existing);
    alter("CREATE VIEW referrer AS SELECT 1 AS id");
    expect_rejected(ErrorKind::input, "not an ordinary table");
}

TEST_F(TraceFile, ReadsTheRowsOfARecorder) {
    const Trace trace = test::recorded(*original_);
    Progress progress;
    ASSERT_TRUE(write_trace(trace, peak_events(trace), path_, IfExists::replace, progress));
    const auto read = open(path_);
    ASSERT_TRUE(read) << read.error().sentence.english();
    test::expect_same_rows(trace.processes, (*read)->processes, "process");
    test::expect_same_rows(trace.steps, (*read)->steps, "step");
    test::expect_same_rows(trace.driver_allocations, (*read)->driver_allocations, "driver allocation");
    test::expect_same_rows(trace.samples, (*read)->samples, "sample");
    test::expect_same_rows(trace.data_gaps, (*read)->data_gaps, "data_gap");
    EXPECT_EQ(trace.nvml_pid, (*read)->nvml_pid);
    EXPECT_EQ(trace.source_text, (*read)->source_text);
}

/// Recorders of steps that repeat learn of a segment late: the driver may have freed its memory meanwhile.
TEST_F(TraceFile, FindsTheDriverMemoryOfSegments) {
    alter(
        "INSERT INTO driver_allocation(id, device, kind, address, bytes, time, free_time) "
        "SELECT id, device, 'device', address, size, alloc_time - 1, alloc_time + 1 FROM segment "
        "WHERE alloc_event IS NOT NULL;"
        "INSERT INTO driver_allocation(id, device, kind, address, bytes, time, free_time) "
        "SELECT 1000 + id, device, 'device', address, bytes, time - 2, time FROM driver_allocation;"
        "INSERT INTO driver_allocation(id, device, kind, address, bytes, time, free_time) "
        "SELECT 2000 + id, device, 'device', address, bytes - 512, time, free_time FROM driver_allocation WHERE id < "
        "1000");
    const auto read = open(path_);
    ASSERT_TRUE(read) << read.error().sentence.english();
    const auto& rows = (*read)->driver_allocations;
    ASSERT_FALSE(rows.empty());
    const auto in_allocator =
        std::count_if(rows.begin(), rows.end(), [](const DriverAllocation& a) { return a.in_allocator; });
    EXPECT_EQ(in_allocator * 3, static_cast<int64_t>(rows.size())) << "others had the address before, or another size";
}

TEST_F(TraceFile, RejectsOrIgnoresInvalidRowsOfARecorder) {
    Progress progress;
    for (const char* sql :
         {"UPDATE driver_allocation SET bytes=-1 WHERE id=1", "UPDATE driver_allocation SET bytes=1<<61 WHERE id=1",
          "UPDATE driver_allocation SET stack=123456 WHERE id=1"}) {
        SCOPED_TRACE(sql);
        ASSERT_TRUE(write_trace(test::recorded(*original_), peak_events(test::recorded(*original_)), path_,
                                IfExists::replace, progress));
        alter(sql);
        EXPECT_FALSE(open(path_));
    }
    ASSERT_TRUE(write_trace(test::recorded(*original_), peak_events(test::recorded(*original_)), path_,
                            IfExists::replace, progress));
    alter(
        "UPDATE sample SET used_bytes=-5, device=1<<40; UPDATE driver_allocation SET source=1<<40, device=-9;"
        "INSERT INTO sample VALUES(NULL,-7,0,NULL,NULL,NULL,'nvml'),(NULL,-7,0,NULL,1,NULL,'nvml');"
        "INSERT INTO step VALUES(NULL,5,'user',-3,NULL)");
    const auto read = open(path_);
    ASSERT_TRUE(read) << read.error().sentence.english();
    ASSERT_EQ(3u, (*read)->samples.size()) << "samples without any value are omitted";
    EXPECT_EQ(-7, (*read)->samples[0].time) << "sorted by time";
    EXPECT_EQ(0, (*read)->samples[1].used_bytes);
    EXPECT_EQ(-1, (*read)->samples[1].device);
    EXPECT_EQ("", (*read)->driver_allocations[0].source);
    EXPECT_EQ(5, (*read)->steps[0].number);
}

TEST_F(TraceFile, ReadsRowsIfChunksAreIncomplete) {
    Progress progress;
    Trace half = *original_;
    DeviceHistory& device = half.devices[0];
    const std::string whole = path_ + ".whole";
    ASSERT_TRUE(write_trace(half, peak_events(half), whole, IfExists::fail, progress));
    device.allocations.resize(device.allocations.size() - 1);
    ASSERT_TRUE(write_trace(half, peak_events(half), path_, IfExists::replace, progress));
    alter(("ATTACH '" + whole +
           "' AS whole; DELETE FROM allocation;"
           "INSERT INTO allocation SELECT * FROM whole.allocation")
              .c_str());
    const auto read = open(path_);
    ASSERT_TRUE(read) << read.error().sentence.english();
    test::expect_same_device(original_->main_device(), (*read)->main_device());
}

TEST_F(TraceFile, QueriesOfFormatMdReturnRows) {
    Progress progress;
    const GraphTables graph = test::small_graph(*original_);
    ASSERT_TRUE(write_trace(test::recorded(*original_), peak_events(test::recorded(*original_)), path_,
                            IfExists::replace, progress, &graph));
    std::ifstream in(std::string(TIDEMARK_TEST_DATA) + "/../../storage/format/FORMAT.md");
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const std::regex block("```sql\n([^`]*)```");
    int queries = 0;
    for (std::sregex_iterator it(text.begin(), text.end(), block), end; it != end; ++it, ++queries) {
        EXPECT_FALSE(test::query_rows(path_, (*it)[1]).empty()) << (*it)[1];
    }
    EXPECT_EQ(10, queries);
}

TEST_F(TraceFile, FormatMdNamesTheVersionAndListsEveryTable) {
    std::ifstream in(std::string(TIDEMARK_TEST_DATA) + "/../../storage/format/FORMAT.md");
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    for (std::string_view name : table_names()) {
        EXPECT_NE(std::string::npos, text.find("`" + std::string(name) + "`")) << name;
    }
    const std::string version = "format version, currently **" + std::to_string(trace_format_version) + "**";
    EXPECT_NE(std::string::npos, text.find(version)) << version;
}

TEST_F(TraceFile, ReportsAnUnwritableTarget) {
    // The part file cannot be created because the parent is not a folder.
    Progress progress;
    const auto status = write_trace(*original_, peak_events(*original_), path_ + "/x.tide", IfExists::fail, progress);
    ASSERT_FALSE(status);
    EXPECT_EQ(ErrorKind::environment, status.error().kind);
}

}  // namespace
}  // namespace tidemark
