// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Checks a redacted file before anybody gets it: an independent second look at what redaction promises.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/export/redaction.h"

namespace tidemark {

/// Returns whether the redacted file may contain this text in this column. False for a column that no rule knows: a new
/// column of the schema needs a rule here before redacted traces can contain it.
bool may_contain(std::string_view table, std::string_view column, std::string_view text, const AllowedTexts& allowed);

/// Returns whether the column has a rule. `is_blob`: numbers only, for example a compressed chunk.
bool has_rule(std::string_view table, std::string_view column, bool is_blob);

/// Checks the redacted copy `shared` of the trace `original`:
///   1. Each text in each column is allowed.
///   2. No word of a text of the original that is not allowed is anywhere in the file: in its tables, in its unused
///      bytes, in its blobs when decompressed.
/// Errors: a text is left (input). The error names the place and not the text.
Status check_redacted_file(const std::string& original, const std::string& shared, const AllowedTexts& allowed,
                           Progress& progress);

/// Checks that the file does not contain this number as text: the time of the recording.
Status check_has_no_number(const std::string& shared, int64_t number);

}  // namespace tidemark
