// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares two runs of a job, each rank with the same rank of the other run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/job/job.h"

namespace tidemark {

/// A value of both runs; nothing: the run has no trace of this rank, or it used no GPU.
struct BothRuns {
    std::optional<int64_t> a, b;

    /// Returns how much more B has; 0 unless both have a value.
    int64_t difference() const { return a && b ? *b - *a : 0; }
};

struct RankChange {
    int64_t rank = 0;
    BothRuns peak, end;  ///< allocated bytes at the peak and at the end
    BothRuns growth;     ///< bytes that leaks of GPU memory add in each iteration
};

/// An allocation site of a rank, at the peak of each run.
struct SiteChange {
    std::string line;
    Category category = Category::unknown;
    int64_t a = 0, b = 0;

    int64_t difference() const { return b - a; }
};

struct JobComparison {
    std::vector<RankChange> ranks;       ///< ascending
    std::optional<size_t> most_changed;  ///< position in `ranks`; nothing: no rank has another peak or end
    std::vector<SiteChange> sites;       ///< of that rank, those that differ; the largest difference first
};

/// Reads summaries only.
JobComparison compare_jobs(const Job& a, const Job& b);

}  // namespace tidemark
