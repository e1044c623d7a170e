// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// No file makes a command take the memory of the machine.
#pragma once

#include <string>

#include "storage/base/result.h"

namespace tidemark::cli {

/// Lets this process take, in addition to what it has, at most 256 MiB or 40 times the size of the file. The readers'
/// own limits are lower (storage/trace/limits.h); this one holds for what nobody has thought of. Then std::bad_alloc
/// is thrown.
void limit_memory_for(const std::string& path);

/// Ends the limit, and returns the error of a std::bad_alloc: it blames the file (input) if limit_memory_for() had set
/// one, else the machine (environment).
Error out_of_memory_error();

}  // namespace tidemark::cli
