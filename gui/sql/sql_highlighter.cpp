// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/sql/sql_highlighter.h"

#include <QRegularExpression>
#include <algorithm>

#include "gui/model/palette.h"
#include "storage/query/query_names.h"

namespace tidemark::gui {

namespace {

/// What the end of a line is within.
enum SqlState { plain_state = 0, comment_state = 1, text_state = 2 };

struct SqlColors {
    QColor keyword, name, text, number, comment;
};

SqlColors sql_colors() {
    const Theme theme = Theme::current();
    return theme.dark ? SqlColors{QColor(0x7a, 0xb8, 0xff), QColor(0xcf, 0xae, 0xf9), QColor(0x9f, 0xd0, 0x8a),
                                  QColor(0xf0, 0xb0, 0x70), theme.faint_text}
                      : SqlColors{QColor(0x0b, 0x5c, 0xad), QColor(0x70, 0x3c, 0xa6), QColor(0x2a, 0x6f, 0x2e),
                                  QColor(0x96, 0x4a, 0x00), theme.faint_text};
}

/// Finds the end of a comment or text that began before `from`; -1 if the line does not end it.
qsizetype end_of(int state, const QString& line, qsizetype from) {
    const qsizetype end =
        state == comment_state ? line.indexOf(QLatin1String("*/"), from) : line.indexOf(QLatin1Char('\''), from);
    return end < 0 ? -1 : end + (state == comment_state ? 2 : 1);
}

}  // namespace

void SqlHighlighter::highlightBlock(const QString& line) {
    static const QRegularExpression token(QStringLiteral(
        R"((--.*)|(/\*)|(')|("[^"]*"?|[A-Za-z_][A-Za-z0-9_]*)|(0x[0-9A-Fa-f]+|\d+(\.\d*)?([eE][+-]?\d+)?))"));
    const SqlColors colors = sql_colors();
    const auto paint = [&](qsizetype from, qsizetype to, const QColor& color, bool bold = false) {
        QTextCharFormat format;
        format.setForeground(color);
        format.setFontWeight(bold ? QFont::DemiBold : QFont::Normal);
        setFormat(static_cast<int>(from), static_cast<int>(to - from), format);
    };
    qsizetype at = 0;
    int state = std::max(previousBlockState(), 0);
    // Paints what began at `from`; its content at `at`.
    const auto paint_open = [&](qsizetype from) {
        const qsizetype end = end_of(state, line, at);
        at = end < 0 ? line.size() : end;
        paint(from, at, state == comment_state ? colors.comment : colors.text);
        state = end < 0 ? state : plain_state;
    };
    if (state != plain_state) {
        paint_open(0);
    }
    while (state == plain_state && at < line.size()) {
        const QRegularExpressionMatch match = token.match(line, at);
        if (!match.hasMatch()) {
            break;
        }
        const qsizetype start = match.capturedStart();
        at = match.capturedEnd();
        if (match.capturedLength(1) > 0) {
            paint(start, at, colors.comment);
        } else if (match.capturedLength(2) > 0 || match.capturedLength(3) > 0) {
            state = match.capturedLength(2) > 0 ? comment_state : text_state;
            paint_open(start);
        } else if (match.capturedLength(4) > 0) {
            const std::string word = match.captured(4).toStdString();
            if (find_query_table(word) != nullptr) {
                paint(start, at, colors.name);
            } else if (is_sql_keyword(word)) {
                paint(start, at, colors.keyword, true);
            }
        } else {
            paint(start, at, colors.number);
        }
    }
    setCurrentBlockState(state);
}

}  // namespace tidemark::gui
