// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Locks of whole files (flock), by which writers exclude each other. Network file systems may have none.
#pragma once

#include <string>

#include "storage/base/result.h"

namespace tidemark {

enum class LockAttempt {
    locked,       ///< by this descriptor, until it is closed
    held,         ///< by another program
    unsupported,  ///< by the file system; errno has the reason
};

/// Tries to lock an open file exclusively. Never waits. NFS requires that the descriptor can write.
LockAttempt try_lock(int file);

/// Returns the error (environment) of a file that `attempt` did not lock. `reason`: errno of the attempt.
Error not_locked(const std::string& path, LockAttempt attempt, int reason);

}  // namespace tidemark
