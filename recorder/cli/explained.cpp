// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/explained.h"

#include "recorder/cli/graph_view.h"

namespace tidemark::cli {

namespace {

Result<std::vector<std::unique_ptr<const AnalysisContext>>> open_contexts(const TimePointOptions& options,
                                                                          Progress& progress) {
    const auto trace = open_input(options.trace, progress);
    if (!trace) {
        return trace.error();
    }
    auto time_points = time_points_of(*trace, {options.trace, "end", options.device});
    if (!time_points) {
        return time_points.error();
    }
    auto read = read_whole_graph(*trace, progress);
    if (!read) {
        return read.error();
    }
    const std::shared_ptr<const Graph> graph = std::move(*read);
    std::vector<std::unique_ptr<const AnalysisContext>> contexts;
    for (DeviceTimePoint& time_point : *time_points) {
        contexts.push_back(std::make_unique<const AnalysisContext>(std::move(time_point.analysis), graph));
    }
    return contexts;
}

}  // namespace

Result<std::vector<Explained>> explain_devices(const TimePointOptions& options, const Words& words,
                                               Progress& progress) {
    auto contexts = open_contexts(options, progress);
    if (!contexts) {
        return contexts.error();
    }
    std::vector<Explained> devices;
    for (std::unique_ptr<const AnalysisContext>& context : *contexts) {
        Explanation explanation = explain(*context, words, progress);
        if (progress.canceled) {
            return canceled_error();
        }
        devices.push_back({std::move(context), std::move(explanation)});
    }
    return devices;
}

}  // namespace tidemark::cli
