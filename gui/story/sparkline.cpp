// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/story/sparkline.h"

#include <QPainter>
#include <algorithm>
#include <utility>

#include "gui/model/text.h"
#include "gui/widgets/curve_line.h"
#include "gui/widgets/severity_mark.h"

namespace tidemark::gui {

Sparkline::Sparkline(Severity severity, QWidget* parent) : QWidget(parent), severity_(severity) {
    setFixedSize(columns, fontMetrics().height());
    setAttribute(Qt::WA_TransparentForMouseEvents);
}

void Sparkline::show_columns(std::vector<FindingCurve::Column> columns) {
    columns_ = std::move(columns);
    update();
}

void Sparkline::paintEvent(QPaintEvent*) {
    int64_t highest = 0;
    for (const FindingCurve::Column& column : columns_) {
        highest = std::max(highest, column.highest);
    }
    if (highest == 0) {
        return;
    }
    QPainter painter(this);
    const Theme theme = Theme::current();
    const double bottom = height() - 1;
    const AxisMap y{0, static_cast<double>(highest), bottom, 2};
    paint_curve(painter, columns_, 0, bottom, y, severity_color(theme, severity_), theme.dark, 1);
}

}  // namespace tidemark::gui
