// The autograd graph of a session's trace, read and indexed in the background.
#pragma once

#include <QObject>
#include <QString>
#include <memory>

#include "gui/model/latest_only.h"
#include "storage/graph/graph.h"

namespace tidemark::gui {

/// Lives on the GUI thread.
class GraphSource : public QObject {
    Q_OBJECT
public:
    enum class State { not_asked, reading, ready, failed };

    explicit GraphSource(QObject* parent = nullptr);

    State state() const;
    double fraction() const { return task_.fraction(); }
    const QString& problem() const { return problem_; }
    /// Null until it is read; while a longer one is being read, the one before.
    const std::shared_ptr<const Graph>& graph() const { return graph_; }
    /// Whether the graph is that of the trace as it is now.
    bool is_of(const Trace& trace) const { return asked_of_ == &trace; }

    /// Starts reading unless the graph of just this trace was asked for before.
    void load(std::shared_ptr<const Trace> trace);
    /// One that is there already.
    void set(std::shared_ptr<const Graph> graph);

signals:
    /// There is another graph: numbers of nodes are no longer those of `before`, which may be null.
    void changed(const std::shared_ptr<const tidemark::Graph>& before);
    void state_changed();

private:
    struct Reading {
        std::shared_ptr<const Graph> graph;  // null: it failed
        std::string problem;
    };
    void take(const std::shared_ptr<const Reading>& reading);

    std::shared_ptr<const Graph> graph_;
    const Trace* asked_of_ = nullptr;
    QString problem_;
    LatestOnly<Reading> task_;
};

}  // namespace tidemark::gui
