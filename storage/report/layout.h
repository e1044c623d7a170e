// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Text in columns: its width in a terminal, and line breaks. The text may contain names from untrusted files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Returns the width in terminal columns: two for Chinese characters.
size_t display_width(std::string_view text);
/// Appends spaces up to `width` columns.
std::string pad_right(std::string text, size_t width);
/// Puts U+00A0 between a number and its unit to prevent a line break: "484 KiB", "13 %".
std::string with_firm_units(std::string_view text);
/// Returns lines of at most `width` columns, broken at spaces and next to Chinese characters; at least one line.
std::vector<std::string> wrap(std::string_view text, size_t width);
std::vector<std::string> split_lines(std::string_view text);

}  // namespace tidemark
