// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Queries a trace with plain SQL, like a user of sqlite3.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <vector>

namespace tidemark::test {

/// Returns one line per row, values separated by `|`.
inline std::vector<std::string> query_rows(const std::string& path, const std::string& query) {
    sqlite3* db = nullptr;
    EXPECT_EQ(SQLITE_OK, sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr));
    std::vector<std::string> lines;
    const auto add = [](void* to, int count, char** values, char**) {
        std::string line;
        for (int i = 0; i < count; ++i) {
            line += (i == 0 ? "" : "|") + std::string(values[i] ? values[i] : "NULL");
        }
        static_cast<std::vector<std::string>*>(to)->push_back(line);
        return 0;
    };
    char* error = nullptr;
    EXPECT_EQ(SQLITE_OK, sqlite3_exec(db, query.c_str(), add, &lines, &error)) << query << error;
    sqlite3_close(db);
    return lines;
}

}  // namespace tidemark::test
