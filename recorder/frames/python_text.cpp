// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/frames/python_text.h"

#include <algorithm>

namespace tidemark::frames {

namespace {

constexpr uint64_t longest_text = 4096;

void append_utf8(std::string& text, uint32_t character) {
    const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80 | ((character >> shift) & 0x3f)); };
    if (character < 0x80) {
        text += static_cast<char>(character);
    } else if (character < 0x800) {
        text += static_cast<char>(0xc0 | (character >> 6));
        tail(0);
    } else if (character < 0x10000) {
        text += static_cast<char>(0xe0 | (character >> 12));
        tail(6);
        tail(0);
    } else {
        text += static_cast<char>(0xf0 | (character >> 18));
        tail(12);
        tail(6);
        tail(0);
    }
}

template <class Character>
std::string to_utf8(uint64_t data, uint64_t length) {
    std::string text;
    const auto* characters = reinterpret_cast<const Character*>(data);
    for (uint64_t i = 0; i < length; ++i) {
        append_utf8(text, characters[i]);
    }
    return text;
}

}  // namespace

std::string text_of(const Layout& layout, uint64_t string) {
    const auto state = static_cast<uint32_t>(int_at(string, text_state));
    const uint64_t length = std::min(word_at(string, text_length), longest_text);
    if ((state >> layout.compact_bit & 1) == 0) {
        return {};
    }
    if ((state >> layout.ascii_bit & 1) != 0) {
        return {reinterpret_cast<const char*>(string + layout.ascii_data), length};
    }
    switch (state >> layout.kind_shift & 7) {
        case 1: return to_utf8<uint8_t>(string + layout.wide_data, length);
        case 2: return to_utf8<uint16_t>(string + layout.wide_data, length);
        case 4: return to_utf8<uint32_t>(string + layout.wide_data, length);
        default: return {};
    }
}

}  // namespace tidemark::frames
