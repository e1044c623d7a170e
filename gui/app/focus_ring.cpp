// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/app/focus_ring.h"

#include <QApplication>
#include <QFocusEvent>
#include <QFocusFrame>
#include <QPainter>

#include "gui/model/palette.h"

namespace tidemark::gui {

namespace {

constexpr int ring_width = 2;  // pixels

class Ring : public QFocusFrame {
public:
    using QFocusFrame::QFocusFrame;

protected:
    void paintEvent(QPaintEvent* /*event*/) override {
        QPainter painter(this);
        painter.setPen(QPen(Theme::current().focus, ring_width));
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
};

bool is_by_keyboard(Qt::FocusReason reason) {
    return reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason || reason == Qt::ShortcutFocusReason;
}

}  // namespace

FocusRing::FocusRing() { qApp->installEventFilter(this); }

FocusRing::~FocusRing() { delete frame_.data(); }

bool FocusRing::eventFilter(QObject* object, QEvent* event) {
    // A press also reaches the windows of the platform, so only widgets are asked.
    if (event->type() == QEvent::FocusIn && object->isWidgetType()) {
        if (is_by_keyboard(static_cast<QFocusEvent*>(event)->reason())) {
            show_around(static_cast<QWidget*>(object));
        }
    } else if (event->type() == QEvent::MouseButtonPress || event->type() == QEvent::FocusOut) {
        hide();
    }
    return QObject::eventFilter(object, event);
}

void FocusRing::show_around(QWidget* widget) {
    if (frame_.isNull()) {
        frame_ = new Ring;
    }
    frame_->setWidget(widget);
}

void FocusRing::hide() {
    if (!frame_.isNull()) {
        frame_->setWidget(nullptr);
    }
}

}  // namespace tidemark::gui
