// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads a PyTorch memory snapshot: what torch.cuda.memory._dump_snapshot() wrote, of torch 2.1 and later, or its C++
// writer; plain, gzip, xz or zstd. Nothing in the file is executed.
#pragma once

#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/import/byte_source.h"
#include "storage/import/snapshot.h"

namespace tidemark {

/// The phase that Progress sees; its fraction is the part of the file's (packed) bytes read.
inline constexpr char reading_phase[] = "Reading the snapshot";

/// Errors: input (not a snapshot, cut, damaged), environment (reading failed) or canceled. The sentences do not name
/// the file.
Result<Snapshot> read_snapshot(ByteSource& source, Progress& progress);
/// As above; the sentence of an input error begins with the path.
Result<Snapshot> read_snapshot_file(const std::string& path, Progress& progress);

}  // namespace tidemark
