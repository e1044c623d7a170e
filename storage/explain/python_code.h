// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Looks at single lines of Python code, which are all that a recording has. Nothing here parses strings or comments.
#pragma once

#include <cstddef>
#include <string_view>

namespace tidemark::python_code {

inline std::string_view indent_of(std::string_view line) { return line.substr(0, line.find_first_not_of(" \t")); }
inline std::string_view code_of(std::string_view line) { return line.substr(indent_of(line).size()); }

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the length of the brackets with their content at the beginning of the text; 0 if they do not end.
inline size_t length_of_brackets(std::string_view text) {
    constexpr std::string_view opening = "([{", closing = ")]}";
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        depth += opening.find(text[i]) != std::string_view::npos ? 1 : 0;
        depth -= closing.find(text[i]) != std::string_view::npos ? 1 : 0;
        if (depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

}  // namespace tidemark::python_code
