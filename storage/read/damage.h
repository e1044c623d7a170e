// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What is wrong in a trace that can be read nevertheless. Each kind of damage becomes one data gap.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

/// Counts damaged values while rows are read.
class Damage {
public:
    /// `device`: -1 for the whole trace.
    void add(DataGapReason reason, int64_t count = 1, int device = -1);
    void add(const Damage& other);

    /// Returns the time, or counts it and returns `otherwise` if it cannot be a time of the run.
    int64_t time(int64_t time, int64_t otherwise);
    std::optional<int64_t> time(std::optional<int64_t> time);
    /// Returns the end of a span, or counts it and returns `start` if it ends before it starts.
    int64_t end(int64_t start, int64_t end);
    std::optional<int64_t> end(int64_t start, std::optional<int64_t> end);

    std::vector<DataGap> data_gaps() const;

private:
    std::map<std::pair<int, DataGapReason>, int64_t> counts_;
};

}  // namespace tidemark
