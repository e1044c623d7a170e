// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// UTF-8 by utf8proc: characters, their width in a terminal, and repair of broken text.
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

/// Requires text that is not empty.
Character first_character(std::string_view text);
/// Columns in a terminal: 2 for Chinese characters, 0 for combining marks.
int columns_of(Character character);
/// Control characters, and invisible ones, which can change the direction of text.
bool is_control(Character character);

void append_utf8(std::string& text, uint32_t code_point);
/// Replaces each byte that is not UTF-8 by U+FFFD.
std::string valid_utf8(std::string_view bytes);
/// Cuts text to at most `bytes` bytes, between two characters.
std::string_view cut_text(std::string_view text, size_t bytes);

}  // namespace tidemark
