// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Nodes that were found some time after their creation.
#pragma once

#include "storage/trace/graph_tables.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Sets the time of creation of nodes whose recorded time is unknown: the time from which all memory exists that they
/// and the nodes below them saved. Nodes that saved nothing of this recording stay before_recording.
void date_late_nodes(GraphTables& tables, const Trace& trace);

}  // namespace tidemark
