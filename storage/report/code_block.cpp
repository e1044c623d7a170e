// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/code_block.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/base/utf8.h"
#include "storage/report/layout.h"

namespace tidemark {
namespace {

std::string without_tabs(std::string_view text) {
    constexpr size_t tab_width = 4;
    std::string result;
    for (const char c : text) {
        c == '\t' ? result.append(tab_width - result.size() % tab_width, ' ') : result.append(1, c);
    }
    return result;
}

}  // namespace

std::vector<CodeLine> code_lines(const SourceExcerpt& excerpt) {
    std::vector<CodeLine> lines;
    size_t shared_indent = std::string::npos;
    for (const SourceLine& line : excerpt.lines) {
        std::string text = without_tabs(line.text);
        if (const size_t indent = text.find_first_not_of(' '); indent != text.npos) {
            shared_indent = std::min(shared_indent, indent);
        }
        lines.push_back({fmt::to_string(line.number), std::move(text), line.number == excerpt.line});
    }
    const size_t width = lines.empty() ? 0 : lines.back().number.size();
    for (CodeLine& line : lines) {
        line.number.insert(0, width - line.number.size(), ' ');
        line.text = visible_text(std::string_view(line.text).substr(std::min(shared_indent, line.text.size())));
    }
    return lines;
}

std::vector<DiffLine> diff_lines(std::string_view diff) {
    std::vector<DiffLine> lines;
    for (const std::string& line : split_lines(diff)) {
        const bool is_head = lines.size() < 3;  // "---", "+++" and "@@"
        const DiffPart part = is_head ? DiffPart::head : line.starts_with('+') ? DiffPart::added : DiffPart::removed;
        lines.push_back({part, visible_text(without_tabs(line))});
    }
    return lines;
}

std::string fit_columns(std::string_view text, size_t columns) {
    if (display_width(text) <= columns) {
        return std::string(text);
    }
    std::string fitting;
    size_t width = 0;
    while (!text.empty()) {
        const Character next = first_character(text);
        width += static_cast<size_t>(columns_of(next));
        if (width + 1 > columns) {
            break;
        }
        fitting += text.substr(0, next.bytes);
        text.remove_prefix(next.bytes);
    }
    return fitting + "…";
}

}  // namespace tidemark
