// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Changes traces behind Tidemark's back.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <vector>

#include "storage/format/checksums.h"
#include "storage/format/seal.h"
#include "storage/trace/trace.h"

namespace tidemark::test {

/// Runs SQL on a trace, as the user could with sqlite3.
inline void change_trace(const std::string& path, const char* sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(SQLITE_OK, sqlite3_open(path.c_str(), &db));
    char* error = nullptr;
    EXPECT_EQ(SQLITE_OK, sqlite3_exec(db, sql, nullptr, nullptr, &error)) << error;
    sqlite3_free(error);
    sqlite3_close(db);
}

/// Changes a trace as a program could that means harm: its seal is intact.
inline void forge_trace(const std::string& path, const char* sql) {
    change_trace(path, sql);
    {
        auto connection = Connection::open(path, OpenMode::create);
        ASSERT_TRUE(connection);
        ASSERT_TRUE(write_checksums(*connection));
        ASSERT_TRUE(write_empty_seal(*connection));
    }
    ASSERT_TRUE(seal_file(path));
}

/// Returns how many things the data gaps of a reason report.
inline int64_t count_gaps(const std::vector<DataGap>& gaps, DataGapReason reason) {
    int64_t count = 0;
    for (const DataGap& gap : gaps) {
        count += gap.reason == reason ? std::max<int64_t>(gap.count, 1) : 0;
    }
    return count;
}

}  // namespace tidemark::test
