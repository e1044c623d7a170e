// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/upright_button.h"

#include <QStyleOptionToolButton>
#include <QStylePainter>

namespace tidemark::gui {

namespace {

constexpr int upright_padding = 4, below_mark = 6;  // pixels: around the text, and below the mark

}  // namespace

UprightButton::UprightButton(const QString& text, const QString& tip, QWidget* parent) : QToolButton(parent) {
    setText(text);
    setToolTip(tip);
    setAccessibleName(tip);
    setAutoRaise(true);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
}

void UprightButton::set_mark(QChar mark) {
    mark_ = mark;
    update();
}

QSize UprightButton::sizeHint() const {
    const QFontMetrics metrics(font());
    return {metrics.height() + 2 * upright_padding,
            metrics.horizontalAdvance(text()) + below_mark + metrics.height() + 2 * upright_padding};
}

void UprightButton::paintEvent(QPaintEvent*) {
    QStylePainter painter(this);
    QStyleOptionToolButton option;
    initStyleOption(&option);
    option.text.clear();
    painter.drawComplexControl(QStyle::CC_ToolButton, option);
    painter.setPen(palette().color(QPalette::ButtonText));
    const QFontMetrics metrics(font());
    const int length = metrics.horizontalAdvance(text());
    const int top = (height() - metrics.height() - below_mark - length) / 2;
    painter.drawText(QRect(0, top, width(), metrics.height()), Qt::AlignCenter, mark_);
    painter.translate(0, top + metrics.height() + below_mark + length);
    painter.rotate(-90);
    painter.drawText(QRect(0, 0, length, width()), Qt::AlignCenter | Qt::TextDontClip, text());
}

}  // namespace tidemark::gui
