// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The time after which a part of a search ends, on the steady clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace tidemark::heap {

class Deadline {
public:
    Deadline() = default;  ///< never
    explicit Deadline(int64_t longest_ns) : end_(Clock::now() + std::chrono::nanoseconds(longest_ns)) {}

    bool is_over() const { return end_ && Clock::now() > *end_; }

private:
    using Clock = std::chrono::steady_clock;
    std::optional<Clock::time_point> end_;
};

}  // namespace tidemark::heap
