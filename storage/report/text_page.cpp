// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/text_page.h"

#include <algorithm>
#include <cmath>

#include "storage/base/utf8.h"
#include "storage/report/code_block.h"
#include "storage/report/layout.h"

namespace tidemark {
namespace {

/// Returns a bar with a resolution of one eighth of a column.
std::string bar(double share, int width) {
    constexpr std::string_view eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto filled = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width * 8));
    std::string text;
    for (int i = 0; i < filled / 8; ++i) {
        text += "█";
    }
    return text += eighths[filled % 8];
}

}  // namespace

std::string_view color_of(Severity severity) {
    switch (severity) {
        case Severity::leak:
        case Severity::failure: return red;
        case Severity::waste: return yellow;
        case Severity::pattern: return green;
        case Severity::background: return dim;
    }
    return no_color;
}

std::string TextPage::colored(std::string_view color, std::string_view text) const {
    return options_.colors && !color.empty() ? fmt::format("{}{}\033[0m", color, text) : std::string(text);
}

void TextPage::heading(const std::string& title) { text_ += '\n' + colored(bold, title) + '\n'; }

void TextPage::paragraph(size_t indent, std::string_view text, std::string_view color) {
    labeled(indent, "", no_color, text, color);
}

void TextPage::labeled(size_t indent, std::string_view label, std::string_view label_color, std::string_view text,
                       std::string_view color) {
    constexpr size_t narrowest = 20;
    const size_t begin = indent + display_width(label);
    const auto width = static_cast<size_t>(options_.width);
    bool is_first = true;
    for (const std::string& line : wrap(visible_text(text), std::max(narrowest, width - std::min(width, begin)))) {
        text_ += is_first ? std::string(indent, ' ') + colored(label_color, label) : std::string(begin, ' ');
        text_ += colored(color, line) + '\n';
        is_first = false;
    }
}

void TextPage::share_row(const std::string& bytes, double of_total, const std::string& name) {
    constexpr int bar_width = 20;
    text_ += fmt::format("{:>12}  {:>7}  {}  {}\n", bytes, Words::percent(of_total),
                         colored(blue, pad_right(bar(of_total, bar_width), bar_width)), visible_text(name));
}

void TextPage::total_row(const std::string& bytes, const std::string& name) {
    text_ += fmt::format("{:>12}  {:>7}  {:20}  {}\n", bytes, "", "", name);
}

void TextPage::list(const std::string& title, const std::vector<std::string>& items) {
    if (items.empty()) {
        return;
    }
    heading(title);
    for (const std::string& item : items) {
        labeled(2, "- ", no_color, item);
    }
}

void TextPage::code_of_fix(std::string_view code, std::string_view diff) {
    const std::string indent(12, ' ');
    for (const DiffLine& line : diff_lines(diff)) {
        const std::string_view color = line.part == DiffPart::added     ? green
                                       : line.part == DiffPart::removed ? red
                                                                        : dim;
        raw(indent + colored(color, line.text) + '\n');
    }
    for (const std::string& line : split_lines(diff.empty() ? visible_lines(code) : "")) {
        raw(indent + colored(green, line) + '\n');
    }
}

}  // namespace tidemark
