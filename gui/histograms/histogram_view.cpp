// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/histograms/histogram_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <bit>
#include <cmath>

#include "gui/model/palette.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

constexpr double gap_before_never = 14;  // pixels: it is no continuation of the axis
constexpr double least_bar = 2;          // pixels: a single allocation among a million stays visible
constexpr double widest_bin = 64;
constexpr int margin = 8;
constexpr double paleness_outside = 0.62;

/// Returns whether the axis may be labeled where a bin begins: at round values.
bool is_round(HistogramOf of, uint64_t value) {
    if (of == HistogramOf::size) {
        return value == 0 || std::has_single_bit(value);
    }
    return of == HistogramOf::lifetime || value < 2 || std::has_single_bit(value);
}

}  // namespace

HistogramView::HistogramView(bool is_of_size, QWidget* parent) : QWidget(parent), is_of_size_(is_of_size) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    describe();
}

HistogramOf HistogramView::kind() const {
    return is_of_size_ ? HistogramOf::size : shown_ ? shown_->histograms.lifetime_kind() : HistogramOf::lifetime;
}

QString HistogramView::title() const {
    switch (kind()) {
        case HistogramOf::size: return tr("Block size");
        case HistogramOf::lifetime: return tr("Lifetime");
        case HistogramOf::iterations: return tr("Lifetime in iterations");
    }
    return {};
}

void HistogramView::show(std::shared_ptr<const ShownHistograms> shown, const std::optional<BinRange>& brush,
                         const std::optional<BinRange>& part) {
    shown_ = std::move(shown);
    brush_ = brush;
    whole_.clear();
    part_.clear();
    if (shown_) {
        const auto amounts = [&](const std::optional<BinRange>& range) {
            return is_of_size_ ? shown_->histograms.by_size(range) : shown_->histograms.by_lifetime(range);
        };
        whole_ = amounts(std::nullopt);
        part_ = part ? amounts(part) : std::vector<HistogramAmount>();
    }
    if (brush_ && brush_ != BinRange{std::min(anchor_, head_), std::max(anchor_, head_)}) {
        anchor_ = brush_->first;
        head_ = brush_->last;
    }
    set_measure(measure_);
}

void HistogramView::set_measure(HistogramMeasure measure) {
    measure_ = measure;
    highest_ = 0;
    for (const HistogramAmount& amount : whole_) {
        highest_ = std::max(highest_, measured(amount));
    }
    describe();
    update();
}

int64_t HistogramView::measured(const HistogramAmount& amount) const {
    return measure_ == HistogramMeasure::bytes ? amount.bytes : amount.allocations;
}

HistogramAmount HistogramView::amount_in(const BinRange& range) const {
    HistogramAmount sum;
    for (size_t bin = range.first; bin <= range.last && bin < whole_.size(); ++bin) {
        sum += part_.empty() ? whole_[bin] : part_[bin];
    }
    return sum;
}

QString HistogramView::range_text(const BinRange& range) const {
    return bin_text(kind(), bins()[range.first], bins()[range.last]);
}

/// The name for screen readers says what the focus is on.
void HistogramView::describe() {
    QString name = title();
    if (bin_count() == 0) {
        name = tr("%1: nothing").arg(name);
    } else if (brush_) {
        name = tr("%1, %2: %3").arg(name, range_text(*brush_), amount_text(amount_in(*brush_)));
    } else {
        name = tr("%1, all: %2").arg(name, amount_text(amount_in({0, bin_count() - 1})));
    }
    setAccessibleName(name);
    setAccessibleDescription(tr("Arrows select a bin, Shift and arrows extend the range, Esc clears it"));
}

// --- Places -----------------------------------------------------------------------------------------------------

QRectF HistogramView::plot_rect() const {
    const int line = fontMetrics().height();
    return QRectF(rect()).adjusted(margin, line + margin, -margin, -line - margin / 2.0);
}

