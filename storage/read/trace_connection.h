// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Opens the file of an open trace again, for the tables that open_trace() does not read.
#pragma once

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/sqlite/sqlite.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Errors: as open_trace. `progress` must outlive the connection.
Result<Connection> connect_to(const Trace& trace, Progress& progress);

}  // namespace tidemark
