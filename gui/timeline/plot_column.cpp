// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/plot_column.h"

#include <QEvent>
#include <algorithm>

#include "gui/timeline/allocations_plot.h"
#include "gui/timeline/finding_plot.h"
#include "gui/timeline/timeline_plot.h"

namespace tidemark::gui {

namespace {

constexpr int least_finding_plot = 72, least_allocations = 90;  // pixels
constexpr int room_of_timeline = 60;                            // pixels, beyond its least height, beside allocations
constexpr int part_of_finding = 4;                              // at least a quarter of the height

}  // namespace

PlotColumn::PlotColumn(const Plots& plots, QWidget* parent) : QSplitter(Qt::Vertical, parent), plots_(plots) {
    addWidget(plots_.timeline);
    addWidget(plots_.finding);
    addWidget(plots_.allocations);
    setStretchFactor(0, 3);
    setStretchFactor(1, 1);
    setStretchFactor(2, 2);
    setSizes({560, 200, 240});  // shares, which the first layout scales
    plots_.allocations->setMinimumHeight(least_allocations);
    setChildrenCollapsible(false);
    setHandleWidth(5);
    share_room();
}

int PlotColumn::least_height_without_allocations() const {
    const int finding = plots_.finding->isHidden() ? 0 : least_finding_plot + handleWidth();
    return plots_.timeline->minimumHeight() + finding;
}

QSize PlotColumn::minimumSizeHint() const {
    return {QSplitter::minimumSizeHint().width(), least_height_without_allocations()};
}

void PlotColumn::share_room() {
    // Once shown, they stay while they fit: the user may have clicked into them, and the key may need a further line.
    const int room = shows_allocations_ && isVisible() ? 0 : room_of_timeline;
    shows_allocations_ = height() >= least_height_without_allocations() + room + handleWidth() + least_allocations;
    plots_.finding->setMinimumHeight(std::max(least_finding_plot, height() / part_of_finding));
    const bool shows_finding = !plots_.finding->isHidden();
    plots_.allocations->setVisible(shows_allocations_);
    plots_.finding->set_time_labels(shows_finding && !shows_allocations_);
    plots_.timeline->set_time_labels(!shows_finding && !shows_allocations_);
}

void PlotColumn::resizeEvent(QResizeEvent* event) {
    share_room();
    QSplitter::resizeEvent(event);
}

bool PlotColumn::event(QEvent* event) {
    const bool result = QSplitter::event(event);
    if (event->type() == QEvent::LayoutRequest) {
        share_room();
    }
    return result;
}

}  // namespace tidemark::gui
