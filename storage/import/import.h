// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// From a PyTorch memory snapshot to a trace file.
#pragma once

#include <memory>
#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/trace.h"
#include "storage/write/trace_writer.h"

namespace tidemark {

/// Reads a snapshot (pickle protocols 2 to 5, plain or packed with gzip, xz or zstd) and derives its trace in memory.
/// Nothing in the file is executed. Errors name what is wrong with the file.
Result<std::shared_ptr<Trace>> read_snapshot_trace(const std::string& snapshot, Progress& progress);

/// The same, written to `path`. The trace is returned so that it can be shown without being read again; its path and
/// size are the file's.
Result<std::shared_ptr<const Trace>> import_snapshot(const std::string& snapshot, const std::string& path,
                                                     IfExists if_exists, Progress& progress);

/// "run.pickle.gz" -> "run.tide", beside it.
std::string trace_path_for(const std::string& snapshot);

}  // namespace tidemark
