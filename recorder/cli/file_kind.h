// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a file is by its first bytes, and whether a new trace may replace it.
#pragma once

#include <string>

#include "storage/base/result.h"

namespace tidemark::cli {

enum class FileKind { missing, trace, other_sqlite, snapshot, not_a_file, other };

/// Reads the first 100 bytes only. Compressed files count as snapshots: no other input of Tidemark is compressed.
FileKind file_kind(const std::string& path);

/// Error: the file is a PyTorch snapshot, not a trace; the message says how to import it.
Status check_is_no_snapshot(const std::string& path);

/// Error: a file exists that must not be lost. A Tidemark trace is replaced with `force` only, any other file never.
Status may_write_trace(const std::string& path, bool force);

}  // namespace tidemark::cli
