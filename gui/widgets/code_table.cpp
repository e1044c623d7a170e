// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/code_table.h"

#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/widgets/severity_mark.h"
#include "storage/report/code_block.h"

namespace tidemark::gui {

QString code_cell(const QString& html, const QColor& color) {
    return QStringLiteral("<td><pre style=\"margin:0 3px; white-space:pre-wrap; color:%1\">%2</pre></td>")
        .arg(color.name(), html);
}

QString code_table(const QString& rows) {
    return QStringLiteral("<table width=\"100%\" cellspacing=\"0\" cellpadding=\"2\" bgcolor=\"%1\">%2</table>")
        .arg(Theme::current().grid.name(), rows);
}

/// A line that is broken continues beside its number.
QString source_table(const SourceExcerpt& excerpt) {
    const Theme theme = Theme::current();
    QString rows;
    for (const CodeLine& line : code_lines(excerpt)) {
        const QString text = to_qstring(line.text).toHtmlEscaped();
        rows +=
            QStringLiteral("<tr%1>%2%3</tr>")
                .arg(line.is_marked ? QStringLiteral(" bgcolor=\"%1\"").arg(theme.plot_background.name()) : QString(),
                     code_cell(to_qstring((line.is_marked ? ">" : " ") + line.number), theme.faint_text),
                     code_cell(line.is_marked ? QStringLiteral("<b>%1</b>").arg(text) : text, theme.text));
    }
    return code_table(rows);
}

QString diff_table(const std::string& diff) {
    const Theme theme = Theme::current();
    QString rows;
    for (const DiffLine& line : brief_diff_lines(diff)) {
        const QColor color = line.part == DiffPart::added     ? severity_color(theme, Severity::pattern)
                             : line.part == DiffPart::removed ? severity_color(theme, Severity::leak)
                                                              : theme.faint_text;
        rows += QStringLiteral("<tr>%1</tr>").arg(code_cell(to_qstring(line.text).toHtmlEscaped(), color));
    }
    return code_table(rows);
}

}  // namespace tidemark::gui
