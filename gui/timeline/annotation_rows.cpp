// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/annotation_rows.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <algorithm>
#include <optional>

#include "gui/model/plural.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

/// Orders the user's steps before those seen at the optimizer: the first row is what the program calls a step.
void add_step_rows(AnnotationRows& result, const Trace& trace) {
    auto spans = std::make_shared<std::vector<Annotation>>();
    spans->reserve(trace.steps.size());
    // A run may have a million steps: QString::arg() takes longer than all else here.
    const QString name = QCoreApplication::translate("Steps", "step %1");
    const auto place = name.indexOf(QLatin1String("%1"));
    const std::string before = name.left(place).toStdString(), after = name.mid(place + 2).toStdString();
    for (const Step& step : trace.steps) {
        spans->push_back({before + std::to_string(step.number) + after,
                          step.source == StepSource::user ? AnnotationKind::user : AnnotationKind::optimizer, -1,
                          step.start, step.end.value_or(trace.duration), step.end.has_value()});
    }
    for (const AnnotationKind source : {AnnotationKind::user, AnnotationKind::optimizer}) {
        std::vector<const Annotation*> row;
        for (const Annotation& span : *spans) {
            if (span.kind == source) {
                row.push_back(&span);
                result.all.push_back(&span);
            }
        }
        if (!row.empty()) {
            result.rows.push_back(std::move(row));
        }
    }
    result.steps = std::move(spans);
}

/// Returns the stretches in which every step repeats an earlier one, or lost its details.
std::vector<RepeatedSteps> stretches_of(const std::vector<RepeatedSteps>& repeats) {
    std::vector<RepeatedSteps> stretches;
    for (const RepeatedSteps& steps : repeats) {
        if (!stretches.empty() && steps.start <= stretches.back().end &&
            steps.are_details_deleted() == stretches.back().are_details_deleted()) {
            stretches.back().end = steps.end;
            stretches.back().count += steps.count;
        } else {
            stretches.push_back(steps);
        }
    }
    return stretches;
}

void add_repeats_row(AnnotationRows& result, const std::vector<RepeatedSteps>& repeats) {
    if (repeats.empty()) {
        return;
    }
    auto spans = std::make_shared<std::vector<Annotation>>();
    for (const RepeatedSteps& steps : stretches_of(repeats)) {
        const int count = plural(steps.count);
        const QString name =
            steps.are_details_deleted()
                ? QCoreApplication::translate("Steps", "%n step(s) whose details were deleted", nullptr, count)
                : QCoreApplication::translate("Steps", "%n repeated step(s), of which only peaks are recorded", nullptr,
                                              count);
        spans->push_back({name.toStdString(), AnnotationKind::user, -1, steps.start, steps.end, true});
    }
    result.rows.emplace_back();
    for (const Annotation& span : *spans) {
        result.rows.back().push_back(&span);
        result.all.push_back(&span);
    }
    result.repeats = std::move(spans);
}

/// Returns the number in "garbage collection (12 objects)", if the name is of this kind.
std::optional<int> collected_objects(const QString& name) {
    static const QRegularExpression pattern(QStringLiteral("^garbage collection \\((\\d+) objects\\)$"));
    const QRegularExpressionMatch match = pattern.match(name);
    return match.hasMatch() ? std::optional(match.captured(1).toInt()) : std::nullopt;
}

}  // namespace

QString annotation_name(const Annotation& annotation) {
    const QString name = name_text(annotation.name);
    const auto objects = annotation.kind == AnnotationKind::garbage_collection ? collected_objects(name) : std::nullopt;
    return objects ? QCoreApplication::translate("Annotations", "garbage collection (%n object(s))", nullptr, *objects)
                   : name;
}

AnnotationRows lay_out_annotations(const Trace& trace, int device) {
    AnnotationRows result;
    add_step_rows(result, trace);
    const auto history = std::find_if(trace.devices.begin(), trace.devices.end(),
                                      [&](const DeviceHistory& one) { return one.device == device; });
    if (history != trace.devices.end()) {
        add_repeats_row(result, history->repeats);
    }
    const size_t step_rows = result.rows.size(), steps = result.all.size();
    for (const Annotation& a : trace.annotations) {
        if (a.device == device || a.device < 0) {
            result.all.push_back(&a);
        }
    }
    const auto by_start = [](const Annotation* a, const Annotation* b) {
        return a->start != b->start ? a->start < b->start : a->end > b->end;
    };
    const auto first = result.all.begin() + static_cast<ptrdiff_t>(steps);
    std::stable_sort(first, result.all.end(), by_start);
    std::vector<int64_t> row_end;
    for (auto it = first; it != result.all.end(); ++it) {
        const Annotation* a = *it;
        const auto free_row =
            std::find_if(row_end.begin(), row_end.end(), [a](int64_t end) { return end <= a->start; });
        const auto row = step_rows + static_cast<size_t>(free_row - row_end.begin());
        if (row >= step_rows + most_annotation_rows) {
            ++result.hidden;
            continue;
        }
        if (free_row == row_end.end()) {
            row_end.push_back(a->end);
            result.rows.emplace_back();
        } else {
            *free_row = a->end;
        }
        result.rows[row].push_back(a);
    }
    if (!std::is_sorted(result.all.begin(), result.all.end(), by_start)) {
        std::stable_sort(result.all.begin(), result.all.end(), by_start);
    }
    return result;
}

std::vector<const Annotation*> AnnotationRows::at(int64_t time) const {
    constexpr size_t most = 8;
    std::vector<const Annotation*> open;
    const auto after =
        std::upper_bound(all.begin(), all.end(), time, [](int64_t t, const Annotation* a) { return t < a->start; });
    // Deeply nested spans start late, so a short walk back finds them; the rows find the outer ones.
    for (auto it = after; it != all.begin() && open.size() < most && after - it < 1000;) {
        --it;
        if ((*it)->end > time) {
            open.push_back(*it);
        }
    }
    for (const auto& row : rows) {
        const auto next =
            std::upper_bound(row.begin(), row.end(), time, [](int64_t t, const Annotation* a) { return t < a->start; });
        if (next != row.begin() && (*(next - 1))->end > time &&
            std::find(open.begin(), open.end(), *(next - 1)) == open.end()) {
            open.push_back(*(next - 1));
        }
    }
    std::reverse(open.begin(), open.end());
    return open;
}

}  // namespace tidemark::gui
