// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A machine whose file systems have no locks: flock() of this program fails.
#pragma once

namespace tidemark::test {

/// Makes flock() fail with this error number during its lifetime.
class WithoutFileLocks {
public:
    explicit WithoutFileLocks(int reason);
    WithoutFileLocks(const WithoutFileLocks&) = delete;
    WithoutFileLocks& operator=(const WithoutFileLocks&) = delete;
    ~WithoutFileLocks();
};

}  // namespace tidemark::test
