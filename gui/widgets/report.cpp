// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/report.h"

#include <QRegularExpression>
#include <algorithm>

#include "gui/model/text.h"

namespace tidemark::gui {

void Report::title(const QString& text, const QString& subtitle) {
    rows_.push_back({Kind::title, {}, text, {}});
    if (!subtitle.isEmpty()) {
        rows_.push_back({Kind::subtitle, {}, subtitle, {}});
    }
}

void Report::section(const QString& text) { rows_.push_back({Kind::section, {}, text, {}}); }
void Report::field(const QString& name, const QString& value, const QString& link) {
    rows_.push_back({Kind::field, name, value, link});
}
void Report::code_field(const QString& name, const QString& value, const QString& link) {
    rows_.push_back({Kind::field, name, value, link, true});
}
void Report::note(const QString& text) { rows_.push_back({Kind::note, {}, text, {}}); }
void Report::item(const QString& text, const QString& link, bool current) {
    rows_.push_back({current ? Kind::current_item : Kind::item, {}, text, link});
}
void Report::source(const QString& line) { rows_.push_back({Kind::source, {}, line, {}, true}); }

void Report::frame(const QString& text, FrameKind kind, const QString& link) {
    const Kind kinds[] = {Kind::user_frame, Kind::frame, Kind::library_frame, Kind::folded};
    rows_.push_back({kinds[static_cast<int>(kind)], {}, text, link, true});
}

namespace {

QString linked(const QString& escaped, const QString& link, const QColor& color) {
    return link.isEmpty() ? escaped
                          : QStringLiteral("<a href='%1' style='color:%2;text-decoration:none'>%3</a>")
                                .arg(link, color.name(), escaped);
}

/// Lets long paths break after a slash instead of widening the pane; double blanks, units and the number of a line
/// stay.
QString breakable(const QString& text) {
    static const QRegularExpression line_number(QStringLiteral(":(?=\\d)"));
    return with_whole_units(text.toHtmlEscaped())
        .replace(line_number, QStringLiteral(":&#8288;"))
        .replace(u'/', QStringLiteral("/&#8203;"))
        .replace(QLatin1String("  "), QLatin1String("&nbsp; "));
}

/// Lets a name of many words break between them instead of anywhere: "max_split_size".
QString breakable_name(const QString& name) { return name.toHtmlEscaped().replace(u'_', QStringLiteral("_&#8203;")); }

}  // namespace

/// Returns the width of the column of names. Longer names wrap between words, so that numbers have room beside them; a
/// word, such as that of an environment variable, stays whole.
int Report::name_width(const QFontMetrics& metrics, int widest_name) const {
    constexpr int after_name = 14;   // pixels
    constexpr int widest_word = 34;  // characters
    const int character = metrics.averageCharWidth();
    int widest = 0, word_width = 0;
    for (const Row& row : rows_) {
        widest = std::max(widest, metrics.horizontalAdvance(row.name) + after_name);
        for (const QString& word : row.name.split(u' ')) {
            word_width = std::max(word_width, metrics.horizontalAdvance(word) + after_name);
        }
    }
    return std::max(std::min(widest, character * widest_name), std::min(word_width, character * widest_word));
}

QString Report::html(const Theme& theme, const QFont& font, const QString& code_family, int widest_name) const {
    const int name_width = this->name_width(QFontMetrics(font), widest_name);
    const QString faint = theme.faint_text.name();
    const QString shade = mixed(theme.background, theme.selection, 0.14).name();
    QString html = QStringLiteral(
                       "<style>body{color:%1} .code{font-family:'%2'} .faint{color:%3} "
                       "td{padding:1px 8px 1px 0} </style><body>")
                       .arg(theme.text.name(), code_family, faint);
    bool in_table = false;
    for (const Row& row : rows_) {
        if (in_table != (row.kind == Kind::field)) {
            html += in_table ? QStringLiteral("</table>") : QStringLiteral("<table cellspacing=0 cellpadding=0>");
            in_table = !in_table;
        }
        const QString text = breakable(row.value);
        const QString code = row.code ? QStringLiteral(" class='code'") : QString();
        switch (row.kind) {
            case Kind::title:
                html += QStringLiteral("<p style='font-size:large;font-weight:600;margin:0 0 2px 0'>%1</p>").arg(text);
                break;
            case Kind::subtitle:
                html += QStringLiteral("<p style='margin:0 0 4px 0' class='code'>%1</p>").arg(text);
                break;
            case Kind::section:
                html += QStringLiteral("<p style='font-weight:600;margin:12px 0 3px 0'>%1</p>").arg(text);
                break;
            case Kind::field:
                html += QStringLiteral("<tr><td class='faint' width='%1'>%2</td><td%3>%4</td></tr>")
                            .arg(name_width)
                            .arg(breakable_name(row.name), code, linked(text, row.link, theme.reserved_line));
                break;
            case Kind::note: html += QStringLiteral("<p class='faint' style='margin:2px 0'>%1</p>").arg(text); break;
            case Kind::item:
                html +=
                    QStringLiteral("<p style='margin:1px 0'>%1</p>").arg(linked(text, row.link, theme.reserved_line));
                break;
            case Kind::current_item:
                html += QStringLiteral("<p style='margin:1px 0;font-weight:600;background:%1'>%2</p>").arg(shade, text);
                break;
            case Kind::user_frame:
                html += QStringLiteral("<p class='code' style='margin:2px 0 0 0;font-weight:600;background:%1'>%2</p>")
                            .arg(shade, linked(text, row.link, theme.text));
                break;
            case Kind::frame:
                html += QStringLiteral("<p class='code' style='margin:1px 0'>%1</p>")
                            .arg(linked(text, row.link, theme.text));
                break;
            case Kind::library_frame:
                html += QStringLiteral("<p class='code' style='margin:1px 0'>%1</p>")
                            .arg(linked(text, row.link, theme.faint_text));
                break;
            case Kind::folded:
                html += QStringLiteral("<p style='margin:1px 0'>%1</p>").arg(linked(text, row.link, theme.faint_text));
                break;
            case Kind::source:
                html += QStringLiteral(
                            "<p class='code' style='margin:0 0 2px 0;background:%1'>&nbsp;&nbsp;&nbsp;&nbsp;%2</p>")
                            .arg(shade, text);
                break;
        }
    }
    return html + (in_table ? QStringLiteral("</table></body>") : QStringLiteral("</body>"));
}

QString Report::plain() const {
    QString text;
    for (const Row& row : rows_) {
        switch (row.kind) {
            case Kind::section: text += u'\n' + row.value; break;
            case Kind::field: text += QStringLiteral("  %1: %2").arg(row.name, row.value); break;
            case Kind::title:
            case Kind::subtitle: text += row.value; break;
            case Kind::source: text += QStringLiteral("      ") + row.value; break;
            case Kind::current_item:
            case Kind::user_frame: text += QStringLiteral("> ") + row.value; break;
            default: text += QStringLiteral("  ") + row.value;
        }
        text += u'\n';
    }
    return text;
}

}  // namespace tidemark::gui
