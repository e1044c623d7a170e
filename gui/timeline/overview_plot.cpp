// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/overview_plot.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/timeline/timeline_plot.h"
#include "gui/widgets/hover_tip.h"
#include "gui/widgets/severity_mark.h"
#include "storage/base/units.h"

namespace tidemark::gui {

namespace {
constexpr int grip_width = 6;
constexpr double flag_width = 22, flag_height = 14;
constexpr int smallest_brush = 6;  // pixels: the brush of a deep zoom stays visible and draggable
}  // namespace

OverviewPlot::OverviewPlot(QWidget* parent) : QWidget(parent), busy_link_(new QLabel(this)) {
    setObjectName(QStringLiteral("overview"));
    setAccessibleName(tr("Overview of the whole run"));
    setAccessibleDescription(
        tr("Drag the brush to move it, its edges to zoom, or beside it to select a new span. Left and right go to the "
           "flags of findings and to bookmarks; Enter opens one."));
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumHeight(56);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    busy_link_->setObjectName(QStringLiteral("busy_link"));
    busy_link_->setCursor(Qt::PointingHandCursor);
    connect(busy_link_, &QLabel::linkActivated, this, [this] { session_->show_busy_part(); });
    update_busy_link();
}

void OverviewPlot::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->time_view().disconnect(this);
        session_->explanation_source().disconnect(this);
    }
    session_ = session;
    if (session != nullptr) {
        connect(&session->time_view(), &TimeView::changed, this, [this, axis = session->time_view().axis()]() mutable {
            if (axis != session_->time_view().axis()) {
                axis = session_->time_view().axis();
                discard_picture();
            }
            update();
        });
        connect(&session->selection(), &Selection::time_point_changed, this, qOverload<>(&QWidget::update));
        connect(&session->selection(), &Selection::range_moved, this, qOverload<>(&QWidget::update));
        connect(&session->selection(), &Selection::selected_changed, this, qOverload<>(&QWidget::update));
        connect(session, &Session::grouping_changed, this, &OverviewPlot::discard_picture);
        connect(session, &Session::grown, this, &OverviewPlot::discard_picture);
        connect(session, &Session::live_changed, this, &OverviewPlot::discard_picture);
        connect(session, &Session::live_changed, this, &OverviewPlot::update_busy_link);
        connect(&session->selection(), &Selection::device_changed, this, &OverviewPlot::update_busy_link);
        connect(&session->explanation_source(), &ExplanationSource::changed, this, &OverviewPlot::update_flags);
        connect(&session->explanation_source(), &ExplanationSource::selected_changed, this,
                qOverload<>(&QWidget::update));
    }
    update_flags();
    update_busy_link();
    discard_picture();
}

/// Places the link under the name of the plot, at the right of the room beside the frame.
void OverviewPlot::update_busy_link() {
    busy_link_->setText(QStringLiteral("<a href=\"busy\">%1</a>").arg(tr("busy part")));
    busy_link_->setToolTip(tip_text(tr("Show the short part of the run in which nearly all events lie (B)")));
    busy_link_->setVisible(has_data() && !session_->is_live() && session_->busy_part().is_part);
    busy_link_->adjustSize();
    const int right = TimePlot::left_margin - 6;
    busy_link_->move(right - busy_link_->width(), height() / 2 + fontMetrics().height() / 2);
}

void OverviewPlot::update_flags() {
    flags_ = session_ ? finding_flags(*session_) : std::vector<FindingFlag>();
    leave_stop();
}

void OverviewPlot::discard_picture() {
    run_ = {};
    update();
}

QRect OverviewPlot::area() const {
    return QRect(QPoint(0, 0), size_.isEmpty() ? size() : size_)
        .adjusted(TimePlot::left_margin, 6, -TimePlot::right_margin, -6);
}

AxisMap OverviewPlot::x_map() const {
    const TimeView& view = session_->time_view();
    const double left = area().left();
    return {view.whole_from(), view.whole_to(), left, left + area().width()};
}

