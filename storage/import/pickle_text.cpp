// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/pickle_text.h"

#include <charconv>

#include "storage/base/utf8.h"

namespace tidemark {
namespace {

/// Removes `digits` hexadecimal digits from the front of `rest` and returns their value.
std::optional<uint32_t> take_hex(std::string_view& rest, size_t digits) {
    uint32_t number = 0;
    const char* end = rest.data() + digits;
    if (rest.size() < digits) {
        return {};
    }
    const auto [at, error] = std::from_chars(rest.data(), end, number, 16);
    if (error != std::errc{} || at != end || number > 0x10ffff) {
        return {};
    }
    rest.remove_prefix(digits);
    return number;
}

char simple_escape(char letter) {
    switch (letter) {
        case 'n': return '\n';
        case 't': return '\t';
        case 'r': return '\r';
        default: return letter;
    }
}

}  // namespace

std::optional<std::string> decode_raw_unicode(std::string_view line) {
    std::string text;
    while (!line.empty()) {
        const auto byte = static_cast<uint8_t>(line.front());
        const char kind = byte == '\\' && line.size() > 1 ? line[1] : '\0';
        if (kind != 'u' && kind != 'U') {
            append_utf8(text, byte);
            line.remove_prefix(1);
            continue;
        }
        line.remove_prefix(2);
        const auto code_point = take_hex(line, kind == 'u' ? 4 : 8);
        if (!code_point) {
            return {};
        }
        append_utf8(text, *code_point);
    }
    return text;
}

std::optional<std::string> decode_quoted(std::string_view line) {
    if (line.size() < 2 || line.front() != line.back() || (line.front() != '\'' && line.front() != '"')) {
        return {};
    }
    line = line.substr(1, line.size() - 2);
    std::string text;
    while (!line.empty()) {
        const auto byte = static_cast<uint8_t>(line.front());
        line.remove_prefix(1);
        if (byte != '\\') {
            append_utf8(text, byte);
            continue;
        }
        if (line.empty()) {
            return {};
        }
        const char letter = line.front();
        line.remove_prefix(1);
        if (letter != 'x') {
            text.push_back(simple_escape(letter));
            continue;
        }
        const auto code_point = take_hex(line, 2);
        if (!code_point) {
            return {};
        }
        append_utf8(text, *code_point);
    }
    return text;
}

std::string printable(std::string_view text) {
    constexpr size_t longest = 80;
    const std::string shown = visible_text(cut_text(text, longest));
    return text.size() > longest ? shown + "..." : shown;
}

}  // namespace tidemark
