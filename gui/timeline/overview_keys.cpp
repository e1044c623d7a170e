// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The keys of the overview: the arrows go from flag to flag and to the bookmarks, in the order of time.
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>

#include "gui/model/palette.h"
#include "gui/timeline/overview_plot.h"
#include "gui/widgets/hover_tip.h"

namespace tidemark::gui {

std::vector<OverviewPlot::Stop> OverviewPlot::stops() const {
    std::vector<Stop> all;
    if (!has_data()) {
        return all;
    }
    const std::vector<QRectF> boxes = flag_boxes();
    for (size_t i = 0; i < flags_.size(); ++i) {
        all.push_back({boxes[i], &flags_[i], nullptr});
    }
    if (notes_) {
        for (const Note& note : notes_->notes()) {
            if (note.is_bookmark() && notes_->is_shown(note)) {
                all.push_back({bookmark_box(note), nullptr, &note});
            }
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Stop& a, const Stop& b) { return a.box.left() < b.box.left(); });
    return all;
}

void OverviewPlot::go_to_stop(int step) {
    const std::vector<Stop> all = stops();
    const int last = static_cast<int>(all.size()) - 1;
    // The first key begins at its end of the axis.
    stop_ = stop_ < 0 ? (step > 0 ? 0 : last) : std::clamp(stop_ + step, 0, last);
    show_tip(all[static_cast<size_t>(stop_)].box.center().toPoint());
    update();
}

void OverviewPlot::open_stop() {
    const std::vector<Stop> all = stops();
    if (stop_ < 0 || stop_ >= static_cast<int>(all.size())) {
        return;
    }
    const Stop stop = all[static_cast<size_t>(stop_)];
    if (stop.flag != nullptr) {
        emit finding_selected(stop.flag->finding);
    } else {
        notes_->go_to(*stop.note);
    }
}

void OverviewPlot::leave_stop() {
    stop_ = -1;
    if (tip_ != nullptr) {
        tip_->hide();
    }
    update();
}

void OverviewPlot::paint_stop(QPainter& painter) const {
    const std::vector<Stop> all = hasFocus() ? stops() : std::vector<Stop>();
    if (stop_ >= 0 && stop_ < static_cast<int>(all.size())) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(Theme::current().focus, 2));
        painter.drawRect(all[static_cast<size_t>(stop_)].box.adjusted(-1, -1, 1, 1));
    }
}

bool OverviewPlot::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        // The overview handles these keys, so the shortcuts of the window must not take them.
        switch (static_cast<QKeyEvent*>(event)->key()) {
            case Qt::Key_Left:
            case Qt::Key_Right:
                if (stops().empty()) {
                    break;  // the window pans
                }
                event->accept();
                return true;
            case Qt::Key_Escape:
                if (stop_ < 0) {
                    break;  // the window clears its selection
                }
                event->accept();
                return true;
            default: break;
        }
    }
    return QWidget::event(event);
}

void OverviewPlot::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
            if (!stops().empty()) {
                go_to_stop(event->key() == Qt::Key_Right ? 1 : -1);
            }
            break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
        case Qt::Key_Space: open_stop(); break;
        case Qt::Key_Escape: leave_stop(); break;
        default: QWidget::keyPressEvent(event);
    }
}

void OverviewPlot::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    leave_stop();
}

}  // namespace tidemark::gui
