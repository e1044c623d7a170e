// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads a PyTorch memory snapshot, written by torch.cuda.memory._dump_snapshot() or PyTorch's C++ writer, torch 2.1 and
// later; uncompressed, gzip, xz or zstd. Executes nothing from the file.
#pragma once

#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/import/byte_source.h"
#include "storage/import/snapshot.h"

namespace tidemark {

/// The phase for Progress. The fraction is the part of the file's (compressed) bytes that was read.
inline constexpr char reading_phase[] = "Reading the snapshot";

/// Reads a snapshot. Errors: input (not a snapshot, truncated, corrupt), environment (read error) or canceled. Error
/// messages do not contain the file name.
Result<Snapshot> read_snapshot(ByteSource& source, Progress& progress);
/// Like read_snapshot(). The message of an input error starts with the path.
Result<Snapshot> read_snapshot_file(const std::string& path, Progress& progress);

}  // namespace tidemark
