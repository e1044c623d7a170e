// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/time_plot.h"

#include <QApplication>
#include <QLineEdit>
#include <cmath>

#include "gui/model/text.h"
#include "storage/base/units.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

/// Lets the plot draw a layer of QCustomPlot.
class TimePlot::Painted : public QCPLayerable {
public:
    Painted(TimePlot* plot, const QString& layer, void (TimePlot::*paint)(QCPPainter&))
        : QCPLayerable(plot, layer), plot_(plot), paint_(paint) {}

protected:
    QRect clipRect() const override { return plot_->viewport(); }
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(false); }
    void draw(QCPPainter* painter) override { (plot_->*paint_)(*painter); }

private:
    TimePlot* plot_;
    void (TimePlot::*paint_)(QCPPainter&);
};

namespace {

constexpr double label_gap = 4;  // pixels

/// An opaque picture of all layers. The library's own buffer is transparent: to blend a whole plot with the background
/// takes longer than to paint it.
class OpaqueBuffer : public QCPAbstractPaintBuffer {
public:
    OpaqueBuffer(QSize size, double pixel_ratio, const QColor& background)
        : QCPAbstractPaintBuffer(size, pixel_ratio), background_(background) {
        OpaqueBuffer::reallocateBuffer();
    }

    QCPPainter* startPainting() override { return new QCPPainter(&image_); }
    void draw(QCPPainter* painter) const override { painter->drawImage(0, 0, image_); }
    void clear(const QColor&) override { image_.fill(background_); }

protected:
    void reallocateBuffer() override {
        setInvalidated();
        image_ = QImage(mSize * mDevicePixelRatio, QImage::Format_RGB32);
        image_.setDevicePixelRatio(mDevicePixelRatio);
        image_.fill(background_);
    }

private:
    QColor background_;
    QImage image_;
};

}  // namespace

QRectF moved_beside(QRectF box, const std::vector<QRectF>& labels, QRect area) {
    const double leftmost = area.left(), rightmost = std::max<double>(area.right() - box.width(), leftmost);
    box.moveLeft(std::clamp(box.left(), leftmost, rightmost));
    for (const QRectF& label : labels) {
        if (label.intersects(box)) {
            const double before = label.left() - box.width() - label_gap, after = label.right() + label_gap;
            const bool is_before = before >= leftmost && box.left() - before <= after - box.left();
            box.moveLeft(is_before ? before : std::min(after, rightmost));
        }
    }
    return box;
}

TimePlot::TimePlot(QWidget* parent) : QCustomPlot(parent), time_ticker_(new TimeTicker) {
    axisRect()->setAutoMargins(QCP::msNone);
    set_top_margin(top_margin_);
    plotLayout()->setRowSpacing(0);
    xAxis->setTicker(time_ticker_);
    yAxis->setTicker(QSharedPointer<ByteTicker>::create());
    xAxis2->setVisible(false);
    setInteractions(QCP::Interactions());
    setNotAntialiasedElements(QCP::aeAll);
    setPlottingHint(QCP::phCacheLabels, true);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(220, 70);
    new Painted(this, QStringLiteral("main"), &TimePlot::paint_base);
    new Painted(this, QStringLiteral("overlay"), &TimePlot::export_cursors);
    layer(QStringLiteral("overlay"))->setMode(QCPLayer::lmLogical);
    wheel_rest_.setSingleShot(true);
    wheel_rest_.setInterval(350);
    connect(&wheel_rest_, &QTimer::timeout, this, [this] {
        if (session_) {
            session_->time_view().end_gesture();
        }
    });
    apply_theme();
}

TimePlot::~TimePlot() = default;

void TimePlot::set_top_margin(int pixels) {
    top_margin_ = pixels;
    axisRect()->setMargins(QMargins(left_margin, pixels, right_margin, bottom_margin_));
}

void TimePlot::hide_grid() {
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->grid()->setVisible(false);
    }
}

