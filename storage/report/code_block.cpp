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

/// Removes the indentation that all lines with text share, after the first `kept` characters of each.
template <class Line>
void remove_shared_indent(std::vector<Line>& lines, size_t kept = 0) {
    size_t shared = std::string::npos;
    for (const Line& line : lines) {
        if (const size_t indent = line.text.find_first_not_of(' ', kept); indent != std::string::npos) {
            shared = std::min(shared, indent - kept);
        }
    }
    for (Line& line : lines) {
        line.text.erase(std::min(kept, line.text.size()), shared);
    }
}

/// Returns "train.py:18" for the head of a diff.
std::string place_of(const std::vector<DiffLine>& head) {
    constexpr size_t path_line = 1, range_line = 2, path_begin = 4, range_begin = 4;  // "+++ path", "@@ -18 +18 @@"
    if (head.size() <= range_line) {
        return {};
    }
    const std::string path = head[path_line].text.substr(std::min(path_begin, head[path_line].text.size()));
    const std::string range = head[range_line].text.substr(std::min(range_begin, head[range_line].text.size()));
    return fmt::format("{}:{}", path.substr(path.find_last_of("/\\") + 1), range.substr(0, range.find(' ')));
}

}  // namespace

std::vector<CodeLine> code_lines(const SourceExcerpt& excerpt) {
    std::vector<CodeLine> lines;
    for (const SourceLine& line : excerpt.lines) {
        lines.push_back({fmt::to_string(line.number), without_tabs(line.text), line.number == excerpt.line});
    }
    remove_shared_indent(lines);
    const size_t width = lines.empty() ? 0 : lines.back().number.size();
    for (CodeLine& line : lines) {
        line.number.insert(0, width - line.number.size(), ' ');
        line.text = visible_text(line.text);
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

std::vector<DiffLine> brief_diff_lines(std::string_view diff) {
    std::vector<DiffLine> lines = diff_lines(diff);
    const auto body =
        std::find_if(lines.begin(), lines.end(), [](const DiffLine& l) { return l.part != DiffPart::head; });
    std::vector<DiffLine> brief(body, lines.end());
    lines.erase(body, lines.end());
    remove_shared_indent(brief, 1);
    if (const std::string place = place_of(lines); !place.empty()) {
        brief.insert(brief.begin(), {DiffPart::head, place});
    }
    return brief;
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
