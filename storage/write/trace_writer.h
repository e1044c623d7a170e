// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The only code that writes a trace file.
//
// Everything goes to a new file beside the target, which takes the target's name only when it is complete: a writer
// that stops half way leaves the old file or none.
#pragma once

#include <span>
#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/graph_tables.h"
#include "storage/trace/trace.h"

namespace tidemark {

enum class IfExists { fail, replace };

/// Writes a complete trace: one SQLite file, not in WAL mode. The trace's path, file_bytes and format_version are not
/// read. `peak_events`: the event with the most allocated bytes of each of trace.devices, as peak_events() of
/// storage/timeline returns them. `graph`: of this trace, or nullptr where there is none. Errors: the target exists,
/// the folder cannot be written, the disk is full (environment); canceled. After an error nothing new is left behind.
Status write_trace(const Trace& trace, std::span<const EventNumber> peak_events, const std::string& path,
                   IfExists if_exists, Progress& progress, const GraphTables* graph = nullptr);

}  // namespace tidemark
