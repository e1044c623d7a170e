// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/changes/comparison.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <algorithm>
#include <utility>

#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "storage/compare/compare.h"
#include "storage/replay/repeated_step.h"
#include "storage/timeline/time_point.h"

namespace tidemark::gui {

namespace {

struct Comparing {
    Q_DECLARE_TR_FUNCTIONS(Comparison)
};

GroupOptions options_of(const GroupOption& option, const Categories* categories) {
    GroupOptions options;
    options.module_depth = option.module_depth;
    options.categories = categories;
    return options;
}

Changes changes_of(const Comparison& comparison, GroupBy by) {
    Changes changes;
    changes.by = by;
    for (const CompareRow& row : comparison.rows) {
        const bool has_two_names = row.change() != RowChange::only_a && row.name_in_a != row.name;
        changes.groups.push_back(
            {row.name, row.a, row.b, {}, {}, {}, 0, has_two_names ? row.name_in_a : std::string()});
    }
    changes.total = {{}, comparison.a, comparison.b, {}, {}, {}};
    return changes;
}

std::shared_ptr<const ComparedRuns> runs_of_traces(const DeviceToCompare& a, const DeviceToCompare& b) {
    const Trace &trace_a = a.analysis->trace(), &trace_b = b.analysis->trace();
    const auto axis = common_axis(trace_a, a.analysis->device(), trace_b, b.analysis->device());
    return axis ? std::make_shared<const ComparedRuns>(ComparedRuns{axis->unit, false, shared_steps(trace_a, trace_b),
                                                                    ComparedRun(a.analysis, axis->a, a.name),
                                                                    ComparedRun(b.analysis, axis->b, b.name)})
                : nullptr;
}

/// Sets the points to compare and their places, or why there are none. Requires runs.
void compare_points(ShownChanges& shown, PointsToCompare points, const TimePoint& cursor) {
    const ComparedRun &a = shown.runs->a, &b = shown.runs->b;
    const auto place = shown.runs->place_of_cursor(cursor);
    if (points == PointsToCompare::peaks) {
        shown.a = {a.peak(), a.peak_place()};
        shown.b = {b.peak(), b.peak_place()};
    } else if (points == PointsToCompare::ends) {
        shown.a = {a.point_at(a.on_axis().last()), a.on_axis().last()};
        shown.b = {b.point_at(b.on_axis().last()), b.on_axis().last()};
    } else if (!place) {
        shown.reason = NoChanges::outside_steps;
    } else if (!a.on_axis().has_place(*place) || !b.on_axis().has_place(*place)) {
        shown.reason = NoChanges::outside_other;
    } else {
        shown.a = {a.point_at(*place), *place};
        shown.b = {b.point_at(*place), *place};
        (&shown.runs->shown_at(cursor) == &a ? shown.a : shown.b).point = cursor;
    }
}

/// Returns the peak or the end of a whole run.
TimePoint point_of(const DeviceToCompare& run, PointsToCompare points) {
    const Analysis& analysis = *run.analysis;
    return points == PointsToCompare::peaks ? peak_time_point(analysis.trace(), analysis.device(), analysis.curves())
                                            : TimePoint(analysis.device().event_count());
}

/// Returns the iteration of a number, or with the nearest one. Requires iterations.
const Iteration& nearest_iteration(const Iterations& iterations, int64_t number) {
    const auto& all = iterations.all();
    const auto after =
        std::partition_point(all.begin(), all.end(), [&](const Iteration& step) { return step.number < number; });
    const bool is_before =
        after == all.end() || (after != all.begin() && number - (after - 1)->number < after->number - number);
    return is_before ? *(after - 1) : *after;
}

RunOnAxis since_begin(const Iteration& iteration) {
    return RunOnAxis({{0, iteration.start}, {static_cast<double>(iteration.end - iteration.start), iteration.end}});
}

int64_t highest_active(const Analysis& analysis, const Iteration& iteration) {
    const auto columns = make_columns(analysis.trace(), analysis.device(), analysis.curves(), TimeAxis::wall_clock,
                                      static_cast<double>(iteration.start), static_cast<double>(iteration.end), 1);
    return columns.front().max[static_cast<size_t>(Series::active)];
}

/// Returns the position of the step with the most active memory except one. Requires two steps.
size_t largest_except(const Analysis& analysis, const Iterations& iterations, size_t left_out) {
    size_t largest = left_out;
    int64_t most = -1;
    for (size_t i = 0; i < iterations.size(); ++i) {
        const int64_t bytes = i == left_out ? -1 : highest_active(analysis, iterations[i]);
        if (bytes > most) {
            most = bytes;
            largest = i;
        }
    }
    return largest;
}

std::shared_ptr<const ComparedRuns> runs_of_steps(const DeviceToCompare& run, IterationSource source,
                                                  const Iteration& a, const Iteration& b) {
    const AxisUnit unit = has_times(run.analysis->trace(), run.analysis->device()) ? AxisUnit::time : AxisUnit::events;
    const auto one = [&](const Iteration& step) {
        return ComparedRun(run.analysis, since_begin(step), step_text(source, step.number));
    };
    return std::make_shared<const ComparedRuns>(ComparedRuns{unit, true, SharedSteps::some, one(a), one(b)});
}

}  // namespace

DeviceToCompare::DeviceToCompare(const Session& session)
    : analysis(session.shared_analysis()),
      graph(session.graph()),
      name(Comparing::tr("%1, device %2")
               .arg(QFileInfo(to_qstring(session.trace().path)).fileName(), QString::number(session.device().device))) {
}

StateOf DeviceToCompare::state(const TimePoint& point) const {
    return {analysis->trace(), analysis->device(), analysis->live(), point, categories_of(graph, analysis->trace())};
}

QString step_text(IterationSource source, int64_t number) {
    return source == IterationSource::steps ? Comparing::tr("step %1").arg(number)
                                            : Comparing::tr("iteration %1").arg(number);
}

ShownChanges changes_in_run(const DeviceToCompare& run, const TimePoint& begin, const TimePoint& end,
                            const GroupOption& by) {
    const StateOf from = run.state(begin);
    return {changes_between(from.trace, from.device, from.live, begin, end, by.by, options_of(by, from.categories))};
}

ShownChanges changes_between_traces(const DeviceToCompare& a, const DeviceToCompare& b, const TimePoint& cursor,
                                    PointsToCompare points, const GroupOption& by,
                                    std::shared_ptr<const ComparedRuns> known) {
    ShownChanges shown;
    shown.runs = known ? std::move(known) : runs_of_traces(a, b);
    if (shown.runs) {
        compare_points(shown, points, cursor);
    } else if (points == PointsToCompare::cursor) {
        shown.reason = NoChanges::no_common_axis;
    } else {
        shown.a = {point_of(a, points)};
        shown.b = {point_of(b, points)};
    }
    if (shown.reason == NoChanges::none) {
        const StateOf state = a.state(shown.a.point);
        shown.by = by;
        shown.of_traces = std::make_shared<const Comparison>(
            compare(state, b.state(shown.b.point), by.by, options_of(by, state.categories)));
        shown.changes = changes_of(*shown.of_traces, by.by);
    }
    return shown;
}

std::optional<RowSide> side_of_row(const ShownChanges& shown, size_t row, const DeviceToCompare& run, bool of_a) {
    const CompareRow& found = shown.of_traces->rows[row];
    if ((of_a ? found.a : found.b).count == 0) {
        return std::nullopt;
    }
    const std::string& name = of_a ? found.name_in_a : found.name;
    const std::vector<StackId>& stacks = of_a ? found.stacks_in_a : found.stacks_in_b;
    return RowSide{name,
                   allocations_of_row(run.state((of_a ? shown.a : shown.b).point), shown.by.by,
                                      options_of(shown.by, nullptr), name, stacks),
                   stacks.front()};
}

std::optional<StepNumbers> steps_at(const Analysis& analysis, const Iterations& iterations, const TimePoint& cursor,
                                    OtherStep other) {
    if (iterations.empty()) {
        return std::nullopt;
    }
    const int64_t time = time_of(analysis.device(), cursor);
    const auto& all = iterations.all();
    const auto ends = std::find_if(all.begin(), all.end(), [&](const Iteration& step) { return time <= step.end; });
    const size_t shown = std::min(static_cast<size_t>(ends - all.begin()), all.size() - 1);
    const bool has_other =
        other == OtherStep::previous ? shown > 0 : shown + 1 < all.size() || other != OtherStep::next;
    if (!has_other || all.size() < 2) {
        return std::nullopt;
    }
    const size_t second = other == OtherStep::previous ? shown - 1
                          : other == OtherStep::next   ? shown + 1
                                                       : largest_except(analysis, iterations, shown);
    return StepNumbers{all[std::min(shown, second)].number, all[std::max(shown, second)].number};
}

ShownChanges changes_between_steps(const DeviceToCompare& run, std::shared_ptr<const LazyIterations> iterations,
                                   const StepNumbers& steps, const TimePoint& cursor, PointsToCompare points,
                                   const GroupOption& by, std::shared_ptr<const ComparedRuns> known) {
    ShownChanges shown;
    const Iterations& found = iterations->get();
    if (found.empty()) {
        shown.reason = NoChanges::nothing_repeats;
        return shown;
    }
    const Iteration &a = nearest_iteration(found, steps.a), &b = nearest_iteration(found, steps.b);
    shown.runs = known ? std::move(known) : runs_of_steps(run, found.source(), a, b);
    shown.iterations = std::move(iterations);
    shown.steps = {a.number, b.number};
    compare_points(shown, points, cursor);
    if (points == PointsToCompare::ends) {
        // Several events may have the time at which an iteration ends.
        shown.a.point = a.last;
        shown.b.point = b.last;
    }
    if (shown.reason == NoChanges::none) {
        shown.changes = changes_in_run(run, shown.a.point, shown.b.point, by).changes;
    }
    return shown;
}

}  // namespace tidemark::gui
