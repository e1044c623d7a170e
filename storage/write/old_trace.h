// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The trace that a new recording replaces.
#pragma once

#include <string>

#include "storage/base/result.h"

namespace tidemark {

/// What to do where the file system has no locks, which could show that the old trace is being written.
enum class WithoutLocks { refuse, replace };

/// Removes a trace that is not being written, and the files that a killed writer left. Removes no other file. Of a
/// link, removes the link. Errors: it is not a trace (usage); it is being written, or cannot be removed (environment).
Status remove_old_trace(const std::string& path, WithoutLocks without_locks);

/// Removes the files that SQLite leaves beside a database if its writer is killed.
void remove_files_beside(const std::string& path);

}  // namespace tidemark
