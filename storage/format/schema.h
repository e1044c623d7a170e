// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The trace file: one SQLite database. FORMAT.md in this folder describes every table.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "storage/base/result.h"
#include "storage/sqlite/sqlite.h"

namespace tidemark {

constexpr int32_t trace_application_id = 0x54494445;  // "TIDE", header offset 68
constexpr int32_t trace_format_version = 8;           // user_version: readers reject newer ones

/// The length of SQLite's file header.
constexpr size_t header_bytes = 100;
/// Returns whether a file that begins with these `header_bytes` is a trace.
bool is_trace_header(std::string_view header);

/// Creates the tables and views of the current version in an empty file, and sets its version.
Status create_schema(Connection& connection);

/// Returns the names of the tables in a trace of this version.
std::vector<std::string_view> table_names(int64_t version = trace_format_version);

/// Returns whether a trace of the current version has this table.
bool is_table_name(std::string_view name);

/// Checks that a file opened for reading is a trace of a known version whose tables are ordinary tables (no virtual
/// tables, no generated columns, no triggers). Unknown tables are ignored.
Status check_schema(Connection& connection, const std::string& path);

/// Lets queries written for the current version read an older one: temporary views give its tables and columns their
/// current names. Does nothing for a trace of the current version.
Status adapt_older_format(Connection& connection);

}  // namespace tidemark
