// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The bookmarks of the overview: ribbons at the bottom, where no flag is.
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/timeline/overview_plot.h"
#include "gui/widgets/text_block.h"

namespace tidemark::gui {

namespace {
constexpr double bookmark_width = 9, bookmark_height = 13;  // pixels
}  // namespace

void OverviewPlot::set_notes(NotesSource* notes) {
    if (notes_) {
        notes_->disconnect(this);
    }
    notes_ = notes;
    if (notes != nullptr) {
        connect(notes, &NotesSource::changed, this, qOverload<>(&QWidget::update));
    }
    update();
}

QRectF OverviewPlot::bookmark_box(const Note& note) const {
    const double x = std::round(pixel(session_->time_view().position_of(notes_->point_of(note))));
    return {x - bookmark_width / 2, area().bottom() - bookmark_height, bookmark_width, bookmark_height};
}

void OverviewPlot::paint_bookmarks(QPainter& painter) const {
    if (!has_data() || !notes_) {
        return;
    }
    const Theme theme = Theme::current();
    for (const Note& note : notes_->notes()) {
        if (note.is_bookmark() && notes_->is_shown(note)) {
            const QRectF box = bookmark_box(note);
            painter.setPen(QPen(theme.text, 1, Qt::DotLine));
            painter.drawLine(QPointF(box.center().x(), area().top()), QPointF(box.center().x(), box.top()));
            painter.setPen(QPen(theme.plot_background, 1));
            painter.setBrush(theme.text);
            painter.drawPolygon(QPolygonF({box.topLeft(), box.topRight(), box.bottomRight(),
                                           QPointF(box.center().x(), box.bottom() - 4), box.bottomLeft()}));
        }
    }
}

const Note* OverviewPlot::bookmark_at(QPoint point) const {
    if (!has_data() || !notes_) {
        return nullptr;
    }
    const auto& notes = notes_->notes();
    const auto found = std::find_if(notes.begin(), notes.end(), [&](const Note& note) {
        return note.is_bookmark() && notes_->is_shown(note) &&
               bookmark_box(note).adjusted(-2, -2, 2, 2).contains(point);
    });
    return found == notes.end() ? nullptr : &*found;
}

QString OverviewPlot::bookmark_tip(QPoint point) const {
    const Note* note = bookmark_at(point);
    return note == nullptr ? QString()
                           : QStringLiteral("<b>%1</b><br>%2")
                                 .arg(rich_text(to_qstring(note->title)), rich_text(lines_to_qstring(note->text)));
}

}  // namespace tidemark::gui
