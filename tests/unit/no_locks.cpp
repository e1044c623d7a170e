// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/unit/no_locks.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace {
std::atomic<int> refusal{0};
}  // namespace

/// Replaces the function of the C library in this program.
extern "C" int flock(int file, int operation) noexcept {
    if (const int reason = refusal.load(); reason != 0) {
        errno = reason;
        return -1;
    }
    return static_cast<int>(syscall(SYS_flock, file, operation));
}

namespace tidemark::test {

WithoutFileLocks::WithoutFileLocks(int reason) { refusal = reason; }
WithoutFileLocks::~WithoutFileLocks() { refusal = 0; }

}  // namespace tidemark::test
