#include "gui/why/verdict_mark.h"

#include <QPainter>

namespace tidemark::gui {

namespace {

constexpr int room = 5;  // pixels beside the word

/// Of a square with sides from -1 to 1.
QPolygonF shape_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::leak:
            return QPolygonF({{0, -1}, {1, 0.1}, {0.4, 0.1}, {0.4, 1}, {-0.4, 1}, {-0.4, 0.1}, {-1, 0.1}});
        case Verdict::failure:
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
        case Verdict::waste: return QPolygonF({{0, -1}, {1, 0}, {0, 1}, {-1, 0}});
        default: return {};
    }
}

}  // namespace

QString verdict_help(Verdict verdict) {
    switch (verdict) {
        case Verdict::leak: return VerdictMark::tr("Memory goes up again and again and does not come back.");
        case Verdict::failure: return VerdictMark::tr("The run could not have the memory it asked for.");
        case Verdict::waste: return VerdictMark::tr("It does not grow, but more memory is taken than the work needs.");
        case Verdict::pattern: return VerdictMark::tr("What the program's own doing looks like in memory: expected.");
        case Verdict::background: return VerdictMark::tr("Every program has it.");
    }
    return {};
}

/// After Okabe and Ito: told apart with every common kind of colour blindness.
QColor verdict_color(const Theme& theme, Verdict verdict) {
    switch (verdict) {
        case Verdict::leak: return theme.dark ? QColor(0xf0, 0x7f, 0x2e) : QColor(0xd5, 0x5e, 0x00);
        case Verdict::failure: return theme.oom;
        case Verdict::waste: return theme.dark ? QColor(0xe6, 0xb8, 0x2c) : QColor(0xa8, 0x7a, 0x00);
        case Verdict::pattern: return theme.dark ? QColor(0x56, 0xb4, 0xe9) : QColor(0x00, 0x72, 0xb2);
        case Verdict::background: return theme.faint_text;
    }
    return theme.faint_text;
}

void paint_verdict(QPainter& painter, const QRectF& box, const Theme& theme, Verdict verdict) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(box.center());
    painter.scale(box.width() / 2, box.height() / 2);
    const QColor color = verdict_color(theme, verdict);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    if (const QPolygonF shape = shape_of(verdict); !shape.isEmpty()) {
        painter.drawPolygon(shape);
    } else if (verdict == Verdict::background) {
        QPen ring(color, 0.35);
        painter.setPen(ring);
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(QPointF(), 0.7, 0.7);
    } else {
        painter.drawEllipse(QPointF(), 0.85, 0.85);
    }
    painter.restore();
}

VerdictMark::VerdictMark(Verdict verdict, const QString& word, QWidget* parent)
    : QWidget(parent), verdict_(verdict), word_(word) {
    setToolTip(verdict_help(verdict));
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

QSize VerdictMark::sizeHint() const {
    const QFontMetrics metrics = fontMetrics();
    const int side = metrics.ascent() - 1;
    return {side + 3 * room + metrics.horizontalAdvance(word_), metrics.height() + 4};
}

void VerdictMark::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme theme = Theme::current();
    QColor tint = verdict_color(theme, verdict_);
    tint.setAlpha(theme.dark ? 60 : 36);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tint);
    painter.drawRoundedRect(rect(), 4, 4);
    const int side = fontMetrics().ascent() - 1;
    paint_verdict(painter, QRectF(room, (height() - side) / 2.0, side, side), theme, verdict_);
    painter.setPen(theme.text);
    painter.drawText(rect().adjusted(side + 2 * room, 0, 0, 0), Qt::AlignVCenter, word_);
}

}  // namespace tidemark::gui
