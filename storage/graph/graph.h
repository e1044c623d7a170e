// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The autograd graph of a trace with its indexes.
#pragma once

#include <memory>
#include <utility>

#include "storage/graph/categories.h"
#include "storage/graph/graph_index.h"

namespace tidemark {

/// Immutable; keeps the trace and the tables alive. Thread: any.
struct Graph {
    Graph(std::shared_ptr<const Trace> trace, std::shared_ptr<const GraphTables> tables)
        : index(std::move(trace), std::move(tables)), categories(index) {}
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    const Trace& trace() const { return index.trace(); }
    const GraphTables& tables() const { return index.tables(); }
    bool has_nodes() const { return tables().nodes.size() > 0; }

    const GraphIndex index;
    const Categories categories;
};

}  // namespace tidemark