QRectF HistogramView::bin_rect(size_t bin) const {
    const QRectF plot = plot_rect();
    const auto count = static_cast<double>(bin_count());
    const double gap = has_never_freed() && bin_count() > 1 ? gap_before_never : 0;
    // "Never freed" needs room for its words.
    const double last =
        has_never_freed()
            ? std::max(48.0, fontMetrics().horizontalAdvance(bin_text(kind(), bins().back(), bins().back())) + 4.0)
            : 0;
    const double others = count - (has_never_freed() ? 1 : 0);
    const double width = others > 0 ? std::min(widest_bin, (plot.width() - gap - last) / others) : 0;
    const bool is_never = has_never_freed() && bin + 1 == bin_count();
    return {plot.left() + static_cast<double>(bin) * width + (is_never ? gap : 0), plot.top(), is_never ? last : width,
            plot.height()};
}

std::optional<size_t> HistogramView::bin_under(QPointF point) const {
    for (size_t bin = 0; bin < bin_count(); ++bin) {
        const QRectF place = bin_rect(bin);
        if (point.x() >= place.left() && point.x() < place.right()) {
            return bin;
        }
    }
    return std::nullopt;
}

size_t HistogramView::nearest_bin(double x) const {
    size_t bin = 0;
    while (bin + 1 < bin_count() && bin_rect(bin).right() <= x) {
        ++bin;
    }
    return bin;
}

// --- Painting ---------------------------------------------------------------------------------------------------

