// When the nodes of a graph kept most memory.
#pragma once

#include <optional>

#include "storage/graph/graph_index.h"

namespace tidemark::gui {

/// ns since trace start; nothing if no node ever kept memory of a device. Thread: any.
std::optional<int64_t> fullest_time_point(const GraphIndex& index);

}  // namespace tidemark::gui
