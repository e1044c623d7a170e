// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Queries that a user writes: one SELECT over the documented views and tables of a trace. Neither the query nor the
// trace is trusted: a query reads nothing else, writes nothing, and its rows, memory and time are limited.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// A blob in a result: only its length is read.
struct BlobSize {
    int64_t bytes = 0;
};
/// Nothing is NULL. Texts come from the trace or the query; they may be invalid UTF-8.
using QueryValue = std::variant<std::monostate, int64_t, double, std::string, BlobSize>;

struct QueryColumn {
    std::string name;
    bool is_allocation = false;  ///< its numbers are ids of allocations
};

/// Why rows are missing at the end of a result.
enum class QueryCut {
    none,
    rows,   ///< QueryLimits::rows
    bytes,  ///< QueryLimits::bytes
};

struct QueryRows {
    std::vector<QueryColumn> columns;
    std::vector<QueryValue> values;  ///< row by row
    QueryCut cut = QueryCut::none;
    int64_t duration = 0;  ///< ns

    size_t row_count() const { return columns.empty() ? 0 : values.size() / columns.size(); }
    const QueryValue& at(size_t row, size_t column) const { return values[row * columns.size() + column]; }
};

struct QueryLimits {
    size_t rows = 10'000;
    int64_t bytes = 64 << 20;    ///< of the result
    int64_t memory = 1LL << 30;  ///< that SQLite takes for sorting and grouping
    /// Of the whole query. A trace that is being written is read for at most `longest_while_written`, because its log
    /// cannot shrink meanwhile.
    std::chrono::milliseconds time = std::chrono::minutes(1);
    static constexpr std::chrono::milliseconds longest_while_written = std::chrono::seconds(10);
};

/// Errors: wrong SQL, or more memory or time than the limits (usage); the file is damaged or no trace (input);
/// environment; canceled.
struct QueryFailure {
    Error error;
    std::optional<size_t> offset;  ///< of the wrong part, in bytes of the query
};
using QueryOutcome = tl::expected<QueryRows, QueryFailure>;

/// Runs a query on a file. Opens a connection of its own and closes it before it returns. Thread: any.
QueryOutcome query_file(const std::string& path, std::string_view sql, const QueryLimits& limits, Progress& progress);
/// Runs a query on the file of an open trace, which may be growing.
QueryOutcome query_trace(const Trace& trace, std::string_view sql, const QueryLimits& limits, Progress& progress);

}  // namespace tidemark
