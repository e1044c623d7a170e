// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/changes/compared_runs.h"

#include <algorithm>
#include <utility>

#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

namespace {
constexpr auto active_series = static_cast<size_t>(Series::active);
}  // namespace

ComparedRun::ComparedRun(std::shared_ptr<const Analysis> analysis, RunOnAxis on_axis, QString name)
    : analysis_(std::move(analysis)), on_axis_(std::move(on_axis)), name_(std::move(name)) {
    const Column whole = columns_between(on_axis_.begin(), on_axis_.end(), 1).front();
    peak_ = whole.time_point;
    peak_bytes_ = whole.max[active_series];
}

std::vector<Column> ComparedRun::columns_between(int64_t from, int64_t to, int count) const {
    return make_columns(analysis_->trace(), device(), analysis_->curves(), TimeAxis::wall_clock,
                        static_cast<double>(from), static_cast<double>(to), count);
}

TimePoint ComparedRun::point_at(double place) const {
    return time_point_at(analysis_->trace(), device(), on_axis_.time_at(place));
}

std::optional<double> ComparedRun::place_of(const TimePoint& point) const {
    const int64_t time = time_of(device(), point);
    return on_axis_.has_time(time) ? std::optional(on_axis_.place_of(time)) : std::nullopt;
}

std::vector<std::optional<RunColumn>> ComparedRun::columns(double from, double to, int count) const {
    std::vector<std::optional<RunColumn>> columns(static_cast<size_t>(std::max(count, 0)));
    const double width = (to - from) / std::max(count, 1);
    for (size_t i = 0; i < columns.size(); ++i) {
        const double left = from + width * static_cast<double>(i), right = left + width;
        if (right >= on_axis_.first() && left <= on_axis_.last()) {
            const Column column = columns_between(on_axis_.time_at(left), on_axis_.time_at(right), 1).front();
            columns[i] = RunColumn{column.min[active_series], column.max[active_series]};
        }
    }
    return columns;
}

}  // namespace tidemark::gui
