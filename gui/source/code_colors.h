// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The parts of Python code that are shown in colors.
#pragma once

#include <QColor>
#include <QString>
#include <vector>

namespace tidemark::gui {

struct Theme;

enum class CodePart : uint8_t { keyword, text, comment, number };

struct CodeSpan {
    CodePart part = CodePart::keyword;
    int begin = 0, length = 0;  ///< in characters of the line
    bool operator==(const CodeSpan&) const = default;
};

/// Reads one line after another, because a string between three quotes covers several lines.
class PythonReader {
public:
    std::vector<CodeSpan> read(const QString& line);
    /// Begins again, after lines that are unknown.
    void skip() { quote_.clear(); }

private:
    int read_string(const QString& line, int begin, const QString& quote);

    QString quote_;  ///< of the string that the last line left open
};

/// Readable on the background of tables.
QColor code_color(const Theme& theme, CodePart part);

}  // namespace tidemark::gui
