// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The traces among files and folders.
#pragma once

#include <string>
#include <vector>

#include "storage/base/result.h"

namespace tidemark::cli {

/// Returns the traces in a folder and the folders in it, by name. Errors: the folder cannot be read (environment) or
/// has no trace (input).
Result<std::vector<std::string>> traces_below(const std::string& folder);

/// Replaces each folder among the names by the traces below it, or by the error of traces_below().
std::vector<Result<std::string>> find_traces(const std::vector<std::string>& names);

}  // namespace tidemark::cli