void TimePlot::set_time_labels(bool shown) {
    xAxis->setTickLabels(shown);
    bottom_margin_ = shown ? bottom_margin : 10;
    set_top_margin(top_margin_);
}

void TimePlot::set_whole_bytes(double whole) {
    whole_bytes_ = std::max(whole, 512.0);
    yAxis->setRange(0, whole_bytes_);
}

void TimePlot::grow_whole_bytes(double whole) {
    if (low() <= 0 && high() >= whole_bytes_) {
        set_whole_bytes(whole);
    } else {
        whole_bytes_ = std::max(whole, 512.0);
    }
}

void TimePlot::show_bytes(double from, double to) {
    const double length = std::clamp(to - from, std::min(4096.0, whole_bytes_), whole_bytes_);
    const double start = std::clamp(from, 0.0, whole_bytes_ - length);
    if (!std::isfinite(start) || (start == low() && start + length == high())) {
        return;
    }
    yAxis->setRange(start, start + length);
    view_changed();
    repaint_picture();
}

void TimePlot::zoom_bytes(double factor, double at_pixel) {
    const double at = y_map().value(at_pixel);
    const double length = std::clamp((high() - low()) / factor, std::min(4096.0, whole_bytes_), whole_bytes_);
    const double part = (at - low()) / (high() - low());
    show_bytes(at - part * length, at - part * length + length);
}

void TimePlot::pan_bytes(double pixels) {
    const double delta = pixels / area().height() * (high() - low());
    show_bytes(low() + delta, high() + delta);
}

void TimePlot::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->time_view().disconnect(this);
    }
    session_ = session;
    delete tip_;
    if (session != nullptr) {
        connect(&session->time_view(), &TimeView::changed, this, &TimePlot::follow_time_view);
        connect(&session->time_view(), &TimeView::pointer_moved, this, &TimePlot::repaint_overlay);
        connect(&session->selection(), &Selection::time_point_changed, this, &TimePlot::repaint_overlay);
        connect(&session->selection(), &Selection::selected_changed, this, [this] {
            view_changed();
            repaint_picture();
        });
        connect(&session->selection(), &Selection::hovered_changed, this, [this] {
            view_changed();
            repaint_picture();
        });
        connect(&session->selection(), &Selection::time_point_changed, this, &TimePlot::report_values);
        connect(&session->selection(), &Selection::selected_changed, this, &TimePlot::report_values);
        connect(&session->selection(), &Selection::range_moved, this, &TimePlot::repaint_overlay);
        connect(session, &Session::group_selected, this, [this] {
            view_changed();
            repaint_picture();
        });
        connect(session, &Session::grown, this, [this] {
            session_grown();
            follow_time_view();
            report_values();
        });
        connect(session, &Session::live_changed, this, &TimePlot::follow_time_view);
        connect(session, &Session::grouping_changed, this, [this] {
            session_changed();
            view_changed();
            repaint_picture();
        });
    }
    session_changed();
    follow_time_view();
    report_values();
}

// ---- screen readers -----------------------------------------------------------------------------------

void TimePlot::set_purpose(const QString& sentence) {
    purpose_ = sentence;
    report_values();
}

void TimePlot::report_values() {
    setAccessibleDescription(has_data() ? values_at_cursor() + ' ' + purpose_ : purpose_);
}

QString TimePlot::values_at_cursor() const {
    const DeviceHistory& device = session_->device();
    const Curves& curves = session_->analysis().curves();
    const SelectionState& state = session_->selection().state();
    const auto value = [&](Series series) {
        return QString::fromStdString(format_bytes(curves.value(series, state.time_point)));
    };
    QString text = tr("At the cursor, %1: allocated %2, active %3, reserved %4.")
                       .arg(point_text(session_->trace(), device, state.time_point), value(Series::allocated),
                            value(Series::active), value(Series::reserved));
    if (const QString place = place_sentence(state.time_point.repeated); !place.isEmpty()) {
        text += ' ' + place;
    }
    if (state.allocation != no_allocation) {
        text += ' ' + tr("Selected: allocation %1, %2.")
                          .arg(allocation_text(device, state.allocation),
                               bytes_text(device.allocations.block_size[state.allocation]));
    }
    return text;
}

