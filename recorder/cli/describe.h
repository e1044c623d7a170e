// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Phrases and JSON that several commands share.
#pragma once

#include <fmt/format.h>

#include <string>

#include "storage/base/units.h"
#include "storage/report/json_parts.h"
#include "storage/text/words.h"

namespace tidemark::cli {

inline double share(int64_t part, int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// "+1.50 KiB", "-1.50 KiB"
inline std::string signed_bytes(int64_t bytes) { return (bytes > 0 ? "+" : "") + format_bytes(bytes); }

/// Returns the number of rows to show; a limit of 0 means all.
inline size_t limited(size_t count, size_t limit) { return limit == 0 || limit > count ? count : limit; }
/// "(3 more, --limit 0 shows all)"
inline std::string words_about_rest(const Words& words, size_t left_out) {
    return words("({count} more, --limit 0 shows all)", with("count", format_count(static_cast<int64_t>(left_out))));
}
/// Returns the phrase as a line that is indented by `indent` columns; empty if nothing is omitted.
inline std::string rest_text(const Words& words, size_t left_out, int indent) {
    return left_out == 0 ? "" : fmt::format("{:{}}{}\n", "", indent, words_about_rest(words, left_out));
}

}  // namespace tidemark::cli
