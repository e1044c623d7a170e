// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Source lines in a trace: what the file contains, what a reader refuses, what sharing removes.
#include "storage/trace/source_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "storage/export/share.h"
#include "storage/read/open_trace.h"
#include "storage/timeline/curves.h"
#include "storage/trace/limits.h"
#include "tests/unit/change_trace.h"
#include "tests/unit/query_rows.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark {
namespace {

using Folder = test::TemporaryFolder;

constexpr const char* train = "/home/anna/project/train.py";

SourceText lines(int32_t first, int32_t last) {
    SourceText text;
    for (int32_t number = first; number <= last; ++number) {
        text.add(train, number, "line " + std::to_string(number));
    }
    return text;
}

std::vector<int32_t> numbers(const SourceExcerpt& excerpt) {
    std::vector<int32_t> result;
    for (const SourceLine& line : excerpt.lines) {
        result.push_back(line.number);
    }
    return result;
}

Result<std::shared_ptr<const Trace>> open(const std::string& path) {
    Progress progress;
    return open_trace(path, progress);
}

/// Writes a trace with three lines of train.py. Returns its path.
std::string write_trace_with_source(const Folder& folder) {
    Trace trace = test::sample_trace();
    trace.source_text.add(train, 19, "    for batch in zqsecretbatches:");
    trace.source_text.add(train, 20, "        zqsecrettotal += loss");
    trace.source_text.add(train, 21, "");
    Progress progress;
    const std::string path = folder / "run.tide";
    EXPECT_TRUE(write_trace(trace, peak_events(trace), path, IfExists::replace, progress));
    return path;
}

TEST(SourceText, ReturnsALineWithItsNeighbors) {
    SourceText text = lines(10, 14);
    text.add(train, 16, "apart");
    EXPECT_FALSE(text.add(train, 16, "again"));
    EXPECT_EQ(numbers(text.around(train, 12, 1)), (std::vector<int32_t>{11, 12, 13}));
    EXPECT_EQ(numbers(text.around(train, 13, 2)), (std::vector<int32_t>{11, 12, 13, 14}));
    EXPECT_EQ(numbers(text.around(train, 16, 2)), (std::vector<int32_t>{16}));
    EXPECT_EQ(text.around(train, 12, 1).line, 12);
    EXPECT_TRUE(text.around(train, 15, 2).empty());
    EXPECT_TRUE(text.around("/home/anna/other.py", 12, 2).empty());
}

TEST(SourceText, IsInTheFile) {
    const Folder folder;
    const std::string path = write_trace_with_source(folder);
    EXPECT_EQ(test::query_rows(path,
                               "SELECT string.text, line, source_line.text FROM source_line JOIN string ON string.id = "
                               "file ORDER BY line LIMIT 1"),
              std::vector<std::string>{std::string(train) + "|19|    for batch in zqsecretbatches:"});
    const auto trace = open(path);
    ASSERT_TRUE(trace) << trace.error().sentence.english();
    EXPECT_EQ((*trace)->integrity, Integrity::intact);
    EXPECT_EQ((*trace)->source_text.files().at(train).size(), 3u);
    EXPECT_EQ(*(*trace)->source_text.line(train, 20), "        zqsecrettotal += loss");
}

TEST(SourceText, IsEmptyInOlderTraces) {
    for (int version = 1; version <= 4; ++version) {
        const auto trace =
            open(std::string(TIDEMARK_TEST_DATA) + "/traces/format-" + std::to_string(version) + ".tide");
        ASSERT_TRUE(trace) << trace.error().sentence.english();
        EXPECT_TRUE((*trace)->source_text.empty());
        EXPECT_TRUE((*trace)->integrity != Integrity::changed);
    }
}

TEST(SourceText, BeyondTheLimitsIsRefused) {
    for (const char* sql :
         {"UPDATE source_line SET line = 0 WHERE line = 20", "UPDATE source_line SET line = 1 << 40 WHERE line = 20",
          "UPDATE source_line SET line = 19 WHERE line = 20", "UPDATE source_line SET file = 123456",
          "UPDATE source_line SET file = -1", "UPDATE source_line SET text = printf('%.401c', 'x')",
          "UPDATE source_line SET text = 'a' || char(10) || 'b'",
          "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
          "INSERT INTO source_line SELECT NULL, (SELECT min(file) FROM source_line), i, printf('%.399c', 'x') FROM "
          "n"}) {
        const Folder folder;
        const std::string path = write_trace_with_source(folder);
        test::change_trace(path, sql);
        const auto trace = open(path);
        ASSERT_FALSE(trace) << sql;
        EXPECT_EQ(trace.error().kind, ErrorKind::input);
    }
}

TEST(SourceText, AChangedLineIsReported) {
    const Folder folder;
    const std::string path = write_trace_with_source(folder);
    test::change_trace(path, "UPDATE source_line SET text = 'forged' WHERE line = 20");
    const auto trace = open(path);
    ASSERT_TRUE(trace);
    ASSERT_EQ((*trace)->data_gaps.size(), 1u);
    EXPECT_EQ((*trace)->data_gaps[0].argument("tables"), "source_line");
}

TEST(SourceText, EachRedactionOfTextsRemovesIt) {
    const Folder folder;
    const std::string path = write_trace_with_source(folder);
    for (const char* what : {"", "times", "paths", "names", "source"}) {
        SCOPED_TRACE(what);
        const std::string copy = folder / (std::string("copy") + what + ".tide");
        Progress progress;
        const auto redaction = redaction_from_names(what);
        ASSERT_TRUE(share_trace(path, copy, {*redaction, "", ""}, IfExists::fail, progress));
        std::ifstream file(copy, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        const bool is_kept = !redaction->replaces_texts();
        EXPECT_EQ(bytes.find("zqsecrettotal") != bytes.npos, is_kept);
        EXPECT_EQ((*open(copy))->source_text.empty(), !is_kept);
    }
}

}  // namespace
}  // namespace tidemark
