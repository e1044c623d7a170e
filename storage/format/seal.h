// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The seal of a finished trace: a hash of all its bytes.
//
// It detects damage, not intent: a program that changes a trace on purpose can compute it again. A trace that is still
// being written, or whose writer was killed, has no seal; its chunks carry checksums of their own (chunk_codec.h).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/sqlite/sqlite.h"

namespace tidemark {

enum class Seal {
    none,    ///< the writer did not seal the file
    intact,  ///< every byte is as it was written
    broken,  ///< at least one byte differs
};

/// Stores an empty seal in table seal, for seal_file() to fill.
Status write_empty_seal(Connection& connection);

/// Hashes a file that no connection has open, and fills its empty seal in place. Errors: the file cannot be read or
/// written (environment).
Status seal_file(const std::string& path);

/// Compares all bytes of an open file with `stored`, the content of table seal. Reads the file once.
Seal check_seal(int file, std::span<const std::byte> stored, const Progress& progress);

}  // namespace tidemark
