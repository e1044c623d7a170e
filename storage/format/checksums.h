// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One row count and checksum per table of a finished trace: table table_checksum. They name the damaged table when the
// seal (seal.h) shows that a byte differs.
#pragma once

#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/sqlite/sqlite.h"

namespace tidemark {

/// Stores the row counts and checksums of all tables: the last rows of a trace, but for its empty seal. Reads every
/// row.
Status write_checksums(Connection& connection);

/// Returns the names of the tables whose rows cannot be read or differ from those that were written. Reads every row.
/// Errors: canceled; the disk.
Result<std::vector<std::string>> changed_tables(Connection& connection);

}  // namespace tidemark
