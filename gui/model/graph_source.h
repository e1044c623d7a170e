// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The autograd graph of a session's trace, which is read and indexed in the background.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>

#include "gui/model/latest_only.h"
#include "storage/base/result.h"
#include "storage/graph/graph.h"

namespace tidemark::gui {

/// Thread: GUI.
class GraphSource : public QObject {
    Q_OBJECT
public:
    enum class State { not_requested, reading, ready, failed };

    explicit GraphSource(QObject* parent = nullptr);

    State state() const;
    double fraction() const { return task_.fraction(); }
    const QString& problem() const { return problem_; }
    /// Returns null until the graph is read. The previous one stays until a longer one is read.
    const std::shared_ptr<const Graph>& graph() const { return graph_; }
    /// Returns whether the graph is that of the current trace.
    bool is_of(const Trace& trace) const { return requested_trace_ == &trace; }

    /// Starts to read unless the graph of this very trace was requested before.
    void load(std::shared_ptr<const Trace> trace);
    /// Takes an existing graph.
    void set(std::shared_ptr<const Graph> graph);

signals:
    /// The graph changed: node numbers are no longer those of `before`, which may be null.
    void changed(const std::shared_ptr<const tidemark::Graph>& before);
    void state_changed();

private:
    struct Reading {
        std::shared_ptr<const Graph> graph;  // null if reading failed
        std::optional<Error> problem;
    };
    void take(const std::shared_ptr<const Reading>& reading);

    std::shared_ptr<const Graph> graph_;
    const Trace* requested_trace_ = nullptr;
    QString problem_;
    LatestOnly<Reading> task_;
};

}  // namespace tidemark::gui