void OverviewPlot::paint_run(QPainter& painter, double ratio) const {
    const Theme theme = Theme::current();
    const QRect frame = area();
    painter.fillRect(QRect(QPoint(0, 0), size_.isEmpty() ? size() : size_), theme.background);
    painter.fillRect(frame, theme.plot_background);
    if (!has_data() || frame.width() < 2) {
        return;
    }
    const Curves& curves = session_->analysis().curves();
    const TimeView& view = session_->time_view();
    const int count = static_cast<int>(frame.width() * ratio);
    const std::vector<Column> columns = make_columns(session_->trace(), session_->device(), curves, view.axis(),
                                                     view.whole_from(), view.whole_to(), count);
    const double top = std::max<double>(static_cast<double>(curves.peak(Series::reserved).max) * 1.1, 512);
    const AxisMap heights = byte_map(0, top, frame);
    const auto y = [&](int64_t bytes) { return heights.pixel(static_cast<double>(bytes)); };
    QColor fill = theme.reserved_line;
    fill.setAlpha(theme.dark ? 120 : 105);
    const double known = session_->is_live() ? pixel(view.known_to()) : frame.right() + 1;
    for (int i = 0; i < count && frame.left() + i / ratio < known; ++i) {
        const double x = frame.left() + i / ratio;
        const Column& c = columns[static_cast<size_t>(i)];
        const double high = y(c.max[static_cast<size_t>(Series::allocated)]);
        painter.fillRect(QRectF(x, high, 1 / ratio, frame.bottom() + 1 - high), fill);
        const double reserved = y(c.max[static_cast<size_t>(Series::reserved)]);
        painter.fillRect(QRectF(x, reserved, 1 / ratio, 1), theme.reserved_line);
    }
    QColor faint = theme.faint_text;
    faint.setAlpha(120);
    painter.setPen(QPen(faint, 1));
    const int device = session_->device().device;
    double last = -10;
    const auto tick = [&](double at) {
        if (std::round(at) - last >= 3) {
            last = std::round(at);
            painter.drawLine(QPointF(last, frame.top()), QPointF(last, frame.top() + 5));
        }
    };
    for (const Mark& mark : session_->trace().marks) {
        const auto event = mark.events.find(device);
        tick(pixel(event != mark.events.end() ? view.position_of(event->second) : view.position_of_time(mark.time)));
    }
    last = -10;
    for (const Step& step : session_->trace().steps) {
        tick(pixel(view.position_of_time(step.start)));
    }
    last = -10;
    for (const Annotation& a : session_->trace().annotations) {
        if (a.device == device || a.device < 0) {
            tick(pixel(view.position_of_time(a.start)));
        }
    }
    last = -10;
    for (const OtherEvent& other : session_->device().others) {
        const double x = std::round(pixel(view.position_of(other.event + 1)));
        if (other.action == Action::oom && x - last >= 2) {
            last = x;
            painter.setPen(QPen(theme.oom, 2));
            painter.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()));
            painter.setBrush(theme.oom);
            painter.setPen(Qt::NoPen);
            painter.drawPolygon(
                QPolygonF({{x, frame.top() + 0.0}, {x + 9, frame.top() + 4.0}, {x, frame.top() + 8.0}}));
        }
    }
    painter.setPen(theme.faint_text);
    const QRect label(0, frame.top(), TimePlot::left_margin - 6, frame.height());
    painter.drawText(label, Qt::AlignRight | Qt::AlignVCenter, tr("whole run"));
}

void OverviewPlot::paint_brush(QPainter& painter) const {
    if (!has_data()) {
        return;
    }
    const Theme theme = Theme::current();
    const TimeView& view = session_->time_view();
    const QRect frame = area();
    double left = pixel(view.from()), right = pixel(view.to());
    if (right - left < smallest_brush) {
        const double middle = (left + right) / 2;
        left = middle - smallest_brush / 2.0;
        right = middle + smallest_brush / 2.0;
    }
    QColor veil = theme.background;
    veil.setAlpha(theme.dark ? 170 : 185);
    painter.fillRect(QRectF(QPointF(frame.left(), frame.top()), QPointF(left, frame.bottom() + 1)), veil);
    painter.fillRect(QRectF(QPointF(right, frame.top()), QPointF(frame.right() + 1, frame.bottom() + 1)), veil);
    if (const auto& range = session_->selection().state().range) {
        QColor selected = theme.selection;
        selected.setAlpha(60);
        painter.fillRect(
            QRectF(QPointF(pixel(range->first), frame.top()), QPointF(pixel(range->second), frame.bottom() + 1)),
            selected);
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.text, 1));
    painter.drawRect(QRectF(left, frame.top() - 1.0, right - left - 1, frame.height() + 1.0));
    painter.fillRect(QRectF(left - 1, frame.center().y() - 9.0, 3, 18), theme.text);
    painter.fillRect(QRectF(right - 2, frame.center().y() - 9.0, 3, 18), theme.text);
    const double cursor = std::round(pixel(view.position_of(session_->selection().state().time_point)));
    painter.setPen(QPen(theme.cursor, 1));
    painter.drawLine(QPointF(cursor, frame.top() - 3), QPointF(cursor, frame.bottom() + 3));
    painter.setBrush(theme.cursor);
    painter.setPen(Qt::NoPen);
    const double y = frame.bottom() + 1.0;
    painter.drawPolygon(QPolygonF({{cursor, y}, {cursor - 4, y + 5}, {cursor + 4, y + 5}}));
}

