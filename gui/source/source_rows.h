// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The rows of a source with memory: its lines, the gaps between known ones, and what findings say about them.
#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "gui/model/explained.h"
#include "gui/source/code_colors.h"
#include "storage/attribution/line_memory.h"
#include "storage/attribution/source_file.h"

namespace tidemark::gui {

/// What a finding says about a line. Shown below it.
struct LineNote {
    int32_t line = 0;
    QString text;                ///< the title of the finding, and its first fix
    QStringList removed, added;  ///< the change of the source, with its indentation
    QStringList code;            ///< lines to copy if there is no such change
    bool operator==(const LineNote&) const = default;
};

struct SourceRow {
    enum class Kind : uint8_t { line, gap, note, removed, added, code };
    Kind kind = Kind::line;
    int32_t line = 0;  ///< of a line, or of the line that a note is about
    LineBytes bytes;
    QString text;
    std::vector<CodeSpan> spans;
    bool has_memory = false;  ///< any allocation has the line on its stack
};

/// Returns the notes of leaks, failures and waste about a file, in the order of the findings.
std::vector<LineNote> notes_of(const Explained& explained, StringId file);

/// `memory`: null if no allocation has the file on its stack.
std::vector<SourceRow> source_rows_of(const Trace& trace, const FileMemory* memory, const SourceFile& file,
                                      const std::vector<LineNote>& notes);

/// Returns a line of code without tabs and hidden characters.
QString code_text(std::string_view line);

}  // namespace tidemark::gui
