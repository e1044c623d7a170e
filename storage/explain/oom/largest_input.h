// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The comparison of the input that ran out of memory with inputs that fit, and the largest input that would have
// fitted.
#pragma once

#include <optional>

#include "storage/explain/oom/failed_iteration.h"
#include "storage/explain/oom/site_sizes.h"

namespace tidemark {

/// The failed iteration's input compared with an iteration that fit.
struct InputComparison {
    size_t iteration = 0;      ///< position in Iterations
    double ratio = 1;          ///< size of the failed input in units of that iteration's
    int64_t bytes_before = 0;  ///< allocated when the failed iteration began, minus that when the other one began
    Sizes failed, base;        ///< of the failed iteration and of that iteration
};
/// Returns nothing if the iterations do other work, or sizes have no common ratio.
std::optional<InputComparison> compare_input(const AnalysisContext& context, const SiteSizes& sizes,
                                             const FailedIteration& failed, size_t iteration);

struct LargestInput {
    double of_failed = 0;     ///< in units of the failed input
    double of_iteration = 0;  ///< in units of the input of InputComparison::iteration
    bool has_square = false;  ///< some memory grows with the square of the input
};
/// Divides the memory at the peak of an iteration that fit into parts that do not depend on the input, that grow with
/// it, and that grow with its square; returns the input with which their sum takes `capacity` bytes. Returns nothing
/// if the result contradicts the recording.
std::optional<LargestInput> largest_input(const AnalysisContext& context, const SiteSizes& sizes,
                                          const FailedIteration& failed, const InputComparison& comparison,
                                          int64_t capacity);

}  // namespace tidemark
