// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Queries of users: what they may read, their limits, their errors, and traces of every format.
#include "storage/query/query.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "storage/import/import.h"
#include "storage/query/query_names.h"
#include "tests/unit/change_trace.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

std::string texts_of(const QueryRows& rows) {
    std::string text;
    for (size_t i = 0; i < rows.values.size(); ++i) {
        const QueryValue& value = rows.values[i];
        const auto* integer = std::get_if<int64_t>(&value);
        const auto* real = std::get_if<double>(&value);
        const auto* string = std::get_if<std::string>(&value);
        const auto* blob = std::get_if<BlobSize>(&value);
        text += (i == 0                         ? ""
                 : i % rows.columns.size() == 0 ? "\n"
                                                : "|") +
                (integer  ? std::to_string(*integer)
                 : real   ? fmt::to_string(*real)
                 : string ? *string
                 : blob   ? "blob " + std::to_string(blob->bytes)
                          : "NULL");
    }
    return text;
}

class Query : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("tidemark_query_" + std::to_string(::getpid()));
        fs::create_directories(folder_);
        path_ = (folder_ / "run.tide").string();
        Progress progress;
        const auto imported = import_snapshot(std::string(TIDEMARK_TEST_DATA) + "/snapshots/two_gpus.pickle", path_,
                                              IfExists::replace, progress);
        ASSERT_TRUE(imported) << imported.error().sentence.english();
        trace_ = *imported;
    }
    void TearDown() override { fs::remove_all(folder_); }

    QueryOutcome query(std::string_view sql, const QueryLimits& limits = {}) const {
        Progress progress;
        return query_file(path_, sql, limits, progress);
    }
    std::string rows(std::string_view sql) const {
        const auto outcome = query(sql);
        return outcome ? texts_of(*outcome) : "error: " + outcome.error().error.sentence.english();
    }
    std::string error(std::string_view sql, ErrorKind kind = ErrorKind::usage, const QueryLimits& limits = {}) const {
        const auto outcome = query(sql, limits);
        if (outcome) {
            ADD_FAILURE() << sql << " is no error";
            return texts_of(*outcome);
        }
        EXPECT_EQ(outcome.error().error.kind, kind) << sql;
        return outcome.error().error.sentence.english();
    }

    fs::path folder_;
    std::string path_;
    std::shared_ptr<const Trace> trace_;
};

TEST_F(Query, ReturnsValuesWithTheirTypes) {
    EXPECT_EQ(rows("SELECT 1, 2.5, 'ü', NULL, x'0102' UNION ALL SELECT 2, 3.5, '', 4, zeroblob(9); -- end"),
              "1|2.5|ü|NULL|blob 2\n2|3.5||4|blob 9");
    const auto named = query("SELECT count(*) AS n, 1 FROM allocations");
    ASSERT_TRUE(named) << named.error().error.sentence.english();
    EXPECT_EQ(named->columns[0].name, "n");
    int64_t allocations = 0;
    for (const DeviceHistory& device : trace_->devices) {
        allocations += static_cast<int64_t>(device.allocations.size());
    }
    EXPECT_EQ(std::get<int64_t>(named->at(0, 0)), allocations);
    EXPECT_EQ(query("SELECT * FROM nodes")->row_count(), 0U);
}

TEST_F(Query, KnowsColumnsWithIdsOfAllocations) {
    const auto flags = [&](std::string_view sql) {
        std::string text;
        const auto outcome = query(sql);
        for (const QueryColumn& column : outcome ? outcome->columns : std::vector<QueryColumn>()) {
            text += column.is_allocation ? 'A' : '.';
        }
        return text;
    };
    EXPECT_EQ(flags("SELECT * FROM live_at_peak").substr(0, 3), "A..");
    EXPECT_EQ(flags("SELECT id, block_bytes, id + 1 FROM allocations"), "A..");
    EXPECT_EQ(flags("SELECT id AS renamed FROM (SELECT id FROM allocations LIMIT 3)"), "A");
    EXPECT_EQ(flags("SELECT id, output FROM nodes"), ".A");
    EXPECT_EQ(flags("SELECT node, allocation FROM saved_tensors"), ".A");
    EXPECT_EQ(flags("SELECT id FROM segments"), ".");
    EXPECT_EQ(flags("SELECT id FROM stacks"), ".");
    // Every id selects its allocation.
    const auto ids = query("SELECT id FROM allocations WHERE device = 1");
    ASSERT_TRUE(ids);
    ASSERT_GT(ids->row_count(), 0U);
    for (size_t row = 0; row < ids->row_count(); ++row) {
        EXPECT_TRUE(trace_->devices[1].find_allocation(std::get<int64_t>(ids->at(row, 0))));
    }
}

