// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/python_code.h"

#include <algorithm>

namespace tidemark::python_code {
namespace {

bool is_quote(char c) { return c == '"' || c == '\''; }

/// Returns the length of the string at the beginning of the text; 0 if it does not end.
size_t length_of_string(std::string_view text) {
    for (size_t i = 1; i < text.size(); ++i) {
        if (text[i] == text.front()) {
            return i + 1;
        }
        i += text[i] == '\\' ? 1 : 0;
    }
    return 0;
}

/// Returns the length of the brackets or the string at the beginning of the text, 1 for other code; 0 if they do not
/// end.
size_t length_of_part(std::string_view text) {
    constexpr std::string_view opening = "([{", closing = ")]}";
    if (opening.find(text.front()) != text.npos) {
        return length_of_brackets(text);
    }
    if (closing.find(text.front()) != text.npos) {
        return 0;
    }
    return is_quote(text.front()) ? length_of_string(text) : 1;
}

std::string_view without_blanks(std::string_view text) {
    const std::string_view code = code_of(text);
    return code.substr(0, code.find_last_not_of(" \t") + 1);
}

}  // namespace

bool is_name(std::string_view text) {
    return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), is_part_of_name);
}

bool is_operand(std::string_view text) {
    if (text.empty() || !is_letter(text.front()) || text.find_first_of("#\\\n") != text.npos) {
        return false;
    }
    size_t at = 0;
    while (at < text.size()) {
        const char c = text[at];
        const bool is_attribute = c == '.' && at + 1 < text.size() && is_letter(text[at + 1]);
        const size_t brackets = c == '(' || c == '[' ? length_of_brackets(text.substr(at)) : 0;
        if (brackets == 0 && !is_attribute && !is_part_of_name(c)) {
            return false;
        }
        at += std::max<size_t>(brackets, 1);
    }
    return true;
}

size_t length_of_brackets(std::string_view text) {
    constexpr std::string_view opening = "([{", closing = ")]}";
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (is_quote(text[i])) {
            const size_t length = length_of_string(text.substr(i));
            if (length == 0) {
                return 0;
            }
            i += length - 1;
            continue;
        }
        depth += opening.find(text[i]) != std::string_view::npos ? 1 : 0;
        depth -= closing.find(text[i]) != std::string_view::npos ? 1 : 0;
        if (depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

std::vector<std::string_view> split_arguments(std::string_view text) {
    std::vector<std::string_view> parts;
    size_t begin = 0;
    for (size_t at = 0; at < text.size();) {
        const size_t length = length_of_part(text.substr(at));
        if (length == 0) {
            return {};
        }
        if (text[at] == ',') {
            parts.push_back(without_blanks(text.substr(begin, at - begin)));
            begin = at + 1;
        }
        at += length;
    }
    if (const std::string_view last = without_blanks(text.substr(begin)); !last.empty()) {
        parts.push_back(last);
    }
    return parts;
}

size_t find_begin_of_name(std::string_view code, std::string_view text) {
    size_t at = code.find(text);
    while (at != code.npos && at > 0 && is_part_of_name(code[at - 1])) {
        at = code.find(text, at + 1);
    }
    return at;
}

size_t find_name(std::string_view code, std::string_view name, size_t from) {
    for (size_t at = code.find(name, from); at != code.npos; at = code.find(name, at + 1)) {
        const size_t end = at + name.size();
        if ((at == 0 || !is_part_of_name(code[at - 1])) && (end >= code.size() || !is_part_of_name(code[end]))) {
            return at;
        }
    }
    return code.npos;
}

}  // namespace tidemark::python_code
