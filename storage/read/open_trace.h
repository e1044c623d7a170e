// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Opening a trace: hostile until proven fine, then immutable columns in memory.
#pragma once

#include <memory>
#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Opens and checks a trace and loads its columns. Never writes to the file.
/// Errors: missing or unreadable file (environment); not SQLite, another program's SQLite file, written by a newer
/// Tidemark, damaged (input); canceled. Thread: any; uses a second thread for decoding.
Result<std::shared_ptr<const Trace>> open_trace(const std::string& path, Progress& progress);

/// Checks every page of a trace, also what open_trace does not read. Minutes for very large files; cancellable.
Status check_every_page(const std::string& path, Progress& progress);

}  // namespace tidemark
