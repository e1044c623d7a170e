// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/job/heat_map.h"

#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "gui/model/text.h"
#include "gui/widgets/severity_mark.h"
#include "storage/text/color_key.h"

namespace tidemark::gui {

namespace {

constexpr int least_row_height = 4, most_row_height = 44, margin = 8, mark_size = 12;
constexpr int most_marks = 2;  // such as those of an out-of-memory error and of the leak that led to it
constexpr int marks_width = most_marks * (mark_size + 2);

int text_height(const QWidget& widget) { return widget.fontMetrics().height(); }

QColor heat_color(const Theme& theme, double value) {
    const KeyColor key = heat_key(value);
    return QColor::fromRgb(theme.dark ? key.dark : key.light);
}

}  // namespace

HeatMap::HeatMap(QWidget* parent) : QAbstractScrollArea(parent), tip_(this) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Memory of all processes over time"));
    viewport()->setMouseTracking(true);
    setMinimumSize(320, 120);
}

void HeatMap::show_rows(const JobRows& rows) {
    rows_ = rows;
    arrange();
    viewport()->update();
}

void HeatMap::select(const std::vector<size_t>& positions) {
    std::vector<size_t> some;
    for (const size_t position : positions) {
        if (rows_.row_of(position) >= 0 && some.size() < most_selected) {
            some.push_back(position);
        }
    }
    if (some != selected_) {
        selected_ = some;
        viewport()->update();
        emit selection_changed(selected_);
    }
}

void HeatMap::arrange() {
    names_width_ = peaks_width_ = 0;
    for (int row = 0; row < rows_.size(); ++row) {
        names_width_ = std::max(names_width_, fontMetrics().horizontalAdvance(name(row)));
        peaks_width_ = std::max(peaks_width_, fontMetrics().horizontalAdvance(peak(row)));
    }
    names_width_ = std::min(names_width_ + peaks_width_ + 3 * margin + marks_width + 2, viewport()->width() / 3);
    const int room = plot().height();
    row_height_ = rows_.empty() ? 0 : std::clamp(room / rows_.size(), least_row_height, most_row_height);
    verticalScrollBar()->setRange(0, std::max(0, rows_.size() * row_height_ - room));
    verticalScrollBar()->setPageStep(room);
    verticalScrollBar()->setSingleStep(std::max(1, row_height_));
    paint_cells();
    emit arranged();
}

int HeatMap::height_for_rows() const {
    const int around = height() - plot().height();
    return around + std::max(rows_.size(), 2) * most_row_height;
}

QRect HeatMap::plot() const {
    const int below = 2 * text_height(*this) + 3 * margin;
    return QRect(names_width_, margin, std::max(1, viewport()->width() - names_width_ - margin),
                 std::max(1, viewport()->height() - margin - below));
}

void HeatMap::paint_cells() {
    const Theme theme = Theme::current();
    const int width = plot().width();
    cells_ = QImage(width, std::max(1, rows_.size()), QImage::Format_RGB32);
    cells_.fill(theme.background);
    for (int row = 0; row < rows_.size(); ++row) {
        const auto highest = static_cast<double>(rows_.highest(row));
        auto* line = reinterpret_cast<QRgb*>(cells_.scanLine(row));
        for (int x = 0; x < width; ++x) {
            if (const auto bytes = rows_.value_at(row, time_at(names_width_ + x))) {
                line[x] = heat_color(theme, static_cast<double>(*bytes) / highest).rgb();
            }
        }
    }
}

QString HeatMap::name(int row) const { return to_qstring(rows_.name(row, reader_words())); }

QString HeatMap::peak(int row) const { return tr("peak %1").arg(bytes_text(rows_.peak(row))); }

int HeatMap::row_top(int row) const { return plot().top() + row * row_height_ - verticalScrollBar()->value(); }

int HeatMap::row_at(QPoint point) const {
    const QRect area = plot();
    if (row_height_ == 0 || point.y() < area.top() || point.y() > area.bottom()) {
        return -1;
    }
    const int row = (point.y() - area.top() + verticalScrollBar()->value()) / row_height_;
    return row < rows_.size() ? row : -1;
}

int64_t HeatMap::time_at(int x) const {
    const auto [from, to] = rows_.span();
    const double part = (x - names_width_ + 0.5) / plot().width();
    return from + static_cast<int64_t>(part * static_cast<double>(to - from));
}

