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

/// Returns the names, with the traces below it instead of each folder. Errors: as traces_below().
Result<std::vector<std::string>> find_traces(const std::vector<std::string>& names);

}  // namespace tidemark::cli
