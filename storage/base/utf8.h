// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// UTF-8 with utf8proc: characters, their width in a terminal, and repair of invalid text.
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
/// Returns whether this is a control character, or an invisible one that can change the direction of text.
bool is_control(Character character);

void append_utf8(std::string& text, uint32_t code_point);
/// Replaces each byte that is not UTF-8 with U+FFFD.
std::string valid_utf8(std::string_view bytes);
/// Returns the longest prefix of at most `bytes` bytes that does not cut a character.
std::string_view cut_text(std::string_view text, size_t bytes);

}  // namespace tidemark
