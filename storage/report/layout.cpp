// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/layout.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "storage/base/utf8.h"

namespace tidemark {
namespace {

bool is_wide(Character c) { return columns_of(c) == 2; }

/// Returns whether the character is Chinese punctuation that must not begin a line.
bool ends_a_phrase(Character c) {
    constexpr std::u32string_view marks = U"，。；：、！？）》」』】”’%";
    return c.is_valid() && marks.find(static_cast<char32_t>(c.code)) != marks.npos;
}

/// Returns pieces that must not be split: a word with the spaces after it, or one Chinese character with its
/// punctuation.
std::vector<std::string_view> pieces_of(std::string_view text) {
    std::vector<std::string_view> pieces;
    size_t begin = 0;
    bool may_break = false;
    for (size_t at = 0; at < text.size();) {
        const Character c = first_character(text.substr(at));
        const bool is_space = c.code == ' ';
        if (at > begin && !is_space && !ends_a_phrase(c) && (may_break || is_wide(c))) {
            pieces.push_back(text.substr(begin, at - begin));
            begin = at;
        }
        may_break = is_space || is_wide(c);
        at += c.bytes;
    }
    if (begin < text.size()) {
        pieces.push_back(text.substr(begin));
    }
    return pieces;
}

constexpr std::string_view firm_space = "\xc2\xa0";

/// Returns whether the text begins with a unit as a separate word.
bool begins_with_unit(std::string_view text) {
    constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "%", "s", "ms", "µs", "ns", "min"};
    return std::any_of(std::begin(units), std::end(units), [&](std::string_view unit) {
        const bool is_longer_word =
            text.size() > unit.size() && (std::isalnum(static_cast<unsigned char>(text[unit.size()])) != 0);
        return text.starts_with(unit) && !is_longer_word;
    });
}

std::string with_plain_spaces(std::string text) {
    for (size_t at = text.find(firm_space); at != text.npos; at = text.find(firm_space, at)) {
        text.replace(at, firm_space.size(), " ");
    }
    return text;
}

std::string_view without_trailing_spaces(std::string_view text) {
    const size_t last = text.find_last_not_of(' ');
    return text.substr(0, last == text.npos ? 0 : last + 1);
}

}  // namespace

size_t display_width(std::string_view text) {
    size_t width = 0;
    while (!text.empty()) {
        const Character c = first_character(text);
        width += static_cast<size_t>(columns_of(c));
        text.remove_prefix(c.bytes);
    }
    return width;
}

std::string pad_right(std::string text, size_t width) {
    const size_t used = display_width(text);
    return used < width ? text.append(width - used, ' ') : text;
}

std::string with_firm_units(std::string_view text) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool is_after_number = i > 0 && std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0;
        const bool is_firm = text[i] == ' ' && is_after_number && begins_with_unit(text.substr(i + 1));
        result += is_firm ? firm_space : text.substr(i, 1);
    }
    return result;
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
    const std::string firm = with_firm_units(text);
    std::vector<std::string> lines{""};
    size_t used = 0;
    for (const std::string_view piece : pieces_of(firm)) {
        if (used > 0 && used + display_width(without_trailing_spaces(piece)) > width) {
            lines.back() = without_trailing_spaces(lines.back());
            lines.emplace_back();
            used = 0;
        }
        lines.back() += piece;
        used += display_width(piece);
    }
    lines.back() = without_trailing_spaces(lines.back());
    std::transform(lines.begin(), lines.end(), lines.begin(), with_plain_spaces);
    return lines;
}

std::vector<std::string> split_lines(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return lines;
}

}  // namespace tidemark