void HeatMap::paintEvent(QPaintEvent*) {
    const Theme theme = Theme::current();
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), theme.background);
    if (rows_.empty()) {
        painter.setPen(theme.faint_text);
        painter.drawText(viewport()->rect(), Qt::AlignCenter, tr("No process of this job has used a GPU."));
        return;
    }
    painter.save();
    painter.setClipRect(QRect(0, plot().top(), viewport()->width(), plot().height()));
    const QRect cells(plot().left(), row_top(0), plot().width(), rows_.size() * row_height_);
    painter.drawImage(cells, cells_);
    if (row_height_ > 2 * least_row_height) {  // rows apart from each other
        painter.setPen(theme.background);
        for (int row = 1; row < rows_.size(); ++row) {
            painter.drawLine(cells.left(), row_top(row), cells.right(), row_top(row));
        }
    }
    paint_names(painter, theme);
    paint_selection(painter, theme);
    painter.restore();
    paint_axis(painter, theme);
    paint_key(painter, theme);
}

/// Leaves out names where rows are lower than text.
void HeatMap::paint_names(QPainter& painter, const Theme& theme) const {
    const int every = std::max(1, (text_height(*this) + row_height_ - 1) / row_height_);
    for (int row = 0; row < rows_.size(); ++row) {
        const QRect box(0, row_top(row), names_width_ - margin / 2, row_height_);
        if (row % every == 0) {
            const QRect room = box.adjusted(margin, 0, -marks_width - 2, 0);
            const QRect text(room.left(), room.center().y() - text_height(*this) / 2, room.width(), text_height(*this));
            painter.setPen(theme.text);
            painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft,
                             fontMetrics().elidedText(name(row), Qt::ElideRight, text.width() - peaks_width_ - margin));
            painter.setPen(theme.faint_text);
            painter.drawText(text, Qt::AlignVCenter | Qt::AlignRight, peak(row));
        }
        paint_marks(painter, theme, rows_.severities(row), box);
    }
}

/// Paints the most serious at the right, beside the cells.
void HeatMap::paint_marks(QPainter& painter, const Theme& theme, const std::vector<Severity>& severities,
                          const QRect& box) const {
    const double size = std::min<double>(mark_size, std::max(row_height_, 6));
    int left = box.right() - mark_size;
    for (size_t i = 0; i < std::min<size_t>(severities.size(), most_marks); ++i, left -= mark_size + 2) {
        if (severities[i] != Severity::background) {
            paint_severity(painter, QRectF(left, box.center().y() - size / 2, size, size), theme, severities[i]);
        }
    }
}

void HeatMap::paint_selection(QPainter& painter, const Theme& theme) const {
    painter.setPen(QPen(theme.focus, 2));
    painter.setBrush(Qt::NoBrush);
    for (const size_t position : selected_) {
        const int row = rows_.row_of(position);
        painter.drawRect(QRect(plot().left(), row_top(row), plot().width() - 1, std::max(3, row_height_ - 1)));
    }
}

void HeatMap::paint_axis(QPainter& painter, const Theme& theme) const {
    const auto [from, to] = rows_.span();
    const QRect line(plot().left(), plot().bottom() + 4, plot().width(), text_height(*this));
    // Chinese words are higher than the font says.
    constexpr int flags = Qt::AlignVCenter | Qt::TextDontClip;
    painter.setPen(theme.faint_text);
    painter.drawText(line, flags | Qt::AlignLeft, time_text(from));
    painter.drawText(line, flags | Qt::AlignRight, time_text(to));
}

QString HeatMap::time_text(int64_t time) const {
    const int64_t since = time - rows_.explained().job.span().first;
    return since == 0 ? tr("start of the job") : tr("%1 after the start").arg(duration_text(since));
}

