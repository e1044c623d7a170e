// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Thins the rows of a growing trace that describe steps whose details were deleted: labels, nodes, samples, spans,
// costs. Each row is looked at once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "storage/base/result.h"
#include "storage/sqlite/sqlite.h"

namespace tidemark {

/// Runs a statement with integer parameters. Returns how many rows it changed.
Result<int64_t> change_rows(Connection& connection, std::string_view sql, std::initializer_list<int64_t> parameters);
/// Returns the first column of the first row; 0 if there is none, or if it is NULL.
Result<int64_t> integer_of(Connection& connection, std::string_view sql, std::initializer_list<int64_t> parameters);

class SideTables {
public:
    explicit SideTables(Connection& connection);

    /// Thins some rows from before `horizon` (ns since trace start). Returns whether there were any.
    Result<bool> thin(int64_t horizon);
    /// Looks at all rows again: more allocations are gone.
    void start_over();

private:
    struct Table {
        const char* last;                  ///< the last of at most 4,096 rows after ?1 that are older than ?2
        std::vector<const char*> changes;  ///< of the rows in (?1, ?2]; ?3: the horizon
        int64_t visited = 0;
    };

    Connection* connection_;
    std::vector<Table> tables_;
};

}  // namespace tidemark