TEST_F(Query, ReadsAllFormats) {
    for (int version = 1; version <= 7; ++version) {
        SCOPED_TRACE(version);
        Progress progress;
        const std::string path =
            std::string(TIDEMARK_TEST_DATA) + "/traces/format-" + std::to_string(version) + ".tide";
        for (const QueryTable& table : query_tables()) {
            const auto all = query_file(path, "SELECT * FROM " + table.name, {}, progress);
            ASSERT_TRUE(all) << table.name << ": " << all.error().error.sentence.english();
            std::set<std::string> names;
            for (const QueryColumn& column : all->columns) {
                names.insert(column.name);
            }
            for (const std::string& column : table.columns) {
                EXPECT_TRUE(names.contains(column)) << table.name << '.' << column;
            }
        }
        for (const QueryExample& example : query_examples()) {
            const auto answer = query_file(path, example.sql, {}, progress);
            EXPECT_TRUE(answer) << example.sql;
        }
        const auto allocations = query_file(path, "SELECT count(*) FROM allocations", {}, progress);
        ASSERT_TRUE(allocations);
        EXPECT_GT(std::get<int64_t>(allocations->at(0, 0)), 0);
    }
}

TEST_F(Query, ExamplesAreThoseOfFormatMd) {
    std::ifstream in(std::string(TIDEMARK_TEST_DATA) + "/../../storage/format/FORMAT.md");
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    size_t at = 0;
    for (const QueryExample& example : query_examples()) {
        const size_t next =
            text.find("\n" + example.question.english() + "\n\n```sql\n" + std::string(example.sql) + "\n```\n", at);
        ASSERT_NE(next, std::string::npos) << example.question.english();
        at = next;
    }
    EXPECT_EQ(query_examples().size(), 10U);
}

TEST_F(Query, NamesThePlaceOfAnError) {
    EXPECT_EQ(error("SELECT id,\n  block_byte FROM allocations"),
              "Line 2, column 3: There is no column \"block_byte\". The list of tables has the columns of each; texts "
              "are in 'single quotes'.");
    EXPECT_EQ(query("SELECT 'ü', x FROM meta").error().offset, 13U);
    EXPECT_THAT(error("SELECT 'ü', x FROM meta"), testing::StartsWith("Line 1, column 13: "));
    EXPECT_THAT(error("SELECT * FROM allocs"),
                testing::HasSubstr("\"allocs\". The views are allocations, live_at_peak,"));
    EXPECT_EQ(error("SELECT * FORM meta"), "Line 1, column 10: Syntax error near \"FORM\".");
    EXPECT_EQ(error("SELECT * FROM meta WHERE"), "The query is incomplete.");
    EXPECT_THAT(error("SELECT \"text\" FROM meta"), testing::HasSubstr("no column \"text\""));
    EXPECT_EQ(error("  -- nothing"), "The query is empty.");
    EXPECT_THAT(error("SELECT ?"), testing::HasSubstr("Parameters"));
    EXPECT_THAT(error("SELECT 1; SELECT 2"), testing::HasSubstr("one statement"));
    EXPECT_THAT(error("SELECT abs(-9223372036854775807 - 1)"), testing::HasSubstr("integer overflow"));
}

