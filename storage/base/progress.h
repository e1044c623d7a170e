// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Progress reports of long work, and its cancellation.
#pragma once

#include <atomic>
#include <functional>

namespace tidemark {

/// Passed by reference into long work. `report` is called on the working thread, at most about 100 times
/// per phase. `canceled` may be set from any thread; the work then ends with ErrorKind::canceled.
struct Progress {
    /// A phase's untranslated name (see phase names where they are used) and the part done, 0 to 1.
    std::function<void(const char* phase, double fraction)> report = [](const char*, double) {};
    std::atomic<bool> canceled{false};
};

}  // namespace tidemark
