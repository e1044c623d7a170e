// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/component_columns.h"

#include <QBrush>
#include <algorithm>

#include "gui/model/lazy_breakdown.h"
#include "gui/widgets/column_canvas.h"
#include "storage/base/in_halves.h"
#include "storage/base/saturated.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

namespace {

/// Returns the time each column shows: that of highest active memory in it, or its middle if nothing happened, since
/// driver memory changes then too. Ascending.
std::vector<int64_t> times_of(const PictureRequest& r, const Columns& columns) {
    const DeviceHistory& device = r.analysis->device();
    std::vector<int64_t> times;
    times.reserve(columns->size());
    const double step = (r.to - r.from) / static_cast<double>(columns->size());
    for (size_t x = 0; x < columns->size(); ++x) {
        const Column& column = (*columns)[x];
        int64_t time = time_of(device, column.time_point);
        if (r.axis == TimeAxis::wall_clock) {
            const auto left = saturated<int64_t>(r.from + static_cast<double>(x) * step);
            const auto right = std::max(left, saturated<int64_t>(r.from + static_cast<double>(x + 1) * step) - 1);
            time = column.first == column.last && !column.time_point.repeated ? left + (right - left) / 2
                                                                              : std::clamp(time, left, right);
        }
        times.push_back(times.empty() ? time : std::max(time, times.back()));
    }
    return times;
}

}  // namespace

std::vector<BreakdownRow> breakdown_rows(const PictureRequest& r) {
    const Columns columns = columns_of(r);
    const Breakdown& breakdown = r.breakdown->get();
    const std::vector<int64_t> times = times_of(r, columns);
    std::vector<BreakdownRow> rows(times.size());
    in_halves(static_cast<int>(times.size()), [&](int first, int last) {
        std::vector<BreakdownRow> part = breakdown.band({times.begin() + first, times.begin() + last});
        for (size_t i = 0; i < part.size(); ++i) {
            // Clocks are coarser than events, so a peak between two events of one time is looked up by its event.
            const Column& column = (*columns)[static_cast<size_t>(first) + i];
            if (column.first != column.last && part[i].event != column.time_point.event) {
                part[i] = breakdown.at(column.time_point);
            }
        }
        std::move(part.begin(), part.end(), rows.begin() + first);
    });
    return rows;
}

int nth_of_kind(const std::vector<ComponentKey>& components, const std::vector<int64_t>& most,
                const ComponentKey& key) {
    const auto found = std::find(components.begin(), components.end(), key);
    const auto own = static_cast<size_t>(found - components.begin());
    int before = 0;
    for (size_t i = 0; i < components.size() && own < components.size(); ++i) {
        const bool is_by_size = key.kind != ComponentKind::other_processes && most[i] != most[own];
        const bool comes_first = is_by_size ? most[i] > most[own] : i < own;
        before += components[i].kind == key.kind && comes_first ? 1 : 0;
    }
    return before;
}

QBrush component_brush(const Theme& theme, ComponentKind kind, int nth) {
    const QColor color = component_color(theme, kind, nth);
    const bool striped = kind == ComponentKind::pending || kind == ComponentKind::unknown;
    return QBrush(color, striped ? Qt::BDiagPattern : Qt::SolidPattern);
}

}  // namespace tidemark::gui