// ---- findings -------------------------------------------------------------------------------------------------------

/// Places each flag at its pole or, if another one is there, beside that one: as near to the pole as there is room.
std::vector<QRectF> OverviewPlot::flag_boxes() const {
    std::vector<QRectF> boxes;
    const double last = area().right() + TimePlot::right_margin - flag_width;
    const auto is_free = [&](const QRectF& box) {
        return box.left() >= area().left() && box.left() <= last &&
               std::none_of(boxes.begin(), boxes.end(), [&](const QRectF& other) { return other.intersects(box); });
    };
    for (const FindingFlag& flag : flags_) {
        const double pole = std::round(pixel(session_->time_view().position_of(flag.begin)));
        const QRectF first(std::min(pole, last), area().top() - 5.0, flag_width, flag_height);
        std::vector<QRectF> places = {first};
        for (const QRectF& other : boxes) {
            places.push_back(first.translated(other.right() + 1 - first.left(), 0));
            places.push_back(first.translated(other.left() - 1 - first.right(), 0));
        }
        std::erase_if(places, [&](const QRectF& place) { return !is_free(place); });
        const auto nearest =
            std::min_element(places.begin(), places.end(), [&](const QRectF& one, const QRectF& other) {
                return std::abs(one.left() - first.left()) < std::abs(other.left() - first.left());
            });
        boxes.push_back(nearest == places.end() ? first : *nearest);
    }
    return boxes;
}

QRectF OverviewPlot::flag_box(const FindingFlag& flag) const {
    return flag_boxes()[static_cast<size_t>(flag.number - 1)];
}

void OverviewPlot::paint_flags(QPainter& painter) const {
    if (!has_data()) {
        return;
    }
    const Theme theme = Theme::current();
    const TimeView& view = session_->time_view();
    const int selected = session_->explanation_source().selected();
    paint_steps(painter);
    QFont font = this->font();
    font.setPointSizeF(font.pointSizeF() * 0.85);
    font.setBold(true);
    painter.setFont(font);
    const std::vector<QRectF> boxes = flag_boxes();
    const auto color_of = [&](const FindingFlag& flag) {
        return flag.finding == selected ? theme.selection : severity_color(theme, flag.severity);
    };
    for (const FindingFlag& flag : flags_) {  // all poles first, so that none crosses a number
        const double pole = std::round(pixel(view.position_of(flag.begin)));
        painter.setPen(QPen(color_of(flag), 1.5));
        painter.drawLine(QPointF(pole, boxes.front().top()), QPointF(pole, area().bottom()));
    }
    for (size_t i = 0; i < flags_.size(); ++i) {
        const FindingFlag& flag = flags_[i];
        const QRectF& box = boxes[i];
        painter.setBrush(theme.plot_background);
        painter.setPen(QPen(color_of(flag), flag.finding == selected ? 2 : 1));
        painter.drawRect(box);
        paint_severity(painter, QRectF(box.left() + 3, box.center().y() - 4, 8, 8), theme, flag.severity);
        painter.setPen(theme.text);
        painter.drawText(box.adjusted(12, 0, -2, 0), Qt::AlignCenter, QString::number(flag.number));
    }
}

/// Marks the evidence of the selected finding.
void OverviewPlot::paint_steps(QPainter& painter) const {
    const Theme theme = Theme::current();
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.selection);
    for (const TimePoint& time_point : selected_time_points(*session_)) {
        const double x = std::round(pixel(session_->time_view().position_of(time_point)));
        const double y = area().bottom() + 1.0;
        painter.drawPolygon(QPolygonF({{x, y - 8}, {x + 4, y - 3}, {x, y + 2}, {x - 4, y - 3}}));
    }
}

const FindingFlag* OverviewPlot::flag_at(QPoint point) const {
    const std::vector<QRectF> boxes = flag_boxes();
    const auto found = std::find_if(boxes.begin(), boxes.end(), [&](const QRectF& box) { return box.contains(point); });
    return found == boxes.end() ? nullptr : &flags_[static_cast<size_t>(found - boxes.begin())];
}

void OverviewPlot::show_tip(QPoint point) {
    if (tip_ == nullptr) {
        tip_ = new HoverTip(this);
    }
    const FindingFlag* flag = flag_at(point);
    tip_->show_at(this, point, flag != nullptr ? flag_tip(*session_, *flag) : bookmark_tip(point));
}

void OverviewPlot::leaveEvent(QEvent* event) {
    QWidget::leaveEvent(event);
    if (tip_ != nullptr) {
        tip_->hide();
    }
}

