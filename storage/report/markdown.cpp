// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "storage/base/utf8.h"
#include "storage/report/layout.h"

namespace tidemark {
namespace {

/// Returns whether the underscore at `i` could begin or end emphasis. Inside a word it cannot.
bool is_at_border(std::string_view text, size_t i) {
    const auto is_letter = [&](size_t at) {
        return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    };
    return i == 0 || !is_letter(i - 1) || !is_letter(i + 1);
}

/// Escapes one character outside of code.
std::string escaped_character(std::string_view text, size_t i) {
    constexpr std::string_view special = "\\*[]|#~";
    switch (const char c = text[i]) {
        case '<': return "&lt;";
        case '>': return "&gt;";
        case '&': return "&amp;";
        case '_': return is_at_border(text, i) ? "\\_" : "_";
        default: return special.find(c) == special.npos ? std::string(1, c) : std::string("\\") + c;
    }
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
    const std::string plain = visible_text(text);
    const bool has_code_spans = std::count(plain.begin(), plain.end(), '`') % 2 == 0 && plain.find("``") == plain.npos;
    std::string result;
    bool in_code = false;
    for (size_t i = 0; i < plain.size(); ++i) {
        if (plain[i] == '`') {
            in_code ^= has_code_spans;
            result += has_code_spans ? "`" : "\\`";
        } else if (in_code) {
            result += plain[i] == '|' ? "\\|" : plain.substr(i, 1);  // a bar ends a table cell, also inside code
        } else {
            result += escaped_character(plain, i);
        }
    }
    return result;
}

std::string fenced(std::string_view code, std::string_view language) {
    const std::string lines = visible_lines(code);
    std::string fence = "```";
    while (lines.find(fence) != lines.npos) {
        fence += '`';
    }
    std::string text = fmt::format("  {}{}\n", fence, language);
    for (const std::string& line : split_lines(lines)) {
        text += "  " + line + '\n';
    }
    return text + "  " + fence + '\n';
}

std::string code_of_fix_in_markdown(std::string_view code, std::string_view diff) {
    if (code.empty() && diff.empty()) {
        return {};
    }
    return '\n' + (diff.empty() ? fenced(code, "python") : fenced(diff, "diff")) + '\n';
}

}  // namespace tidemark
