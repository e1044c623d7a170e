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
constexpr double headroom = 1.05;
constexpr QMargins legend_margins{8, 8, 8, 8}, least_margins{0, 6, 0, 4};

QPen pen_of(const Theme& theme, int number) {
    const QColor colors[] = {theme.allocated_line, theme.reserved_line, theme.active_line, theme.requested_line};
    return QPen(colors[number % 4], 2);
}

/// Lines in one strip stay apart without color as well.
Qt::PenStyle dashes_of(int number) {
    constexpr Qt::PenStyle styles[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
    return styles[number % 4];
}

void style_axis(QCPAxis* axis, const Theme& theme, const QFont& font) {
    axis->setBasePen(QPen(theme.grid));
    axis->setTickPen(QPen(theme.grid));
    axis->setSubTickPen(QPen(theme.grid));
    axis->setTickLabelColor(theme.text);
    axis->setTickLabelFont(font);
    axis->grid()->setPen(QPen(theme.grid, 1, Qt::DotLine));
}

QCPLegend* add_legend(QCPAxisRect* strip, const Theme& theme, const QFont& font) {
    auto* legend = new QCPLegend;
    strip->insetLayout()->setMargins(legend_margins);
    strip->insetLayout()->addElement(legend, Qt::AlignTop | Qt::AlignLeft);
    legend->setLayer(QStringLiteral("legend"));
    QColor panel = theme.background;
    constexpr int opacity = 220;
    panel.setAlpha(opacity);
    legend->setBrush(panel);
    legend->setBorderPen(QPen(theme.grid));
    legend->setTextColor(theme.text);
    legend->setFont(font);
    return legend;
}

}  // namespace

RankCurves::RankCurves(QWidget* parent) : QCustomPlot(parent) {
    setAccessibleName(tr("Curves of the selected processes"));
    setAutoAddPlottableToLegend(false);
    plotLayout()->setRowSpacing(0);
    setMinimumHeight(120);
    draw_curves();
}

void RankCurves::align(int left, int right) {
    left_ = left;
    right_ = right;
    for (QCPAxisRect* strip : axisRects()) {
        strip->setMargins(QMargins(left_, 0, right_, 0));
    }
    replot(QCustomPlot::rpQueuedReplot);
}

void RankCurves::show_curves(const JobRows& rows, const std::vector<size_t>& positions) {
    rows_ = rows;
    positions_ = positions;
    draw_curves();
}

void RankCurves::set_apart(bool apart) {
    apart_ = apart;
    draw_curves();
}

void RankCurves::draw_curves() {
    clearGraphs();
    plotLayout()->clear();
    setBackground(Theme::current().background);
    QCPAxisRect* strip = add_strip();
    int number = 0;
    for (const size_t position : positions_) {
        if (const int row = rows_.row_of(position); row >= 0) {
            strip = apart_ && number > 0 ? add_strip() : strip;
            add_curve(strip, number++, row);
        }
    }
    plotLayout()->simplify();
    double highest = 1;
    for (int i = 0; i < graphCount(); ++i) {
        bool found = false;
        highest = std::max(highest, graph(i)->getValueRange(found).upper);
    }
    const auto [from, to] = rows_.empty() ? std::pair<int64_t, int64_t>{0, 0} : rows_.span();
    const int64_t start = rows_.empty() ? 0 : rows_.explained().job.span().first;
    for (QCPAxisRect* each : axisRects()) {
        each->axis(QCPAxis::atBottom)
            ->setRange(static_cast<double>(from - start), static_cast<double>(std::max(to - start, from - start + 1)));
        each->axis(QCPAxis::atBottom)->setTickLabels(each == strip);  // the last one
        each->axis(QCPAxis::atLeft)->setRange(0, highest * headroom);
    }
    replot(QCustomPlot::rpQueuedReplot);  // new rows also move the axis
}

QCPAxisRect* RankCurves::add_strip() {
    const Theme theme = Theme::current();
    auto* strip = new QCPAxisRect(this);
    strip->setBackground(theme.plot_background);
    strip->setAutoMargins(QCP::msTop | QCP::msBottom);
    strip->setMinimumMargins(least_margins);
    strip->setMargins(QMargins(left_, 0, right_, 0));
    strip->axis(QCPAxis::atLeft)->setTicker(QSharedPointer<ByteTicker>::create());
    strip->axis(QCPAxis::atBottom)->setTicker(QSharedPointer<TimeTicker>::create());
    for (QCPAxis* axis : strip->axes()) {
        style_axis(axis, theme, font());
    }
    add_legend(strip, theme, font());
    plotLayout()->addElement(plotLayout()->rowCount(), 0, strip);
    return strip;
}

void RankCurves::add_curve(QCPAxisRect* strip, int number, int row) {
    const auto [from, to] = rows_.span();
    const int64_t start = rows_.explained().job.span().first;
    QVector<double> times, bytes;
    for (int column = 0; column < columns; ++column) {
        const int64_t time = from + (to - from) * column / columns;
        const auto value = rows_.value_at(row, time);
        times << static_cast<double>(time - start);
        bytes << (value ? static_cast<double>(*value) : qQNaN());
    }
    QCPGraph* curve = addGraph(strip->axis(QCPAxis::atBottom), strip->axis(QCPAxis::atLeft));
    curve->setData(times, bytes, true);
    QPen pen = pen_of(Theme::current(), number);
    pen.setStyle(apart_ ? Qt::SolidLine : dashes_of(number));
    curve->setPen(pen);
    curve->setName(to_qstring(rows_.name(row, reader_words())));
    curve->addToLegend(static_cast<QCPLegend*>(strip->insetLayout()->elementAt(0)));
}

void RankCurves::changeEvent(QEvent* event) {
    QCustomPlot::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        draw_curves();
    }
}

}  // namespace tidemark::gui
