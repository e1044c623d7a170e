// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/file_lock.h"

#include <sys/file.h>

#include <cerrno>

#include "storage/base/system_reason.h"

namespace tidemark {

LockAttempt try_lock(int file) {
    while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR) {
            return errno == EWOULDBLOCK ? LockAttempt::held : LockAttempt::unsupported;
        }
    }
    return LockAttempt::locked;
}

Error not_locked(const std::string& path, LockAttempt attempt, int reason) {
    if (attempt == LockAttempt::held) {
        return environment_error("{path} is being written by another program. Wait for it, or use another name.",
                                 with("path", path));
    }
    return environment_error(
        "{path} cannot be locked, because its file system has no file locks ({reason}). Write to a folder on a local "
        "disk, and copy the file afterwards.",
        with("path", path), with("reason", system_reason(reason)));
}

}  // namespace tidemark