void TimePlot::follow_time_view() {
    if (session_) {
        const TimeView& view = session_->time_view();
        time_ticker_->set_events(view.axis() == TimeAxis::event_index);
        xAxis->setRange(view.from(), view.to());
    }
    view_changed();
    repaint_picture();
}

void TimePlot::repaint_overlay() {
    if (isVisible()) {  // a hidden plot is painted as a whole when it is shown
        update();
    }
}

void TimePlot::refresh_now() {
    const bool before = std::exchange(synchronous_, true);
    view_changed();
    replot(rpImmediateRefresh);
    synchronous_ = before;
}

void TimePlot::render_to(QPaintDevice& device, QSize size) {
    exporting_ = true;
    export_ratio_ = device.devicePixelRatioF();
    QCPPainter painter(&device);
    if (dynamic_cast<QImage*>(&device) == nullptr) {
        painter.setMode(QCPPainter::pmVectorized);
        export_ratio_ = 2;
    }
    const bool labels = xAxis->tickLabels();
    set_time_labels(true);
    toPainter(&painter, size.width(), size.height());
    painter.end();
    set_time_labels(labels);
    exporting_ = false;
    view_changed();
    repaint_picture();
}

// ---- appearance
// ------------------------------------------------------------------------------------------------------

void TimePlot::apply_theme() {
    theme_ = Theme::current();
    setBackground(QBrush(theme_.background));  // of exported pictures
    mPaintBuffers = {QSharedPointer<QCPAbstractPaintBuffer>(
        new OpaqueBuffer(viewport().size(), bufferDevicePixelRatio(), theme_.background))};
    axisRect()->setBackground(QBrush(theme_.plot_background));
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setBasePen(QPen(theme_.faint_text));
        axis->setTickPen(QPen(theme_.faint_text));
        axis->setSubTickPen(QPen(theme_.grid));
        axis->setTickLabelColor(theme_.faint_text);
        axis->setTickLabelFont(font());
        axis->setTickLengthIn(0);
        axis->setTickLengthOut(4);
        axis->setSubTickLength(0, 2);
        axis->grid()->setPen(QPen(theme_.grid));
        axis->grid()->setZeroLinePen(QPen(theme_.grid));
        axis->grid()->setSubGridVisible(false);
    }
}

void TimePlot::changeEvent(QEvent* event) {
    QCustomPlot::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        apply_theme();
        view_changed();
        repaint_picture();
    }
}

void TimePlot::paintEvent(QPaintEvent*) {
    // The library does not follow a move to a screen of another density by itself.
    if (bufferDevicePixelRatio() != devicePixelRatioF()) {
        setBufferDevicePixelRatio(devicePixelRatioF());
        view_changed();
        replot(rpQueuedRefresh);
    }
    QCPPainter painter(this);
    for (const auto& buffer : mPaintBuffers) {
        buffer->draw(&painter);
    }
    paint_cursors(painter);
}

void TimePlot::resizeEvent(QResizeEvent* event) {
    xAxis->ticker()->setTickCount(std::max(2, (width() - left_margin - right_margin) / 90));
    yAxis->ticker()->setTickCount(std::max(2, (height() - top_margin_ - bottom_margin_) / 34));
    QCustomPlot::resizeEvent(event);
    view_changed();
    repaint_picture();
}

void TimePlot::paint_base(QCPPainter& painter) {
    if (exporting_) {
        view_changed();
    }
    const QString reason = has_data() ? empty_reason()
                           : session_ ? tr("This trace has no memory events of any device.")
                                      : tr("No trace is open.");
    if (has_data()) {
        painter.save();
        paint_picture(painter);
        painter.restore();
    }
    if (!reason.isEmpty()) {
        painter.setPen(theme_.faint_text);
        painter.drawText(area(), Qt::AlignCenter | Qt::TextWordWrap, reason);
    }
}

