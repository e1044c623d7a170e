// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/utf8.h"

#include <utf8proc.h>

#include <array>

namespace tidemark {

Character first_character(std::string_view text) {
    Character character;
    const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                         static_cast<utf8proc_ssize_t>(text.size()), &character.code);
    return length > 0 ? Character{character.code, static_cast<size_t>(length)} : Character{};
}

int columns_of(Character character) { return character.is_valid() ? utf8proc_charwidth(character.code) : 1; }

bool is_control(Character character) {
    const auto category = character.is_valid() ? utf8proc_category(character.code) : UTF8PROC_CATEGORY_CN;
    return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF;
}

void append_utf8(std::string& text, uint32_t code_point) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes.data());
    text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(length));
}

std::string valid_utf8(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const Character character = first_character(bytes);
        text += character.is_valid() ? bytes.substr(0, character.bytes) : "\xef\xbf\xbd";
        bytes.remove_prefix(character.bytes);
    }
    return text;
}

std::string_view cut_text(std::string_view text, size_t bytes) {
    size_t end = 0;
    while (end < text.size()) {
        const size_t next = end + first_character(text.substr(end)).bytes;
        if (next > bytes) {
            break;
        }
        end = next;
    }
    return text.substr(0, end);
}

}  // namespace tidemark
