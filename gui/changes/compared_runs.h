// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Two runs, or two steps of one run, on one axis.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "storage/analysis/analysis.h"
#include "storage/compare/common_axis.h"
#include "storage/timeline/columns.h"

namespace tidemark::gui {

/// The lowest and highest active bytes in one column of a plot.
struct RunColumn {
    int64_t lowest = 0, highest = 0;
};

/// One of the two. Immutable. Thread: any.
class ComparedRun {
public:
    ComparedRun(std::shared_ptr<const Analysis> analysis, RunOnAxis on_axis, QString name);

    const QString& name() const { return name_; }  ///< "run.tide, device 0", "step 3"
    const RunOnAxis& on_axis() const { return on_axis_; }
    const DeviceHistory& device() const { return analysis_->device(); }

    TimePoint point_at(double place) const;
    /// Returns the place of a point in time; nothing outside the run.
    std::optional<double> place_of(const TimePoint& point) const;
    int64_t active(const TimePoint& point) const { return analysis_->curves().value(Series::active, point); }
    int64_t active_at(double place) const { return active(point_at(place)); }

    /// The point with the most active memory, and its bytes. Of repeated steps only the bytes may be known.
    const TimePoint& peak() const { return peak_; }
    int64_t peak_bytes() const { return peak_bytes_; }
    double peak_place() const { return place_of(peak_).value_or(on_axis_.first()); }

    /// Returns the columns between two places; nothing where the run has none.
    std::vector<std::optional<RunColumn>> columns(double from, double to, int count) const;

private:
    std::vector<Column> columns_between(int64_t from, int64_t to, int count) const;

    std::shared_ptr<const Analysis> analysis_;
    RunOnAxis on_axis_;
    QString name_;
    TimePoint peak_;
    int64_t peak_bytes_ = 0;
};

/// Immutable. Thread: any.
struct ComparedRuns {
    AxisUnit unit = AxisUnit::time;
    bool of_steps = false;                         ///< two steps of one run; otherwise two traces
    SharedSteps shared_steps = SharedSteps::some;  ///< of two traces
    ComparedRun a, b;

    double first() const { return std::min(a.on_axis().first(), b.on_axis().first()); }
    /// Always behind first().
    double last() const { return std::max({a.on_axis().last(), b.on_axis().last(), first() + 1e-3}); }
    /// Returns the one that contains the point of the run that is shown, A before B. Two traces: A.
    const ComparedRun& shown_at(const TimePoint& cursor) const {
        return of_steps && !a.place_of(cursor) && b.place_of(cursor) ? b : a;
    }
    /// Returns the place of the cursor of the run that is shown; nothing if neither step contains it.
    std::optional<double> place_of_cursor(const TimePoint& cursor) const { return shown_at(cursor).place_of(cursor); }
};

}  // namespace tidemark::gui