void HistogramView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme theme = Theme::current();
    painter.fillRect(rect(), theme.plot_background);
    if (bin_count() > 0) {
        paint_scale(painter);
        paint_bars(painter);
        paint_highest(painter);
        paint_labels(painter);
    }
    const QRectF head(margin, margin / 2.0, width() - 2 * margin, fontMetrics().height());
    const QString text = brush_ && bin_count() > 0
                             ? QStringLiteral("%1: %2").arg(range_text(*brush_), amount_text(amount_in(*brush_)))
                             : QString();
    painter.setPen(theme.text);
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.drawText(head, Qt::AlignLeft | Qt::AlignVCenter, title());
    const double taken = QFontMetrics(bold).horizontalAdvance(title()) + 12.0;
    painter.setFont(font());
    painter.drawText(head.adjusted(taken, 0, 0, 0), Qt::AlignRight | Qt::AlignVCenter,
                     fontMetrics().elidedText(text, Qt::ElideRight, static_cast<int>(head.width() - taken)));
    if (hasFocus()) {
        painter.setPen(QPen(theme.selection, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
    }
}

/// Returns the place of the scale's value: below its line, beside the bars that reach it. If all reach it, the place is
/// at the right, on a bar.
QRectF HistogramView::place_of_highest(const QString& text) const {
    const QRectF plot = plot_rect();
    QRectF place(plot.left(), plot.top() + 1, fontMetrics().horizontalAdvance(text) + 4, fontMetrics().height());
    const auto is_free = [&] {
        for (size_t bin = 0; bin < bin_count(); ++bin) {
            if (measured(whole_[bin]) > 0 && bar_rect(bin, whole_[bin]).intersects(place)) {
                return false;
            }
        }
        return true;
    };
    for (double left = plot.left(); left + place.width() <= plot.right(); left += 2) {
        place.moveLeft(left);
        if (is_free()) {
            return place;
        }
    }
    place.moveRight(plot.right());
    return place;
}

QRectF HistogramView::bar_rect(size_t bin, const HistogramAmount& amount) const {
    const QRectF place = bin_rect(bin);
    const double height =
        std::max(least_bar, place.height() * static_cast<double>(measured(amount)) / static_cast<double>(highest_));
    return {place.left() + 0.5, place.bottom() - height, std::max(1.0, place.width() - 1), height};
}

/// One line at the height of the highest bar, one at half of it.
void HistogramView::paint_scale(QPainter& painter) const {
    const QRectF plot = plot_rect();
    painter.setPen(Theme::current().grid);
    for (const double part : {0.5, 1.0}) {
        const double y = plot.bottom() - part * plot.height();
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    }
}

void HistogramView::paint_highest(QPainter& painter) const {
    const Theme theme = Theme::current();
    const QString text = measure_ == HistogramMeasure::bytes ? bytes_text(highest_) : count_text(highest_);
    const QRectF place = place_of_highest(text);
    painter.fillRect(place, theme.plot_background);
    painter.setPen(theme.faint_text);
    painter.drawText(place, Qt::AlignCenter, text);
}

void HistogramView::paint_bars(QPainter& painter) const {
    const Theme theme = Theme::current();
    const QColor strong = theme.active_line, pale = mixed(strong, theme.plot_background, paleness_outside);
    const auto bar = [&](size_t bin, const HistogramAmount& amount, const QColor& color) {
        if (measured(amount) > 0) {
            painter.fillRect(bar_rect(bin, amount), color);
        }
    };
    if (brush_) {
        const QRectF area = bin_rect(brush_->first).united(bin_rect(brush_->last));
        painter.fillRect(area, mixed(theme.selection, theme.plot_background, 0.85));
        painter.setPen(QPen(theme.selection, 1));
        painter.drawLine(area.topLeft(), area.bottomLeft());
        painter.drawLine(area.topRight(), area.bottomRight());
    }
    for (size_t bin = 0; bin < bin_count(); ++bin) {
        const bool is_inside = !brush_ || brush_->contains(bin);
        bar(bin, whole_[bin], part_.empty() && is_inside ? strong : pale);
        if (!part_.empty() && is_inside) {
            bar(bin, part_[bin], strong);
        }
    }
    painter.setPen(theme.faint_text);
    const QRectF plot = plot_rect();
    painter.drawLine(plot.bottomLeft(), plot.bottomRight());
}

/// Returns the bins whose begin is labeled: every n-th round value, so that the words do not touch.
std::vector<size_t> HistogramView::labeled_bins() const {
    std::vector<size_t> round;
    for (size_t bin = 0; bin < bin_count(); ++bin) {
        if (!bins()[bin].never_freed && is_round(kind(), bins()[bin].from)) {
            round.push_back(bin);
        }
    }
    const double end = has_never_freed() ? bin_rect(bin_count() - 1).left() : plot_rect().right();
    const auto fit = [&](size_t step) {
        double free_from = 0;
        for (size_t i = 0; i < round.size(); i += step) {
            const double left = bin_rect(round[i]).left();
            const double right = left + fontMetrics().horizontalAdvance(edge_text(kind(), bins()[round[i]].from));
            if (left < free_from || (right > end && i > 0)) {
                return false;
            }
            free_from = right + 8;
        }
        return true;
    };
    size_t step = 1;
    while (step < round.size() && !fit(step)) {
        ++step;
    }
    std::vector<size_t> labeled;
    for (size_t i = 0; i < round.size(); i += step) {
        labeled.push_back(round[i]);
    }
    return labeled;
}

void HistogramView::paint_labels(QPainter& painter) const {
    const Theme theme = Theme::current();
    const double top = plot_rect().bottom() + 1;
    const int line = fontMetrics().height();
    painter.setPen(theme.faint_text);
    for (const size_t bin : labeled_bins()) {
        const double left = bin_rect(bin).left();
        painter.drawLine(QPointF(left, top), QPointF(left, top + 3));
        painter.drawText(QRectF(left + 2, top, width(), line), Qt::AlignLeft | Qt::AlignVCenter,
                         edge_text(kind(), bins()[bin].from));
    }
    if (has_never_freed()) {
        const QRectF place = bin_rect(bin_count() - 1);
        painter.setPen(theme.text);
        painter.drawText(QRectF(place.left() - gap_before_never, top, place.width() + 2 * gap_before_never, line),
                         Qt::AlignHCenter | Qt::AlignVCenter, bin_text(kind(), bins().back(), bins().back()));
    }
}

// --- Brush ------------------------------------------------------------------------------------------------------

void HistogramView::drag_to(double x) {
    head_ = nearest_bin(x);
    emit brushed(BinRange{std::min(anchor_, head_), std::max(anchor_, head_)}, false);
}

void HistogramView::mousePressEvent(QMouseEvent* event) {
    const auto bin = bin_under(event->position());
    if (event->button() != Qt::LeftButton || bin_count() == 0) {
        return;
    }
    pressed_ = bin ? bin : std::optional(nearest_bin(event->position().x()));
    was_alone_ = brush_ && *brush_ == BinRange{*pressed_, *pressed_};
    if (!(event->modifiers() & Qt::ShiftModifier) || !brush_) {
        anchor_ = *pressed_;
    }
    drag_to(event->position().x());
}

void HistogramView::mouseMoveEvent(QMouseEvent* event) {
    if (pressed_) {
        drag_to(event->position().x());
        return;
    }
    const auto bin = bin_under(event->position());
    if (!bin) {
        leaveEvent(event);
        return;
    }
    if (tip_.isNull()) {
        tip_ = new HoverTip(this);
    }
    QString html = QStringLiteral("<b>%1</b><br>%2").arg(range_text({*bin, *bin}), amount_text(whole_[*bin]));
    if (!part_.empty()) {
        html += QStringLiteral("<br>") + tr("within the other range: %1").arg(amount_text(part_[*bin]));
    }
    tip_->show_at(this, event->position().toPoint(), html);
}

/// A click on the only brushed bin clears the brush.
void HistogramView::mouseReleaseEvent(QMouseEvent*) {
    if (const auto pressed = std::exchange(pressed_, std::nullopt)) {
        const bool clears = was_alone_ && head_ == *pressed && anchor_ == head_;
        emit brushed(
            clears ? std::nullopt : std::optional(BinRange{std::min(anchor_, head_), std::max(anchor_, head_)}), true);
    }
}

void HistogramView::leaveEvent(QEvent*) {
    if (tip_) {
        tip_->hide();
    }
}

void HistogramView::brush_to(size_t bin, bool extends) {
    head_ = bin;
    anchor_ = extends && brush_ ? anchor_ : head_;
    emit brushed(BinRange{std::min(anchor_, head_), std::max(anchor_, head_)}, true);
}

bool HistogramView::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        // The view handles these keys, so the shortcuts of the window must not take them.
        switch (static_cast<QKeyEvent*>(event)->key()) {
            case Qt::Key_Escape:
                if (!brush_) {
                    break;  // the window clears its selection
                }
                [[fallthrough]];
            case Qt::Key_Left:
            case Qt::Key_Right:
            case Qt::Key_Home:
            case Qt::Key_End: event->accept(); return true;
            default: break;
        }
    }
    return QWidget::event(event);
}

void HistogramView::keyPressEvent(QKeyEvent* event) {
    if (bin_count() == 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    const bool extends = (event->modifiers() & Qt::ShiftModifier) != 0;
    const size_t last = bin_count() - 1;
    switch (event->key()) {
        // The first key begins at its end of the axis.
        case Qt::Key_Left: brush_to(!brush_ ? last : head_ - std::min<size_t>(head_, 1), extends); break;
        case Qt::Key_Right: brush_to(!brush_ ? 0 : std::min(head_ + 1, last), extends); break;
        case Qt::Key_Home: brush_to(0, extends); break;
        case Qt::Key_End: brush_to(last, extends); break;
        case Qt::Key_Escape: emit brushed(std::nullopt, true); break;
        default: QWidget::keyPressEvent(event);
    }
}

void HistogramView::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void HistogramView::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

}  // namespace tidemark::gui