void OverviewPlot::render_to(QPainter& painter, QSize size) {
    size_ = size;
    paint_run(painter, painter.device()->devicePixelRatioF());
    paint_brush(painter);
    paint_bookmarks(painter);
    paint_flags(painter);
    size_ = {};
}

void OverviewPlot::paintEvent(QPaintEvent*) {
    const double ratio = devicePixelRatioF();
    if (run_.size() != size() * ratio) {
        run_ = QPixmap(size() * ratio);
        run_.setDevicePixelRatio(ratio);
        QPainter painter(&run_);
        painter.setFont(font());
        paint_run(painter, ratio);
    }
    QPainter painter(this);
    painter.drawPixmap(0, 0, run_);
    paint_brush(painter);
    paint_bookmarks(painter);
    paint_flags(painter);
    paint_stop(painter);
}

void OverviewPlot::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        discard_picture();
    }
    if (event->type() == QEvent::FontChange) {
        update_busy_link();
    }
}

void OverviewPlot::resizeEvent(QResizeEvent*) {
    update_busy_link();
    discard_picture();
}

OverviewPlot::Grip OverviewPlot::grip_at(QPoint point) const {
    const double left = pixel(session_->time_view().from()), right = pixel(session_->time_view().to());
    if (std::abs(point.x() - left) <= grip_width && point.x() < (left + right) / 2) {
        return Grip::left;
    }
    if (std::abs(point.x() - right) <= grip_width) {
        return Grip::right;
    }
    return point.x() > left && point.x() < right ? Grip::inside : Grip::outside;
}

void OverviewPlot::mousePressEvent(QMouseEvent* event) {
    if (!has_data() || event->button() != Qt::LeftButton) {
        return;
    }
    if (const FindingFlag* flag = flag_at(event->position().toPoint())) {
        emit finding_selected(flag->finding);
        return;
    }
    if (const Note* note = bookmark_at(event->position().toPoint())) {
        notes_->go_to(*note);
        return;
    }
    TimeView& view = session_->time_view();
    view.begin_gesture();
    grip_ = grip_at(event->position().toPoint());
    press_ = position(event->position().x());
    from_ = view.from();
    to_ = view.to();
    const bool whole = from_ <= view.whole_from() && to_ >= view.whole_to();
    if (whole && grip_ == Grip::inside) {
        grip_ = Grip::outside;  // the whole run is shown, so the drag draws a new brush
    }
}

void OverviewPlot::mouseMoveEvent(QMouseEvent* event) {
    if (!has_data()) {
        return;
    }
    const double at = position(event->position().x());
    TimeView& view = session_->time_view();
    switch (grip_) {
        case Grip::none: {
            show_tip(event->position().toPoint());
            const Grip grip = grip_at(event->position().toPoint());
            const bool on_mark =
                flag_at(event->position().toPoint()) != nullptr || bookmark_at(event->position().toPoint()) != nullptr;
            setCursor(on_mark                                     ? Qt::PointingHandCursor
                      : grip == Grip::left || grip == Grip::right ? Qt::SizeHorCursor
                      : grip == Grip::inside                      ? Qt::OpenHandCursor
                                                                  : Qt::CrossCursor);
            break;
        }
        case Grip::left: view.show(std::min(at, to_), to_); break;
        case Grip::right: view.show(from_, std::max(at, from_)); break;
        case Grip::inside: view.show(from_ + at - press_, to_ + at - press_); break;
        case Grip::outside: view.show(std::min(at, press_), std::max(at, press_)); break;
    }
}

void OverviewPlot::mouseReleaseEvent(QMouseEvent* event) {
    if (!has_data() || grip_ == Grip::none) {
        return;
    }
    TimeView& view = session_->time_view();
    const double at = position(event->position().x());
    const double reach = 2 * (position(1) - position(0));
    const bool click = std::abs(pixel(press_) - event->position().x()) < 4;
    if (click && grip_ == Grip::outside) {
        // A click beside the brush moves it there; if everything is shown, the click moves the cursor.
        view.show(at - (to_ - from_) / 2, at + (to_ - from_) / 2);
        session_->selection().set_time_point(view.point_near(at, reach));
    } else if (click && grip_ == Grip::inside) {
        session_->selection().set_time_point(view.point_near(at, reach));
    }
    view.end_gesture();
    grip_ = Grip::none;
}

void OverviewPlot::wheelEvent(QWheelEvent* event) {
    if (has_data()) {
        session_->time_view().zoom(std::pow(1.25, event->angleDelta().y() / 120.0), position(event->position().x()));
        event->accept();
    }
}

}  // namespace tidemark::gui
