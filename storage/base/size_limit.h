// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The size below which a trace is kept while it is recorded, as users write it.
#pragma once

#include <cstdint>
#include <string_view>

#include "storage/base/result.h"

namespace tidemark {

constexpr std::string_view default_size_limit = "2GB";

/// Parses "2GB", "500 MiB" or a number of bytes. Returns 0 for "all" and "0": any size. Errors (usage): not a size, or
/// less than 16 MB.
Result<int64_t> parse_size_limit(std::string_view text);

}  // namespace tidemark
