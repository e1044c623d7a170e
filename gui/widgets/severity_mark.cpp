// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/severity_mark.h"

#include <QPainter>

#include "storage/report/html_colors.h"

namespace tidemark::gui {

namespace {

constexpr int padding = 5;  // pixels beside the word

/// The shapes in a square from -1 to 1.
QPolygonF shape_of(Severity severity) {
    switch (severity) {
        case Severity::leak:
            return QPolygonF({{0, -1}, {1, 0.1}, {0.4, 0.1}, {0.4, 1}, {-0.4, 1}, {-0.4, 0.1}, {-1, 0.1}});
        case Severity::failure:
            return QPolygonF({{-1, -0.6},
                              {-0.6, -1},
                              {0, -0.4},
                              {0.6, -1},
                              {1, -0.6},
                              {0.4, 0},
                              {1, 0.6},
                              {0.6, 1},
                              {0, 0.4},
                              {-0.6, 1},
                              {-1, 0.6},
                              {-0.4, 0}});
        case Severity::waste: return QPolygonF({{0, -1}, {1, 0}, {0, 1}, {-1, 0}});
        default: return {};
    }
}

}  // namespace

QString severity_help(Severity severity) {
    switch (severity) {
        case Severity::leak: return SeverityMark::tr("Memory grows with every iteration and is never freed.");
        case Severity::failure: return SeverityMark::tr("An allocation failed: the GPU was out of memory.");
        case Severity::waste: return SeverityMark::tr("Memory does not grow, but the program uses more than it needs.");
        case Severity::pattern: return SeverityMark::tr("An expected effect of what the program does.");
        case Severity::background: return SeverityMark::tr("Every program on a GPU has this memory.");
    }
    return {};
}

QColor severity_color(const Theme& theme, Severity severity) {
    const KeyColor key = severity_key(severity);
    return QColor::fromRgb(theme.dark ? key.dark : key.light);
}

void paint_severity(QPainter& painter, const QRectF& box, const Theme& theme, Severity severity) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(box.center());
    painter.scale(box.width() / 2, box.height() / 2);
    const QColor color = severity_color(theme, severity);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    if (const QPolygonF shape = shape_of(severity); !shape.isEmpty()) {
        painter.drawPolygon(shape);
    } else if (severity == Severity::background) {
        QPen ring(color, 0.35);
        painter.setPen(ring);
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(QPointF(), 0.7, 0.7);
    } else {
        painter.drawEllipse(QPointF(), 0.85, 0.85);
    }
    painter.restore();
}

SeverityMark::SeverityMark(Severity severity, const QString& word, QWidget* parent)
    : QWidget(parent), severity_(severity), word_(word) {
    setToolTip(severity_help(severity));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

QSize SeverityMark::sizeHint() const {
    const QFontMetrics metrics = fontMetrics();
    const int side = metrics.ascent() - 1;
    return {side + 3 * padding + metrics.horizontalAdvance(word_), metrics.height() + 4};
}

void SeverityMark::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme theme = Theme::current();
    QColor tint = severity_color(theme, severity_);
    tint.setAlpha(theme.dark ? 60 : 36);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tint);
    painter.drawRoundedRect(rect(), 4, 4);
    const int side = fontMetrics().ascent() - 1;
    paint_severity(painter, QRectF(padding, (height() - side) / 2.0, side, side), theme, severity_);
    painter.setPen(theme.text);
    painter.drawText(rect().adjusted(side + 2 * padding, 0, 0, 0), Qt::AlignVCenter, word_);
}

}  // namespace tidemark::gui
