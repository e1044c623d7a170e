// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/write/old_trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "storage/base/descriptor.h"
#include "storage/base/file_lock.h"
#include "storage/base/scratch_folder.h"
#include "storage/base/system_reason.h"
#include "storage/format/schema.h"

namespace tidemark {
namespace {

Error refusal(const std::string& path, int reason) {
    return environment_error("{path} cannot be written: {reason}.", with("path", path),
                             with("reason", system_reason(reason)));
}

/// Opens a file for locking: on NFS, only a descriptor that can write can be locked.
Descriptor open_for_lock(const std::string& path) {
    constexpr int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
    Descriptor file(open(path.c_str(), O_RDWR | flags));
    return file || (errno != EACCES && errno != EROFS && errno != ETXTBSY && errno != EISDIR)
               ? std::move(file)
               : Descriptor(open(path.c_str(), O_RDONLY | flags));
}

/// Returns whether a file is a trace, or empty because its writer was killed at the start.
bool is_trace(int file) {
    std::array<char, header_bytes> header{};
    const ssize_t count = pread(file, header.data(), header.size(), 0);
    return count == 0 || (count > 0 && is_trace_header({header.data(), static_cast<size_t>(count)}));
}

/// Returns whether a recorder writes the trace to which the link at `path` leads.
bool is_recorded_elsewhere(const std::string& path) {
    const Descriptor file = open_for_lock(trace_behind_link(path));
    return file && try_lock(file.get()) == LockAttempt::held;
}

}  // namespace

Status remove_old_trace(const std::string& path, WithoutLocks without_locks) {
    const Descriptor old = open_for_lock(path);
    if (!old && errno != ENOENT && errno != ELOOP) {
        return refusal(path, errno);
    }
    if (old && !is_trace(old.get())) {
        return usage_error("{path} exists and is not a Tidemark trace; it is left alone. Select another name with -o.",
                           with("path", path));
    }
    if (old) {
        const LockAttempt attempt = try_lock(old.get());
        if (attempt == LockAttempt::held ||
            (attempt == LockAttempt::unsupported && without_locks == WithoutLocks::refuse)) {
            return not_locked(path, attempt, errno);
        }
    } else if (is_recorded_elsewhere(path)) {
        return not_locked(path, LockAttempt::held, 0);
    }
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
        return refusal(path, errno);
    }
    return {};
}

void remove_files_beside(const std::string& path) {
    for (const char* beside : {"-wal", "-shm", "-journal"}) {
        unlink((path + beside).c_str());
    }
}

}  // namespace tidemark
