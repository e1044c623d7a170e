// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/sentence.h"

#include <algorithm>

#include "storage/base/utf8.h"

namespace tidemark {
namespace {

/// Returns whether the byte begins a Chinese character in UTF-8; punctuation is none.
bool begins_ideograph(char c) { return static_cast<unsigned char>(c) >= 0xe4 && static_cast<unsigned char>(c) <= 0xe9; }

bool ends_in_ideograph(std::string_view text) {
    constexpr size_t length = 3;  // bytes
    return text.size() >= length && begins_ideograph(text[text.size() - length]);
}

/// Returns whether the character belongs to a Latin word, a number or code.
bool is_of_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '`';
}

/// Returns the value with a space on each side where it has a Latin word and the text has a Chinese character.
std::string spaced(std::string_view before, std::string value, std::string_view after) {
    if (value.empty()) {
        return value;
    }
    if (is_of_word(value.back()) && !after.empty() && begins_ideograph(after.front())) {
        value += ' ';
    }
    if (is_of_word(value.front()) && ends_in_ideograph(before)) {
        value.insert(0, 1, ' ');
    }
    return value;
}

}  // namespace

std::string Sentence::english() const {
    return filled(form_, values_, [](const Sentence& sentence) { return sentence.english(); });
}

std::string filled(std::string_view text, std::span<const With> values,
                   const std::function<std::string(const Sentence&)>& translate) {
    std::string result;
    for (size_t at = 0; at < text.size();) {
        const size_t open = text.find('{', at), close = text.find('}', open);
        if (close == std::string_view::npos) {
            return result.append(text.substr(at));
        }
        const std::string_view name = text.substr(open + 1, close - open - 1);
        const auto found =
            std::find_if(values.begin(), values.end(), [&](const With& value) { return value.name == name; });
        const std::string_view before = text.substr(at, open - at), after = text.substr(close + 1);
        result.append(before);
        if (found == values.end()) {
            result.append(text.substr(open, close + 1 - open));
        } else if (const auto* sentence = std::get_if<Sentence>(&found->value)) {
            result.append(spaced(before, translate(*sentence), after));
        } else {
            result.append(spaced(before, visible_text(std::get<std::string>(found->value)), after));
        }
        at = close + 1;
    }
    return result;
}

}  // namespace tidemark