TEST_F(Query, OnlyReads) {
    const auto before = fs::last_write_time(path_);
    const std::string other = (folder_ / "other.db").string();
    for (const std::string& sql :
         {"ATTACH '" + other + "' AS other", std::string("DETACH main"), std::string("DELETE FROM allocation"),
          std::string("INSERT INTO meta VALUES('a', 'b')"), std::string("UPDATE meta SET value = ''"),
          std::string("CREATE TABLE t(x)"), std::string("CREATE TEMP TABLE t(x)"), std::string("DROP VIEW segments"),
          std::string("PRAGMA query_only=off"), std::string("PRAGMA writable_schema=on"),
          std::string("PRAGMA journal_mode=wal"), std::string("PRAGMA temp_store_directory='/'"),
          std::string("VACUUM INTO '") + other + "'", std::string("BEGIN"), std::string("SAVEPOINT a"),
          std::string("REINDEX"), std::string("ANALYZE"), std::string("EXPLAIN DELETE FROM meta")}) {
        EXPECT_EQ(error(sql), "A query only reads: begin it with SELECT or WITH.") << sql;
    }
    EXPECT_THAT(error("SELECT load_extension('/tmp/x.so')"), testing::HasSubstr("load_extension"));
    for (const char* table : {"dbstat", "sqlite_dbpage", "pragma_database_list", "pragma_query_only"}) {
        error(std::string("SELECT * FROM ") + table);
    }
    EXPECT_EQ(fs::last_write_time(path_), before);
    EXPECT_FALSE(fs::exists(other));
    EXPECT_EQ(rows("SELECT count(*) > 0 FROM sqlite_schema"), "1");
    EXPECT_EQ(rows("SELECT value FROM json_each('[1,2]')"), "1\n2");
}

TEST_F(Query, TrustsNoDefinitionInTheFile) {
    test::change_trace(path_,
                       "DROP VIEW segments; CREATE VIEW segments AS SELECT 'forged' AS id;"
                       "CREATE TABLE secret(x); CREATE VIEW more AS SELECT 1 AS x");
    EXPECT_EQ(rows("SELECT count(*) FROM segments WHERE id = 'forged'"), "0");
    error("SELECT * FROM main.segments");
    EXPECT_THAT(error("SELECT * FROM secret"), testing::HasSubstr("\"secret\" is not a documented view"));
    error("SELECT * FROM more");
    error("WITH w AS (SELECT x FROM secret) SELECT * FROM w");
    test::change_trace(path_, "CREATE VIRTUAL TABLE words USING fts5(text)");
    EXPECT_THAT(error("SELECT 1", ErrorKind::input), testing::HasSubstr("virtual table"));
}

TEST_F(Query, CutsRows) {
    QueryLimits limits;
    limits.rows = 3;
    auto cut = query("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c", limits);
    ASSERT_TRUE(cut) << cut.error().error.sentence.english();
    EXPECT_EQ(texts_of(*cut), "1\n2\n3");
    EXPECT_EQ(cut->cut, QueryCut::rows);
    EXPECT_EQ(query("SELECT 1 UNION SELECT 2 UNION SELECT 3", limits)->cut, QueryCut::none);
    limits = {};
    limits.bytes = 1 << 20;
    cut = query("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT hex(zeroblob(50000)) FROM c",
                limits);
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->cut, QueryCut::bytes);
    EXPECT_EQ(cut->row_count(), 10U);
}

TEST_F(Query, LimitsTime) {
    QueryLimits limits;
    limits.time = std::chrono::milliseconds(100);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THAT(error("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
                      ErrorKind::usage, limits),
                testing::HasSubstr("limit of time"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_F(Query, LimitsMemory) {
    EXPECT_THAT(error("SELECT zeroblob(1000000000)"), testing::HasSubstr("16 MiB"));
    EXPECT_THAT(error("SELECT length(randomblob(1000000000))"), testing::HasSubstr("16 MiB"));
    QueryLimits limits;
    limits.memory = 16 << 20;
    for (const char* sql :
         {"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT randomblob(1000000) FROM c ORDER BY "
          "1",
          "WITH RECURSIVE c(x) AS (SELECT randomblob(100000) UNION SELECT randomblob(100000) FROM c) SELECT count(*) "
          "FROM c",
          "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*), x FROM c GROUP BY x"}) {
        EXPECT_THAT(error(sql, ErrorKind::usage, limits), testing::HasSubstr("of memory and was stopped")) << sql;
    }
}

TEST_F(Query, CanBeCanceled) {
    Progress progress;
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        progress.canceled = true;
    });
    const auto outcome =
        query_trace(*trace_, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
                    {}, progress);
    other.join();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().error.kind, ErrorKind::canceled);
}

TEST_F(Query, ReportsDamage) {
    {
        std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(4096);
        const std::string garbage(static_cast<size_t>(fs::file_size(path_)) - 4096, '\x7f');
        file.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
    }
    error("SELECT count(*) FROM allocations", ErrorKind::input);
    fs::remove(path_);
    error("SELECT 1", ErrorKind::environment);
}

}  // namespace
}  // namespace tidemark
