// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The counters of an allocator as a few bytes, as the file contains them. FORMAT.md describes the bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// `values`: of each counter current, peak, allocated, freed.
std::string packed_counters(std::span<const int64_t> values);
/// Returns nothing if the bytes are damaged.
std::vector<int64_t> unpacked_counters(std::string_view bytes);

}  // namespace tidemark
