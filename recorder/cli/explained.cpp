// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/explained.h"

#include "recorder/cli/graph/graph_view.h"
#include "storage/replay/repeated_step.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {

namespace {

/// Returns the part of the run that the user chose.
Result<RunPart> part_of(const DeviceTimePoint& time_point, const std::string& at, const std::string& from) {
    // An explanation needs the events around its point in time.
    const EventNumber state = at == "peak" ? time_point.analysis->curves().peak(Series::allocated).max_event
                                           : last_state(time_point.device(), time_point.point);
    RunPart part;
    if (!at.empty()) {
        part.at = state;
    }
    if (!from.empty()) {
        const auto first =
            find_time_point(time_point.trace(), time_point.device(), time_point.analysis->curves(), from);
        if (!first) {
            return first.error();
        }
        part.from = last_state(time_point.device(), *first);
    }
    if (part.from && *part.from >= state) {
        return usage_error("--from {from} is not before the point in time to explain.", with("from", from));
    }
    return part;
}

Result<Contexts> open_contexts(const TimePointOptions& options, const std::string& from, Progress& progress) {
    const auto trace = open_input(options.trace, progress);
    if (!trace) {
        return trace.error();
    }
    auto time_points = time_points_of(*trace, {options.trace, options.at.empty() ? "end" : options.at, options.device});
    if (!time_points) {
        return time_points.error();
    }
    auto read = read_whole_graph(*trace, progress);
    if (!read) {
        return read.error();
    }
    const std::shared_ptr<const Graph> graph = std::move(*read);
    Contexts contexts;
    for (DeviceTimePoint& time_point : *time_points) {
        const auto part = part_of(time_point, options.at, from);
        if (!part) {
            return part.error();
        }
        contexts.push_back(std::make_shared<const AnalysisContext>(std::move(time_point.analysis), graph, *part));
    }
    return contexts;
}

}  // namespace

Result<std::vector<Explained>> explain_devices(const TimePointOptions& options, const std::string& from,
                                               const Words& words, Progress& progress) {
    auto contexts = open_contexts(options, from, progress);
    if (!contexts) {
        return contexts.error();
    }
    return tidemark::explain_devices(*std::move(contexts), words, progress);
}

}  // namespace tidemark::cli
