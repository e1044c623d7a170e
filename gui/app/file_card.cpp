// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/file_card.h"

#include <QPainter>

#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/widgets/severity_mark.h"

namespace tidemark::gui {

namespace {

constexpr int card_padding = 9;   // pixels
constexpr int card_line_gap = 3;  // pixels
constexpr int mark_size = 10;     // pixels

}  // namespace

FileCard::FileCard(FileCardText text, QWidget* parent) : QAbstractButton(parent), text_(std::move(text)) {
    setText(text_.title);
    setAccessibleName(text_.title);
    QStringList lines{text_.place, text_.line, text_.facts};
    lines.removeAll(QString());
    setAccessibleDescription(lines.join(u'\n'));
    setToolTip(tip_text(QStringList(lines).join(u'\n')));
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_Hover);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setEnabled(!text_.missing);
}

QSize FileCard::sizeHint() const {
    const int lines = 1 + (text_.line.isEmpty() ? 0 : 1) + (text_.facts.isEmpty() ? 0 : 1);
    return {420, 2 * card_padding + lines * fontMetrics().height() + (lines - 1) * card_line_gap};
}

QSize FileCard::minimumSizeHint() const { return {200, sizeHint().height()}; }

void FileCard::paintEvent(QPaintEvent* /*event*/) {
    const Theme theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool focus = hasFocus(), hover = underMouse() && isEnabled();
    painter.setPen(QPen(focus || hover ? palette().color(QPalette::Highlight) : theme.grid, focus ? 2 : 1));
    painter.setBrush(isDown() ? theme.background : theme.plot_background);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 5, 5);

    QRect line = rect().adjusted(card_padding + 3, card_padding, -card_padding - 3, -card_padding);
    line.setHeight(fontMetrics().height());
    QFont bold = font();
    bold.setBold(true);
    const QFontMetrics title_metrics(bold);
    const QString title = title_metrics.elidedText(text_.title, Qt::ElideMiddle, line.width());
    painter.setFont(bold);
    painter.setPen(text_.missing ? theme.faint_text : theme.text);
    // Chinese words make a line higher than the font says.
    constexpr int line_flags = Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine | Qt::TextDontClip;
    painter.drawText(line, line_flags, title);
    painter.setFont(font());
    const auto draw = [&](const QRect& box, const QString& text, const QColor& color, Qt::TextElideMode elide) {
        painter.setPen(color);
        painter.drawText(box, line_flags, fontMetrics().elidedText(text, elide, box.width()));
    };
    if (const int left = title_metrics.horizontalAdvance(title) + 12; left + 60 < line.width()) {
        draw(line.adjusted(left, 0, 0, 0), text_.place, theme.faint_text, Qt::ElideMiddle);
    }
    if (!text_.line.isEmpty()) {
        line.translate(0, line.height() + card_line_gap);
        QRect sentence = line;
        if (text_.severity) {
            const QRectF box(line.left(), line.center().y() - mark_size / 2.0 + 1, mark_size, mark_size);
            paint_severity(painter, box, theme, *text_.severity);
            sentence.setLeft(line.left() + mark_size + 7);
        }
        draw(sentence, text_.line, text_.missing ? theme.faint_text : theme.text, Qt::ElideRight);
    }
    if (!text_.facts.isEmpty()) {
        line.translate(0, line.height() + card_line_gap);
        draw(line, text_.facts, theme.faint_text, Qt::ElideRight);
    }
}

}  // namespace tidemark::gui
