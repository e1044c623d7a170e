// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/repeated_columns.h"

#include <algorithm>

namespace tidemark {

namespace {

constexpr auto active = static_cast<size_t>(Series::active);

void raise(Column& column, Series series, int64_t bytes) {
    int64_t& max = column.max[static_cast<size_t>(series)];
    max = std::max(max, bytes);
}

}  // namespace

void RepeatedColumns::add(Column& column, int64_t from, int64_t to) {
    const auto& repeats = device_.repeats;
    highest_active_ = column.max[active];
    highest_row_.reset();
    auto row = std::partition_point(repeats.begin(), repeats.end(),
                                    [&](const RepeatedSteps& steps) { return steps.end <= from; });
    for (; row != repeats.end() && row->start < to; ++row) {
        const bool is_whole = from <= row->start && row->end <= to;
        if (!is_whole && add_parts(column, *row, from, to)) {
            continue;
        }
        raise(column, Series::allocated, row->peak_allocated);
        raise(column, Series::active, row->peak_active);
        raise(column, Series::requested, row->peak_requested);
        if (row->peak_active > highest_active_) {
            highest_active_ = row->peak_active;
            highest_row_ = static_cast<size_t>(row - repeats.begin());
        }
    }
    if (highest_row_) {
        show_highest(column, *highest_row_);
    }
}

/// Returns false if a whole step lies between the times, or if nothing is known of the steps but their peaks.
bool RepeatedColumns::add_parts(Column& column, const RepeatedSteps& steps, int64_t from, int64_t to) {
    const auto first = RepeatedStep::at(trace_, device_, std::max(from, steps.start) + 1);
    if (!first || (first->start() >= from && first->end() <= to)) {
        return false;
    }
    const auto second =
        first->end() < std::min(to, steps.end) ? RepeatedStep::at(trace_, device_, first->end() + 1) : std::nullopt;
    if (second && second->end() <= to) {
        return false;
    }
    add_part(column, *first, from, to);
    if (second) {
        add_part(column, *second, from, to);
    }
    return true;
}

void RepeatedColumns::add_part(Column& column, const RepeatedStep& step, int64_t from, int64_t to) {
    const RepeatedPlace first = *step.at_time(std::max(from, step.start())).repeated,
                        last = *step.at_time(std::min(to, step.end())).repeated;
    const Curves::All like = curves_.extremes_of_states(first.state, last.state);
    const bool is_all = step.start() <= from && to <= step.end();
    for (size_t s = 0; s < series_count; ++s) {
        const auto series = static_cast<Series>(s);
        const int64_t more = curves_.value(series, step.event()) - curves_.value(series, first.begin);
        column.min[s] = is_all ? like[s].min + more : std::min(column.min[s], like[s].min + more);
        column.max[s] = is_all ? like[s].max + more : std::max(column.max[s], like[s].max + more);
        if (series == Series::active && (is_all || like[s].max + more > highest_active_)) {
            highest_active_ = like[s].max + more;
            highest_row_.reset();
            column.time_point = step.at_state(like[s].max_event);
        }
    }
}

/// Shows the highest place of the row's first step: then all columns of steps without differences are equal.
void RepeatedColumns::show_highest(Column& column, size_t row) {
    if (!row_shown_ || row_shown_->first != row) {
        const auto step = RepeatedStep::at(trace_, device_, device_.repeats[row].start + 1);
        if (!step) {
            return;
        }
        const Extremes like = curves_.extremes_of_states(step->like_begin(), step->like_end())[active];
        row_shown_ = {row, step->at_state(like.max_event)};
    }
    column.time_point = row_shown_->second;
}

}  // namespace tidemark
