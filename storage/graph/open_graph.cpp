// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/open_graph.h"

#include "storage/read/read_graph.h"

namespace tidemark {

Result<std::unique_ptr<const Graph>> open_graph(std::shared_ptr<const Trace> trace, Progress& progress) {
    auto tables = read_graph(*trace, progress);
    if (!tables) {
        return tables.error();
    }
    return std::unique_ptr<const Graph>(std::make_unique<Graph>(std::move(trace), *std::move(tables)));
}

}  // namespace tidemark
