// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_view.h"

#include <QEvent>
#include <algorithm>
#include <cmath>

namespace tidemark::gui {

namespace {
constexpr double greatest_scale = 3;
constexpr double least_of_path = 0.5;  // smallest scale at which a box has room for its title
constexpr double readable = 0.8;       // smallest scale at which a new drawing is shown
}  // namespace

GraphView::GraphView(QWidget* parent) : QWidget(parent), painter_(font(), Theme::current()) {
    setObjectName(QStringLiteral("graph_view"));
    setAccessibleName(tr("Drawing of the autograd graph"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(260, 120);
}

BoxMetrics GraphView::metrics() const {
    const QFontMetricsF font_metrics(font());
    return {font_metrics.height(), font_metrics.averageCharWidth() * 29};
}

void GraphView::set_session(Session* session) {
    if (session_) {
        session_->selection().disconnect(this);
    }
    session_ = session;
    set_picture(nullptr, false);
    if (session_) {
        connect(&session_->selection(), &Selection::selected_changed, this, &GraphView::update_marks);
    }
}

void GraphView::set_picture(std::shared_ptr<const GraphPicture> picture, bool keep_place) {
    const uint64_t focus = picture_ && focused_ >= 0 ? box(focused_).key : 0;
    picture_ = std::move(picture);
    painter_.set_picture(picture_);
    hovered_ = -1;
    focused_ = picture_ ? scene().find(focus) : -1;
    if (picture_ && keep_place && anchor_) {
        if (const int b = scene().find(anchor_->first); b >= 0) {
            place_.offset = anchor_->second - box(b).rect.topLeft() * place_.scale;
        }
    } else if (picture_ && (!keep_place || fitted_)) {
        fit();
    }
    anchor_.reset();
    show_found(found_nodes_);
    update_marks();
}

void GraphView::set_colors(GraphColors by) {
    painter_.set_colors(by);
    update();
}

void GraphView::show_found(const std::vector<NodeIndex>& nodes) {
    const bool same = nodes == found_nodes_;
    found_nodes_ = nodes;
    found_ = picture_ ? boxes_with(*picture_, nodes) : std::vector<int>();
    if (!found_.empty() && !same) {
        reveal(found_.front());
    }
    update();
}

void GraphView::update_marks() {
    marks_ = {};
    if (picture_ && session_ &&
        picture_->graph == session_->graph()) {  // otherwise node numbers refer to another graph
        const SelectionState& state = session_->selection().state();
        const CategoryLookup lookup = session_->categories();
        marks_ = mark_selection(*picture_, state.node,
                                lookup.knows(state.allocation) ? lookup.ref(state.allocation) : AllocationRef());
    }
    update();
}

// ---- place ------------------------------------------------------------------------------------------------------

QRectF GraphView::drawing_area() const { return QRectF(rect()).adjusted(0, 0, 0, -painter_.legend_height(size())); }

GraphPlace GraphView::fitted(QSizeF area) const {
    const QSizeF size = scene().size;
    const double fits_width = (area.width() - 2 * margin) / std::max(size.width(), 1.0);
    const double fits_height = (area.height() - 2 * margin) / std::max(size.height(), 1.0);
    GraphPlace place;
    place.scale = std::clamp(std::min(fits_width, std::max(fits_height, readable)), 0.03, 1.0);
    if (!shows_whole_width_) {
        place.scale = std::max(place.scale, std::min(fits_height, std::min(readable, 1.0)));
    }
    const QSizeF shown = size * place.scale;
    place.offset = QPointF((area.width() - shown.width()) / 2,
                           shown.height() <= area.height() ? (area.height() - shown.height()) / 2 : margin);
    return place;
}

void GraphView::fit() {
    if (picture_) {
        place_ = fitted(drawing_area().size());
        fitted_ = true;
        shows_marks_ = false;
        update();
    }
}

void GraphView::zoom_by(double factor) { zoom_at(factor, drawing_area().center()); }

/// Returns the scale at which the whole drawing fills half of the view: a smaller one shows nothing more.
double GraphView::least_scale() const {
    const QSizeF area = drawing_area().size(), size = picture_ ? scene().size : QSizeF(1, 1);
    return std::min(
        {area.width() / std::max(size.width(), 1.0) / 2, area.height() / std::max(size.height(), 1.0) / 2, readable});
}

void GraphView::zoom_at(double factor, QPointF point) {
    const QPointF fixed = place_.to_scene(point);
    place_.scale = std::clamp(place_.scale * factor, least_scale(), greatest_scale);
    place_.offset = point - fixed * place_.scale;
    fitted_ = shows_marks_ = false;
    update();
}

void GraphView::reveal(int b) {
    const QRectF area = drawing_area().adjusted(margin, margin, -margin, -margin);
    const QRectF rect = place_.to_screen(box(b).rect);
    const auto shift = [](double low, double high, double from, double to) {
        return low < from ? from - low : high > to ? std::max(to - high, from - low) : 0;
    };
    const QPointF by(shift(rect.left(), rect.right(), area.left(), area.right()),
                     shift(rect.top(), rect.bottom(), area.top(), area.bottom()));
    fitted_ = fitted_ && by.isNull();
    shows_marks_ = shows_marks_ && by.isNull();
    place_.offset += by;
    update();
}

void GraphView::reveal_marks() {
    QRectF all;
    int end = -1;
    for (int b = 0; b < static_cast<int>(marks_.boxes.size()); ++b) {
        if (const uint8_t mark = marks_.boxes[static_cast<size_t>(b)]; mark != 0) {
            all |= box(b).rect;
            end = end < 0 || (mark & ~GraphMarks::on_path) != 0 ? b : end;
        }
    }
    if (end < 0) {
        return;
    }
    const QRectF area = drawing_area().adjusted(2 * margin, margin, -2 * margin, -2 * margin);
    const bool grown = shows_marks_ && place_.scale < readable;  // there may be room for larger boxes again
    if (grown || !area.contains(place_.to_screen(all))) {
        const double fits = std::min(area.width() / all.width(), area.height() / all.height());
        place_.scale = std::clamp(fits, least_of_path, 1.0);
        place_.offset = area.center() - all.center() * place_.scale;
        fitted_ = shows_marks_ = false;
        reveal(end);
    }
    shows_marks_ = true;
    update();
}

/// Shows the content of a frame that is drawn as one box.
void GraphView::zoom_into(int b) {
    const QRectF area = drawing_area(), rect = box(b).rect;
    place_.scale = std::clamp(area.width() / (rect.width() + 2 * margin), readable, 1.0);
    place_.offset =
        QPointF(area.center().x() - rect.center().x() * place_.scale, area.top() + margin - rect.top() * place_.scale);
    fitted_ = shows_marks_ = false;
    update();
}

// ---- painting ---------------------------------------------------------------------------------------------------

GraphPainter::Look GraphView::look(const GraphPlace& place, const QRectF& area) const {
    return {place, area, &marks_, hovered_, hasFocus() ? focused_ : -1, &found_};
}

void GraphView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme theme = Theme::current();
    painter.fillRect(rect(), theme.plot_background);
    if (!picture_) {
        return;
    }
    painter.save();
    painter.setClipRect(drawing_area());
    painter_.paint(painter, look(place_, drawing_area()));
    painter.restore();
    painter_.paint_legend(painter, size());
}

void GraphView::resizeEvent(QResizeEvent*) {
    if (fitted_) {
        fit();
    } else if (shows_marks_) {
        reveal_marks();
    }
}

void GraphView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        const GraphColors colors = painter_.colors();
        painter_ = GraphPainter(font(), Theme::current());
        painter_.set_colors(colors);
        painter_.set_picture(picture_);
        update();
    }
}

}  // namespace tidemark::gui
