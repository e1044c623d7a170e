// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Converts a PyTorch memory snapshot to a trace file.
#pragma once

#include <memory>
#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/trace.h"
#include "storage/write/trace_writer.h"

namespace tidemark {

/// Reads a snapshot (pickle protocols 2 to 5, uncompressed or compressed with gzip, xz or zstd) and derives its trace
/// in memory. Executes nothing from the file. Errors describe the fault in the file.
Result<std::shared_ptr<Trace>> read_snapshot_trace(const std::string& snapshot, Progress& progress);

/// Like read_snapshot_trace(), and writes the trace to `path`. Returns the trace, so that it can be shown without
/// reading the file; its path and size are those of the file.
Result<std::shared_ptr<const Trace>> import_snapshot(const std::string& snapshot, const std::string& path,
                                                     IfExists if_exists, Progress& progress);

/// Returns "run.tide" for "run.pickle.gz", in the same folder.
std::string trace_path_for(const std::string& snapshot);

}  // namespace tidemark