/// The key of the colors: a scale from nothing to the highest value.
void HeatMap::paint_key(QPainter& painter, const Theme& theme) const {
    const int height = text_height(*this), top = plot().bottom() + margin + height;
    const QString what = rows_.value() == JobValue::used ? tr("0 % of the GPU") : QStringLiteral("0");
    const QString most =
        rows_.value() == JobValue::used ? tr("100 %: no memory is left") : bytes_text(rows_.highest(0));
    constexpr int scale_width = 160;
    int x = plot().left();
    painter.setPen(theme.text);
    const auto write = [&](const QString& text) {
        painter.drawText(QPoint(x, top + fontMetrics().ascent()), text);
        x += fontMetrics().horizontalAdvance(text) + margin;
    };
    write(what);
    for (int i = 0; i < scale_width; ++i) {
        painter.fillRect(x + i, top + 2, 1, height - 4, heat_color(theme, static_cast<double>(i) / scale_width));
    }
    x += scale_width + margin;
    write(most);
    const QString keys = tr("Ctrl+click: up to four curves");
    if (x + fontMetrics().horizontalAdvance(keys) <= plot().right()) {
        painter.setPen(theme.faint_text);
        painter.drawText(QRect(x, top, plot().right() + 1 - x, height),
                         Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip, keys);
    }
}

QString HeatMap::tip(int row, int64_t time) const {
    const JobMember& member = rows_.member(row);
    const DeviceSummary& device = *member.device();
    QString text = QStringLiteral("<b>%1</b>").arg(name(row).toHtmlEscaped());
    if (!member.summary->place.node.empty()) {
        text += QStringLiteral(" · ") + to_qstring(member.summary->place.node).toHtmlEscaped();
    }
    if (const auto bytes = rows_.value_at(row, time)) {
        const QString value =
            rows_.value() == JobValue::allocated ? tr("allocated: %1").arg(bytes_text(*bytes))
            : rows_.value() == JobValue::reserved
                ? tr("reserved: %1").arg(bytes_text(*bytes))
                : tr("used of the GPU: %1 of %2").arg(bytes_text(*bytes), bytes_text(device.total_bytes));
        text += QStringLiteral("<br>%1 · %2").arg(duration_text(time - rows_.explained().job.span().first), value);
    }
    text += QStringLiteral("<br>") +
            tr("peak: %1 · at the end: %2").arg(bytes_text(device.peak_allocated), bytes_text(device.allocated_at_end));
    for (const JobFinding& finding : rows_.explained().explanation.findings) {
        if (std::find(finding.members.begin(), finding.members.end(), rows_.position(row)) != finding.members.end()) {
            text += QStringLiteral("<br>• ") + to_qstring(finding.title).toHtmlEscaped();
        }
    }
    return with_whole_units(text);
}

void HeatMap::choose(int row, bool add) {
    if (row < 0) {
        return;
    }
    std::vector<size_t> positions = add ? selected_ : std::vector<size_t>();
    const size_t position = rows_.position(row);
    const auto found = std::find(positions.begin(), positions.end(), position);
    if (found != positions.end()) {
        positions.erase(found);
    } else {
        positions.push_back(position);
    }
    if (positions.size() > most_selected) {
        positions.erase(positions.begin());  // the one selected first
    }
    select(positions);
}

void HeatMap::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    arrange();
}

void HeatMap::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        arrange();
        viewport()->update();
    }
}

void HeatMap::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) {
        choose(row_at(event->pos()), (event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier)) != 0);
    }
}

void HeatMap::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const int row = row_at(event->pos()); row >= 0) {
        tip_.hide();
        emit open_requested(rows_.position(row));
    }
}

void HeatMap::mouseMoveEvent(QMouseEvent* event) {
    const int row = row_at(event->pos());
    if (row < 0) {
        tip_.hide();
        return;
    }
    tip_.show_at(viewport(), event->pos(), tip(row, time_at(std::max(event->pos().x(), names_width_))));
}

bool HeatMap::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave) {
        tip_.hide();
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void HeatMap::keyPressEvent(QKeyEvent* event) {
    const int current = selected_.empty() ? -1 : rows_.row_of(selected_.back());
    const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
    if (step != 0 && !rows_.empty()) {
        const int next = std::clamp(current + step, 0, rows_.size() - 1);
        select({rows_.position(next)});
        const int top = row_top(next) - plot().top(), bottom = top + row_height_ - plot().height();
        verticalScrollBar()->setValue(verticalScrollBar()->value() + std::min(top, 0) + std::max(bottom, 0));
    } else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && current >= 0) {
        emit open_requested(rows_.position(current));
    } else {
        QAbstractScrollArea::keyPressEvent(event);
    }
}

}  // namespace tidemark::gui
