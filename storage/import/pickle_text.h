// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The text forms of numbers and strings in pickle protocol 0.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// Converts Latin-1 with \uXXXX and \UXXXXXXXX to UTF-8.
std::optional<std::string> decode_raw_unicode(std::string_view line);
/// Converts a Python string literal in single or double quotes.
std::optional<std::string> decode_quoted(std::string_view line);

/// Returns text for an error message: its first 80 bytes, with hidden characters visible.
std::string printable(std::string_view text);

}  // namespace tidemark
