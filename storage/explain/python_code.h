// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Looks at single lines of Python code, which are all that a recording has. Nothing here parses comments.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tidemark::python_code {

inline std::string_view indent_of(std::string_view line) { return line.substr(0, line.find_first_not_of(" \t")); }
inline std::string_view code_of(std::string_view line) { return line.substr(indent_of(line).size()); }

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_part_of_name(char c) { return is_letter(c) || is_digit(c); }

/// Returns whether this is a name: "loss".
bool is_name(std::string_view text);
/// Returns whether this is one operand, to which a method call can be appended: "loss", "self.loss", "model(x)[0]".
/// Code with comments is none.
bool is_operand(std::string_view text);
/// Returns the length of the brackets with their content at the beginning of the text; 0 if they do not end. Skips
/// strings.
size_t length_of_brackets(std::string_view text);
/// Returns the parts between commas that are not in brackets or strings, without the blanks around them. Omits an empty
/// last part; returns nothing if a bracket or string does not end.
std::vector<std::string_view> split_arguments(std::string_view text);
/// Returns the position of the text where no longer name ends in its begin; npos if there is none.
size_t find_begin_of_name(std::string_view code, std::string_view text);
/// Returns the position of the text where it is a name of its own, from `from` on; npos if there is none.
size_t find_name(std::string_view code, std::string_view name, size_t from = 0);

}  // namespace tidemark::python_code
