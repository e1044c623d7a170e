// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/utf8.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <array>

namespace tidemark {
namespace {

constexpr int32_t first_of_two_units = 0x10000;  // in UTF-16

/// `first`: the first byte of the character.
std::string escape_of(Character character, char first) {
    switch (character.code) {
        case '\n': return "\\n";
        case '\r': return "\\r";
        case '\t': return "\\t";
        default: break;
    }
    if (!character.is_valid() || character.code < 0x80) {
        return fmt::format("\\x{:02x}", static_cast<unsigned char>(first));
    }
    return character.code < first_of_two_units ? fmt::format("\\u{:04x}", character.code)
                                               : fmt::format("\\U{:08x}", character.code);
}

std::string json_escape_of(Character character, char) {
    if (character.code < first_of_two_units) {
        return fmt::format("\\u{:04x}", character.code);
    }
    const int32_t rest = character.code - first_of_two_units;
    return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
}

template <class Escape>
std::string with_escapes(std::string_view text, bool keeps_lines, Escape&& escape) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const Character character = first_character(text);
        if (is_hidden(character) && !(keeps_lines && character.code == '\n')) {
            result += escape(character, text.front());
        } else {
            result += text.substr(0, character.bytes);
        }
        text.remove_prefix(character.bytes);
    }
    return result;
}

}  // namespace

Character first_character(std::string_view text) {
    Character character;
    const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                         static_cast<utf8proc_ssize_t>(text.size()), &character.code);
    return length > 0 ? Character{character.code, static_cast<size_t>(length)} : Character{};
}

int columns_of(Character character) { return character.is_valid() ? utf8proc_charwidth(character.code) : 1; }

bool is_hidden(Character character) {
    if (!character.is_valid()) {
        return true;
    }
    switch (utf8proc_category(character.code)) {
        case UTF8PROC_CATEGORY_CC:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_ZL:
        case UTF8PROC_CATEGORY_ZP: return true;
        default: return false;
    }
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

std::string visible_text(std::string_view text) {
    return text.size() <= most_shown_bytes ? with_escapes(text, false, escape_of)
                                           : with_escapes(cut_text(text, most_shown_bytes), false, escape_of) + "…";
}
std::string visible_lines(std::string_view text) { return with_escapes(text, true, escape_of); }
std::string visible_json(std::string_view json) { return with_escapes(json, true, json_escape_of); }

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
