// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Opens input files. A named pipe or a device would block or never end, so only regular files are input.
#pragma once

#include <cstdint>
#include <string>

#include "storage/base/descriptor.h"
#include "storage/base/result.h"

namespace tidemark {

/// Opens a regular file for reading; never waits for another program. Errors: there is no such file, or it may not be
/// read (environment); it is a folder, a pipe, a socket or a device (input).
Result<Descriptor> open_regular_file(const std::string& path);

/// Returns the content of a regular file. Errors: as open_regular_file(); it has more than `most_bytes` (input), or
/// cannot be read (environment).
Result<std::string> read_regular_file(const std::string& path, int64_t most_bytes);

/// Returns the error for a path that is no regular file. `mode`: as from stat.
Error not_a_regular_file(const std::string& path, unsigned mode);

}  // namespace tidemark
