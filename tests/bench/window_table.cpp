// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/window_table.h"

#include <QElapsedTimer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTextStream>
#include <algorithm>
#include <functional>
#include <vector>

#include "gui/app/loader.h"
#include "gui/histograms/shown_histograms.h"
#include "gui/table/allocation_model.h"

namespace tidemark::gui {

namespace {

constexpr int runs = 5;

/// Returns the median.
double median_milliseconds(const std::function<void()>& work) {
    std::vector<double> times;
    for (int run = 0; run < runs; ++run) {
        QElapsedTimer clock;
        clock.start();
        work();
        times.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
    }
    std::sort(times.begin(), times.end());
    return times[runs / 2];
}

QJsonObject measure_grouping(const Session& session, TableGrouping grouping) {
    AllocationQuery query;
    query.group_by = grouping;
    query.category_of = session.categories();
    query.iterations = session.shared_iterations();
    Progress progress;
    std::shared_ptr<const AllocationRows> rows;
    QJsonObject result;
    result["query"] = median_milliseconds([&] { rows = find_allocations(session.analysis(), query, progress); });
    result["groups"] = static_cast<qint64>(rows->groups.size());
    AllocationModel model;
    result["show"] = median_milliseconds([&] { model.show(session.shared_analysis(), rows); });
    if (model.is_grouped()) {
        result["expand"] = median_milliseconds([&] {
            model.set_expanded(0, true);
            model.set_expanded(0, false);
        });
    }
    return result;
}

QJsonObject measure_histograms(const Session& session) {
    const TimeView& view = session.time_view();
    HistogramRequest request{session.shared_analysis(),
                             session.shared_iterations(),
                             HistogramMemory::in_view,
                             session.selection().state().time_point,
                             {view.point_at(view.from()), view.point_at(view.to())},
                             nullptr,
                             false};
    QJsonObject result;
    result["iterations"] = median_milliseconds([&] { session.shared_iterations()->get(); });
    std::shared_ptr<const ShownHistograms> shown;
    result["count"] =
        median_milliseconds([&] { shown = std::make_shared<const ShownHistograms>(make_histograms(request)); });
    const BinRange first{0, 0};
    result["cross_filter"] = median_milliseconds([&] { (void)shown->histograms.by_lifetime(first); });
    result["select"] = median_milliseconds([&] { (void)shown->histograms.allocations_in(first, std::nullopt); });
    return result;
}

}  // namespace

Status measure_table(const QString& trace) {
    Progress progress;
    const auto opened = load_trace(trace, progress);
    if (!opened) {
        return opened.error();
    }
    const Session& session = *opened->session;
    QJsonObject result;
    result["allocations"] = static_cast<qint64>(session.device().allocations.size());
    const char* const names[table_grouping_count] = {"none",     "line", "stack",  "module",
                                                     "category", "pool", "stream", "iteration"};
    for (int grouping = 0; grouping < table_grouping_count; ++grouping) {
        result[QLatin1String(names[grouping])] = measure_grouping(session, static_cast<TableGrouping>(grouping));
    }
    result["histograms"] = measure_histograms(session);
    QTextStream(stdout) << QJsonDocument(result).toJson();
    return {};
}

}  // namespace tidemark::gui
