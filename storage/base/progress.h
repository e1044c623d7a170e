// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Progress reports and cancellation of long operations.
#pragma once

#include <atomic>
#include <functional>

namespace tidemark {

/// Passed by reference to long operations. `report` is called on the working thread, at most about 100 times per phase.
/// Any thread may set `canceled`; the operation then ends with ErrorKind::canceled.
struct Progress {
    /// Receives the untranslated name of a phase and the completed fraction, 0 to 1.
    std::function<void(const char* phase, double fraction)> report = [](const char*, double) {};
    std::atomic<bool> canceled{false};
};

}  // namespace tidemark
