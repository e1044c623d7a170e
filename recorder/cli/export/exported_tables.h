// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The tables that `tidemark export` writes: those of storage/tables, as text.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "storage/tables/tables.h"

namespace tidemark::cli {

/// Receives rows of a table, some at a time: one JSON object a line. A value that is missing has no key.
using TakeRows = std::function<Status(std::string_view table, std::string_view rows)>;

/// Passes on the rows of all tables of one device. Returns the error of `take`.
Status export_tables(const Explained& device, ExportedAllocations allocations, const TakeRows& take);

/// Returns the columns of the tables with the words of their types: {"steps": {"device": "int32", ...}, ...}
nlohmann::ordered_json exported_columns();

}  // namespace tidemark::cli
