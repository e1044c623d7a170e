// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/graph_source.h"

#include "gui/model/text.h"
#include "storage/graph/open_graph.h"

namespace tidemark::gui {

GraphSource::GraphSource(QObject* parent)
    : QObject(parent),
      task_(this, OnNewerRequest::cancel_running,
            [this](const std::shared_ptr<const Reading>& reading) { take(reading); }) {}

GraphSource::State GraphSource::state() const {
    if (task_.busy()) {
        return State::reading;
    }
    return !problem_.isEmpty() ? State::failed : graph_ ? State::ready : State::not_requested;
}

void GraphSource::load(std::shared_ptr<const Trace> trace) {
    if (is_of(*trace)) {
        return;
    }
    requested_trace_ = trace.get();
    task_.start([trace = std::move(trace)](Progress& progress) {
        auto graph = open_graph(trace, progress);
        if (!graph) {
            return std::make_shared<const Reading>(Reading{nullptr, graph.error()});
        }
        return std::make_shared<const Reading>(Reading{*std::move(graph), {}});
    });
    emit state_changed();
}

void GraphSource::set(std::shared_ptr<const Graph> graph) {
    requested_trace_ = &graph->index.trace();
    take(std::make_shared<const Reading>(Reading{std::move(graph), {}}));
}

void GraphSource::take(const std::shared_ptr<const Reading>& reading) {
    problem_ = reading->problem ? error_text(*reading->problem) : QString();
    if (reading->graph) {
        const auto before = std::exchange(graph_, reading->graph);
        emit changed(before);
    }
    emit state_changed();
}

}  // namespace tidemark::gui