void TimePlot::paint_vertical(QCPPainter& painter, double position, const QPen& pen) const {
    const double x = std::round(x_map().pixel(position));
    if (x >= area().left() && x <= area().right()) {
        painter.setPen(pen);
        painter.drawLine(QPointF(x, area().top()), QPointF(x, area().bottom()));
    }
}

void TimePlot::paint_cursors(QCPPainter& painter) {
    if (!has_data()) {
        return;
    }
    painter.save();
    painter.setClipRect(viewport());
    paint_range(painter);
    paint_overlay(painter);
    painter.setClipRegion(QRegion(viewport()).subtracted(key_area()));
    const TimeView& view = session_->time_view();
    if (view.pointer() && !exporting_) {
        QColor faint = theme_.faint_text;
        faint.setAlpha(170);
        paint_vertical(painter, *view.pointer(), QPen(faint, 1, Qt::DotLine));
    }
    const double cursor = view.position_of(session_->selection().state().time_point);
    paint_vertical(painter, cursor, QPen(theme_.cursor, 1));
    const double x = std::round(x_map().pixel(cursor));
    if (x >= area().left() && x <= area().right()) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme_.cursor);
        const double y = area().bottom() + 1;
        painter.drawPolygon(QPolygonF({{x, y}, {x - 5, y + 7}, {x + 5, y + 7}}));
    }
    painter.restore();
}

void TimePlot::export_cursors(QCPPainter& painter) {
    if (exporting_) {
        paint_cursors(painter);
    }
}

void TimePlot::paint_range(QCPPainter& painter) {
    const auto& range = session_->selection().state().range;
    if (!range) {
        return;
    }
    const double left = std::max<double>(x_map().pixel(range->first), area().left());
    const double right = std::min<double>(x_map().pixel(range->second), area().right() + 1);
    if (right <= left) {
        return;
    }
    QColor fill = theme_.selection;
    fill.setAlpha(theme_.dark ? 50 : 34);
    painter.fillRect(QRectF(left, area().top(), right - left, area().height()), fill);
    paint_vertical(painter, range->first, QPen(theme_.selection));
    paint_vertical(painter, range->second, QPen(theme_.selection));
    if (const QString text = describe_ends(*range); !text.isEmpty()) {
        paint_range_label(painter, text, (left + right) / 2);
    }
}

/// At the bottom, where plots have no other label.
void TimePlot::paint_range_label(QCPPainter& painter, const QString& text, double middle) {
    const QFontMetrics metrics(painter.font());
    QRectF box(0, 0, metrics.horizontalAdvance(text) + 10, metrics.height() + 4);
    box.moveBottom(area().bottom() - 3);
    box.moveLeft(middle - box.width() / 2);
    box = moved_beside(box, labels(), area());
    painter.fillRect(box, theme_.selection);
    painter.setPen(text_color_on(theme_.selection));
    painter.drawText(box, Qt::AlignCenter, text);
}

QString TimePlot::describe_column(QPoint point, const Column& column) const {
    const DeviceHistory& device = session_->device();
    const auto row = [&](const QString& name, Series series) {
        const auto s = static_cast<size_t>(series);
        const QString high = QString::fromStdString(format_bytes(column.max[s]));
        const QString low = QString::fromStdString(format_bytes(column.min[s]));
        return QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td align=right>%2</td></tr>")
            .arg(name, high == low ? high : low + QStringLiteral(" – ") + high);
    };
    const TimePoint shown = point_under(point, column);
    const QString place = place_sentence(shown.repeated);
    return QStringLiteral("<b>%1</b><table cellspacing=0>").arg(point_text(session_->trace(), device, shown)) +
           row(tr("allocated"), Series::allocated) + row(tr("active"), Series::active) +
           row(tr("requested"), Series::requested) + row(tr("reserved"), Series::reserved) +
           QStringLiteral("</table>") + place;
}

}  // namespace tidemark::gui
