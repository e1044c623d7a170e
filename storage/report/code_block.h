// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Source lines and diffs as reports and the window show them. The texts come from untrusted files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/trace/source_text.h"

namespace tidemark {

struct CodeLine {
    std::string number;      ///< aligned with those of the other lines
    std::string text;        ///< blanks for tabs, without the indentation that all lines share
    bool is_marked = false;  ///< the line that is meant
};
std::vector<CodeLine> code_lines(const SourceExcerpt& excerpt);

enum class DiffPart : uint8_t { head, removed, added };
struct DiffLine {
    DiffPart part = DiffPart::head;
    std::string text;  ///< with its "-" or "+"
};
std::vector<DiffLine> diff_lines(std::string_view diff);
/// Like diff_lines(), for a narrow pane: the head is "train.py:18", and the lines lack the indentation that they share.
std::vector<DiffLine> brief_diff_lines(std::string_view diff);

/// Returns the beginning of the text that fits into this many columns, with an ellipsis if something is cut.
std::string fit_columns(std::string_view text, size_t columns);

}  // namespace tidemark
