// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Cells of CSV files, as RFC 4180 has them.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::cli {

/// Returns a cell, in quotes if it needs them.
std::string csv_cell(std::string text);

/// Returns the cell of a text that may be a stranger's: visible, and with an apostrophe before what spreadsheets would
/// compute.
std::string csv_text(std::string_view text);

}  // namespace tidemark::cli
