// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes complete trace files; no other code does.
//
// All data goes to a new file next to the target, which gets the target's name only when it is complete. If the writer
// fails, the old file or no file remains.
#pragma once

#include <span>
#include <string>

#include "storage/base/part_file.h"
#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/graph_tables.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Writes a complete trace: one SQLite file, not in WAL mode. Ignores the trace's path, file_bytes and format_version.
/// `peak_events`: for each of trace.devices, the event with the most allocated bytes, as returned by peak_events() of
/// storage/timeline. `graph`: of this trace, or nullptr. `access`: by default only the owner can read the trace,
/// because traces contain paths and command lines. Errors: the target exists, the folder cannot be written, the disk is
/// full (environment); canceled. After an error no new file remains.
Status write_trace(const Trace& trace, std::span<const EventNumber> peak_events, const std::string& path,
                   IfExists if_exists, Progress& progress, const GraphTables* graph = nullptr,
                   FileAccess access = FileAccess::owner);

/// Writes a complete trace into a new file, for callers that check the file before they keep it. Arguments as above.
Status fill_trace(PartFile& file, const Trace& trace, std::span<const EventNumber> peak_events, Progress& progress,
                  const GraphTables* graph);

}  // namespace tidemark
