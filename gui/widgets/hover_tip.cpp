// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/hover_tip.h"

#include <QMouseEvent>
#include <QToolTip>

namespace tidemark::gui {

HoverTip::HoverTip(QWidget* owner) : QLabel(owner->window()) {
    setTextFormat(Qt::RichText);
    setFrameStyle(QFrame::StyledPanel | QFrame::Plain);
    setMargin(6);
    setAutoFillBackground(true);
    setForegroundRole(QPalette::ToolTipText);
    setBackgroundRole(QPalette::ToolTipBase);
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAccessibleName(tr("Values under the pointer"));
    hide();
}

void HoverTip::show_at(const QWidget* owner, QPoint point, const QString& html) {
    if (html.isEmpty()) {
        hide();
        return;
    }
    if (text() != html) {
        setText(html);
        resize(sizeHint());
    }
    const QWidget* window = parentWidget();
    QPoint place = owner->mapTo(window, point) + QPoint(18, 18);
    if (place.x() + width() > window->width() - 4) {
        place.setX(owner->mapTo(window, point).x() - width() - 14);
    }
    if (place.y() + height() > window->height() - 4) {
        place.setY(owner->mapTo(window, point).y() - height() - 14);
    }
    move(std::max(place.x(), 2), std::max(place.y(), 2));
    show();
    raise();
}

void HoverTip::pin() {
    if (!isVisible()) {
        return;
    }
    auto* copy = new HoverTip(parentWidget());
    copy->pinned_ = true;
    copy->setAttribute(Qt::WA_TransparentForMouseEvents, false);
    copy->setAttribute(Qt::WA_DeleteOnClose);
    copy->setTextInteractionFlags(Qt::TextSelectableByMouse);
    copy->setText(text() + QStringLiteral("<br><i>%1</i>").arg(tr("Pinned: right-click closes")));
    copy->resize(copy->sizeHint());
    copy->move(pos());
    copy->setObjectName(QStringLiteral("pinned_tip"));
    copy->show();
}

bool HoverTip::close_all(const QWidget& window) {
    bool was_pinned = false;
    for (HoverTip* tip : window.findChildren<HoverTip*>()) {
        was_pinned |= tip->pinned_ && tip->isVisible();
        tip->close();
    }
    return was_pinned;
}

void HoverTip::mousePressEvent(QMouseEvent* event) {
    if (pinned_ && event->button() == Qt::RightButton) {
        close();
        return;
    }
    QLabel::mousePressEvent(event);
}

QString swatch(const QColor& color) {
    return QStringLiteral("<span style=\"color:%1\">&#9632;</span>&nbsp;").arg(color.name());
}

}  // namespace tidemark::gui
