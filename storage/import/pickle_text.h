// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The text forms of numbers and strings in pickle protocol 0.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// Latin-1 with \uXXXX and \UXXXXXXXX, as UTF-8.
std::optional<std::string> decode_raw_unicode(std::string_view line);
/// A Python string literal in single or double quotes.
std::optional<std::string> decode_quoted(std::string_view line);

/// Returns the text for a sentence: at most 80 characters, those that are not printable ASCII as "?".
std::string printable(std::string_view text);

}  // namespace tidemark
