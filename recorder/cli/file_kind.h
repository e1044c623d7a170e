// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Determines the kind of a file by its first bytes, and whether an output may replace it.
#pragma once

#include <string>

#include "storage/base/result.h"

namespace tidemark::cli {

enum class FileKind { missing, trace, other_sqlite, snapshot, not_a_file, other };

/// Returns the kind of a file. Reads the first 100 bytes. Compressed files count as snapshots, since no other input is
/// compressed.
FileKind file_kind(const std::string& path);

/// Returns an error (input) if the file is a PyTorch snapshot, with the import command, or the folder of a job without
/// traces.
Status check_may_be_trace(const std::string& path);

/// Returns an error (usage) if a file exists that must not be replaced. Only `force` allows to replace a trace; nothing
/// allows to replace another file.
Status may_write_trace(const std::string& path, bool force);

/// Returns an error (environment) if there is no such folder for a trace, or if it is not writable.
Status may_write_in(const std::string& folder);

/// Returns an error (usage) if something exists that is not a folder, or if the folder has traces that must not be
/// replaced. With `force` the traces are deleted. In a process that a launcher started, as by srun, traces stay: they
/// are those of the other processes.
Status may_write_job(const std::string& folder, bool force);

/// Returns an error (usage) if a file exists that must not be replaced. Only `force` allows to replace a report or a
/// picture; nothing allows to replace a trace, another database, a snapshot or a folder. Pipes and devices are allowed.
Status may_write_report(const std::string& path, bool force);

}  // namespace tidemark::cli
