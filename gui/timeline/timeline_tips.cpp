// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the timeline says about the place of the pointer, and what a click there selects.
#include <algorithm>
#include <numeric>
#include <ranges>

#include "gui/model/component_text.h"
#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "gui/timeline/timeline_plot.h"

namespace tidemark::gui {

QString TimelinePlot::describe_ends(std::pair<double, double> range) const {
    const TimeView& view = session()->time_view();
    const auto allocated = [&](double at) {
        return bytes_text(session()->analysis().curves().value(Series::allocated, view.point_at(at)));
    };
    return tr("%1 · allocated %2 → %3")
        .arg(duration_text(view.time_at(range.second) - view.time_at(range.first)), allocated(range.first),
             allocated(range.second));
}

QString TimelinePlot::describe_annotations(double position) const {
    QStringList names;
    for (const Annotation* a : annotations_.at(session()->time_view().time_at(position))) {
        names << annotation_name(*a).toHtmlEscaped();
    }
    return names.join(QStringLiteral(" › "));
}

QString TimelinePlot::describe_groups(size_t column) const {
    constexpr size_t most = 6;
    const Groups& groups = *picture_.request.groups;
    const auto count = static_cast<size_t>(groups.count());
    const int64_t* bytes = &picture_.stacked[column * count];
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
    QString html = QStringLiteral("<table cellspacing=0>");
    for (size_t i = 0; i < std::min(most, count) && bytes[order[i]] > 0; ++i) {
        const auto g = static_cast<int>(order[i]);
        html += QStringLiteral("<tr><td>%1%2&nbsp;&nbsp;</td><td align=right>%3</td></tr>")
                    .arg(swatch(color_of_group(theme(), groups, g)),
                         to_qstring(groups.grouping.names[order[i]]).toHtmlEscaped(), bytes_text(bytes[order[i]]));
    }
    return html + QStringLiteral("</table>");
}

/// Describes the memory above the groups, from nvidia-smi's figure inwards.
QString TimelinePlot::describe_process(const ProcessMemory& memory) const {
    QString html;
    const auto line = [&](const QString& mark, const QString& name, int64_t bytes) {
        html += QStringLiteral("<tr><td>%1%2&nbsp;&nbsp;</td><td align=right>%3</td></tr>")
                    .arg(mark, name.toHtmlEscaped(), bytes_text(bytes));
    };
    if (memory.figure) {
        line({}, figure_name(), *memory.figure);
    }
    for (const Component& component : std::views::reverse(memory.outside)) {
        line(swatch(bands_.color(component)), component_name(component), component.bytes);
    }
    return QStringLiteral("<table cellspacing=0>%1</table>").arg(html);
}

QString TimelinePlot::describe(QPoint point) {
    const QRect strip(area().left(), 0, area().width(), area().top());
    const double position = position_at(point.x());
    if (strip.contains(point)) {
        return describe_annotations(position);
    }
    const auto column = column_at(picture_, position);
    if (!area().contains(point) || !column) {
        return {};
    }
    const QString open = describe_annotations(position);
    const ProcessMemory* memory = bands_.at(position);
    const QString process = memory != nullptr ? describe_process(*memory) : QString();
    return (open.isEmpty() ? QString() : open + QStringLiteral("<br>")) +
           describe_column(point, (*picture_.columns)[*column]) + describe_groups(*column) + process;
}

void TimelinePlot::clicked(QPoint point) {
    const auto column = column_at(picture_, position_at(point.x()));
    if (column && area().contains(point)) {
        // The time the column shows, not the one a fraction of a pixel away.
        session()->selection().set_time_point(point_under(point, (*picture_.columns)[*column]));
    } else {
        set_time_point_at(point);
    }
}

}  // namespace tidemark::gui
