// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A page for a terminal, written from top to bottom.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/report/report.h"

namespace tidemark {

/// Escape sequences.
constexpr std::string_view no_color, bold = "\033[1m", dim = "\033[2m", red = "\033[1;31m", yellow = "\033[1;33m",
                                     green = "\033[32m", blue = "\033[36m";
std::string_view color_of(Severity severity);

class TextPage {
public:
    explicit TextPage(const TextOptions& options) : options_(options) {}

    const TextOptions& options() const { return options_; }
    std::string take() { return std::move(text_); }

    std::string colored(std::string_view color, std::string_view text) const;
    void raw(std::string_view text) { text_ += text; }
    void empty_line() { text_ += '\n'; }
    void heading(const std::string& title);
    void paragraph(size_t indent, std::string_view text, std::string_view color = no_color);
    /// Writes a label and its text. Further lines are aligned with the first.
    void labeled(size_t indent, std::string_view label, std::string_view label_color, std::string_view text,
                 std::string_view color = no_color);
    /// Writes the diff of a fix, or its code if there is none.
    void code_of_fix(std::string_view code, std::string_view diff);
    /// Writes "1.20 GiB   43.1 %  ####   name". `of_total`: 0 to 1.
    void share_row(const std::string& bytes, double of_total, const std::string& name);
    /// Writes "1.20 GiB            name" below such rows.
    void total_row(const std::string& bytes, const std::string& name);
    /// Writes a heading and its items; nothing without items.
    void list(const std::string& title, const std::vector<std::string>& items);

private:
    const TextOptions options_;
    std::string text_;
};

}  // namespace tidemark
