// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares a run with an earlier run of the same program, for `tidemark check --baseline`.
#pragma once

#include <string>
#include <vector>

#include "recorder/cli/check/verifier.h"

namespace tidemark::cli {

/// How much more than in the baseline is allowed.
struct Increase {
    double share = 0;   ///< of the baseline's value; 0 if `bytes` counts
    int64_t bytes = 0;  ///< of peaks only: growth by as many bytes in each step would be a leak
    std::string text;   ///< as the user wrote it

    int64_t of(Quantity quantity, int64_t value) const;
};

/// Parses "2%" or "64MiB". Error (usage): the text is neither.
Result<Increase> parse_increase(const std::string& text);

/// Verifies that the peaks and the growth of a device exceed those of the baseline by no more than `increase`, and that
/// it has no leak, failure or waste that the baseline lacks. Growth is left out if neither run has enough steps.
/// `baseline`: the same device of the earlier run, or its only device.
std::vector<Verified> verify_against(const Explained& baseline, const Explained& device, const Increase& increase,
                                     const Words& words);

/// Returns the result for a device that the baseline lacks. `lacking`: "device 1", "rank 3".
std::vector<Verified> without_baseline(const std::string& lacking, const Words& words);

}  // namespace tidemark::cli
