// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/job/rank_curves.h"

#include <QEvent>
#include <algorithm>

#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/widgets/tickers.h"

namespace tidemark::gui {

namespace {

constexpr int columns = 1024;

/// Distinct colors and dashes: lines stay apart without color as well.
QPen pen_of(const Theme& theme, int index) {
    constexpr Qt::PenStyle styles[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
    const QColor colors[] = {theme.allocated_line, theme.reserved_line, theme.active_line, theme.requested_line};
    return QPen(colors[index % 4], 2, styles[index % 4]);
}

}  // namespace

RankCurves::RankCurves(QWidget* parent) : QCustomPlot(parent) {
    setAccessibleName(tr("Curves of the selected processes"));
    yAxis->setTicker(QSharedPointer<ByteTicker>::create());
    xAxis->setTicker(QSharedPointer<TimeTicker>::create());
    legend->setVisible(true);
    axisRect()->insetLayout()->setInsetAlignment(0, Qt::AlignTop | Qt::AlignLeft);
    setMinimumHeight(120);
    apply_theme();
}

void RankCurves::align(int left, int right) {
    axisRect()->setAutoMargins(QCP::msTop | QCP::msBottom);
    axisRect()->setMargins(QMargins(left, 0, right, 0));
    replot();
}

void RankCurves::show_curves(const JobRows& rows, const std::vector<size_t>& positions) {
    rows_ = rows;
    positions_ = positions;
    const Theme theme = Theme::current();
    clearGraphs();
    double highest = 1;
    const auto [from, to] = rows.empty() ? std::pair<int64_t, int64_t>{0, 0} : rows.span();
    const int64_t start = rows.empty() ? 0 : rows.explained().job.span().first;
    for (size_t i = 0; i < positions.size(); ++i) {
        const int row = rows.row_of(positions[i]);
        if (row < 0) {
            continue;
        }
        QVector<double> times, bytes;
        for (int column = 0; column < columns; ++column) {
            const int64_t time = from + (to - from) * column / columns;
            const auto value = rows.value_at(row, time);
            times << static_cast<double>(time - start);
            bytes << (value ? static_cast<double>(*value) : qQNaN());
            highest = std::max(highest, value ? static_cast<double>(*value) : 0.0);
        }
        QCPGraph* graph = addGraph();
        graph->setData(times, bytes, true);
        graph->setPen(pen_of(theme, static_cast<int>(i)));
        graph->setName(to_qstring(rows.name(row, reader_words())));
    }
    xAxis->setRange(static_cast<double>(from - start), static_cast<double>(std::max(to - start, from - start + 1)));
    constexpr double headroom = 1.05;
    yAxis->setRange(0, highest * headroom);
    replot();
}

void RankCurves::apply_theme() {
    const Theme theme = Theme::current();
    setBackground(theme.background);
    axisRect()->setBackground(theme.plot_background);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setBasePen(QPen(theme.grid));
        axis->setTickPen(QPen(theme.grid));
        axis->setSubTickPen(QPen(theme.grid));
        axis->setTickLabelColor(theme.text);
        axis->setTickLabelFont(font());
        axis->grid()->setPen(QPen(theme.grid, 1, Qt::DotLine));
    }
    QColor panel = theme.background;
    panel.setAlpha(220);
    legend->setBrush(panel);
    legend->setBorderPen(QPen(theme.grid));
    legend->setTextColor(theme.text);
    legend->setFont(font());
}

void RankCurves::changeEvent(QEvent* event) {
    QCustomPlot::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        apply_theme();
        show_curves(rows_, positions_);
    }
}

}  // namespace tidemark::gui
