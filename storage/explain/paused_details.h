// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Parts of a recording in which the user had paused the details: allocations have no stack there, and are no evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

class PausedDetails {
public:
    explicit PausedDetails(const Trace& trace);

    bool any() const { return !pauses_.empty(); }
    /// Returns whether the details were paused at this time (ns since trace start).
    bool contains(int64_t time) const;
    /// Returns the start of the pause that had no end when the trace was read.
    std::optional<int64_t> open_since() const { return open_since_; }

private:
    std::vector<std::pair<int64_t, int64_t>> pauses_;  ///< start and end, by time
    std::optional<int64_t> open_since_;
};

}  // namespace tidemark
