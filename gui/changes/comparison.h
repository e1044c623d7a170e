// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The computations of the Changes pane: two points in time of one run, of two traces, or of two steps.
#pragma once

#include <QString>
#include <memory>
#include <optional>

#include "gui/changes/compared_runs.h"
#include "gui/model/lazy_iterations.h"
#include "gui/model/session.h"
#include "storage/compare/changes.h"
#include "storage/compare/compare.h"

namespace tidemark::gui {

/// What a computation needs of a session: its selected device. Thread: any.
struct DeviceToCompare {
    explicit DeviceToCompare(const Session& session);

    StateOf state(const TimePoint& point) const;

    std::shared_ptr<const Analysis> analysis;
    std::shared_ptr<const Graph> graph;
    QString name;  ///< "run.tide, device 0"
};

/// The points in time that are compared.
enum class PointsToCompare : uint8_t {
    peaks,   ///< of each
    ends,    ///< of each
    cursor,  ///< the place of the cursor in both
};

/// The step to compare with the one at the cursor.
enum class OtherStep : uint8_t { previous, next, largest };

/// The numbers of two steps, or of two iterations.
struct StepNumbers {
    int64_t a = 0, b = 0;
    bool operator==(const StepNumbers&) const = default;
};

/// Why there is nothing to show.
enum class NoChanges : uint8_t {
    none,
    nothing_repeats,
    no_other_step,   ///< there is no step before the first or after the last
    outside_other,   ///< B has nothing at the place of the cursor
    outside_steps,   ///< the cursor is in neither step
    no_common_axis,  ///< only one of the traces has times
};

/// One of the two points in time, and its place on the axis of the runs.
struct ComparedPoint {
    TimePoint point = {};
    double place = 0;
};

/// Immutable. Thread: any.
struct ShownChanges {
    Changes changes;
    NoChanges reason = NoChanges::none;
    std::shared_ptr<const ComparedRuns> runs = nullptr;          ///< null: one run, or no common axis
    ComparedPoint a = {}, b = {};                                ///< with runs
    std::shared_ptr<const LazyIterations> iterations = nullptr;  ///< of two steps
    StepNumbers steps = {};                                      ///< the same
    std::shared_ptr<const Comparison> of_traces = nullptr;       ///< with rows as the groups of `changes`
    GroupOption by = {};                                         ///< of two traces
};

/// Compares two points in time of one run.
ShownChanges changes_in_run(const DeviceToCompare& run, const TimePoint& begin, const TimePoint& end,
                            const GroupOption& by);

/// Compares two traces. `known`: the result's runs, if they have been made before.
ShownChanges changes_between_traces(const DeviceToCompare& a, const DeviceToCompare& b, const TimePoint& cursor,
                                    PointsToCompare points, const GroupOption& by,
                                    std::shared_ptr<const ComparedRuns> known);

/// One side of a row that compares two traces.
struct RowSide {
    std::string name;                          ///< of its group in this trace
    std::vector<AllocationIndex> allocations;  ///< ascending
    StackId stack = 0;                         ///< of a stack, line or file: one of its stacks
};
/// Returns the memory of A or B in a row; nothing if that has none. `run`: the one of the side. Requires two traces.
std::optional<RowSide> side_of_row(const ShownChanges& shown, size_t row, const DeviceToCompare& run, bool of_a);

/// Returns the numbers of the step at the cursor and of another one, the earlier one as A; nothing if there is no other
/// one.
std::optional<StepNumbers> steps_at(const Analysis& analysis, const Iterations& iterations, const TimePoint& cursor,
                                    OtherStep other);

/// Compares two steps of a run, or those with the nearest numbers.
ShownChanges changes_between_steps(const DeviceToCompare& run, std::shared_ptr<const LazyIterations> iterations,
                                   const StepNumbers& steps, const TimePoint& cursor, PointsToCompare points,
                                   const GroupOption& by, std::shared_ptr<const ComparedRuns> known);

/// Returns "step 3", or "iteration 3" if the program reported no steps.
QString step_text(IterationSource source, int64_t number);

}  // namespace tidemark::gui
