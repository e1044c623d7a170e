// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A short document of headings, fields, frames and links that reads the same on screen and as plain text.
#pragma once

#include <QFont>
#include <QFontMetrics>
#include <QString>
#include <vector>

#include "gui/model/palette.h"

namespace tidemark::gui {

class Report {
public:
    void title(const QString& text, const QString& subtitle = {});
    void section(const QString& text);
    void field(const QString& name, const QString& value, const QString& link = {});
    /// Adds a field whose value is code or an address.
    void code_field(const QString& name, const QString& value, const QString& link = {});
    void note(const QString& text);
    /// Adds a line of a list, which may be a link.
    void item(const QString& text, const QString& link, bool current = false);

    enum class FrameKind { user, program, library, folded };
    void frame(const QString& text, FrameKind kind, const QString& link);
    void source(const QString& line);

    /// `widest_name`: in characters; longer names wrap, so that the values of a narrow pane have room beside them.
    QString html(const Theme& theme, const QFont& font, const QString& code_family, int widest_name = 14) const;
    QString plain() const;

private:
    enum class Kind {
        title,
        subtitle,
        section,
        field,
        note,
        item,
        current_item,
        user_frame,
        frame,
        library_frame,
        folded,
        source
    };
    struct Row {
        Kind kind;
        QString name, value, link;
        bool code = false;
    };
    int name_width(const QFontMetrics& metrics, int widest_name) const;

    std::vector<Row> rows_;
};

}  // namespace tidemark::gui
