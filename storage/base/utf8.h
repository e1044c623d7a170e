// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// UTF-8 with utf8proc: characters, their width in a terminal, repair of invalid text, and the visible form of texts
// that others wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

struct Character {
    int32_t code = -1;  ///< code point; -1 for a byte that is not UTF-8
    size_t bytes = 1;

    bool is_valid() const { return code >= 0; }
};

/// Returns the first character. Requires non-empty text.
Character first_character(std::string_view text);
/// Returns the number of terminal columns: 2 for Chinese characters, 0 for combining marks.
int columns_of(Character character);
/// Returns whether this is a control character, an invisible one that can change the direction of text, a line or
/// paragraph separator, or a byte that is not UTF-8.
bool is_hidden(Character character);

void append_utf8(std::string& text, uint32_t code_point);
/// Replaces each byte that is not UTF-8 with U+FFFD.
std::string valid_utf8(std::string_view bytes);
constexpr size_t most_shown_bytes = 8192;  ///< above the longest path
/// Returns text that can be printed: hidden characters become escapes such as "\n", "\x1b", "\u202e" and "\xff". Every
/// text out of a trace, file name and message of another program passes through this before it is shown. Longer text
/// than most_shown_bytes is cut: windows take seconds to break it into lines.
std::string visible_text(std::string_view text);
/// Like visible_text(), but keeps line breaks: for text whose lines are Tidemark's own.
std::string visible_lines(std::string_view text);
/// Returns JSON in which escapes replace the hidden characters. Requires valid JSON in UTF-8. Keeps line breaks.
std::string visible_json(std::string_view json);
/// Returns the longest prefix of at most `bytes` bytes that does not cut a character.
std::string_view cut_text(std::string_view text, size_t bytes);

}  // namespace tidemark
