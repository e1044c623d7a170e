// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The time at which the nodes of a graph retained most memory.
#pragma once

#include <optional>

#include "storage/graph/graph_index.h"

namespace tidemark::gui {

/// Returns the time in ns since trace start; nothing if no node ever retained device memory. Thread: any.
std::optional<int64_t> graph_peak(const GraphIndex& index);

}  // namespace tidemark::gui
