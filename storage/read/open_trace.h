// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Opens a trace. The file is not trusted until it is checked; the result is immutable columns in memory.
#pragma once

#include <memory>
#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Opens and checks a trace and loads its columns. Never writes to the file. Errors: missing or unreadable file
/// (environment); not SQLite, another program's SQLite file, written by a newer Tidemark, corrupt (input); canceled.
/// Thread: any; uses a second thread for decoding.
Result<std::shared_ptr<const Trace>> open_trace(const std::string& path, Progress& progress);

/// Checks every page of a trace, including those that open_trace does not read. Takes minutes for very large files; can
/// be canceled.
Status check_every_page(const std::string& path, Progress& progress);

}  // namespace tidemark
