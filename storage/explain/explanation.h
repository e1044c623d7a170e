// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The explanation of one device of a trace: a summary, the memory breakdown, and findings.
#pragma once

#include <string>
#include <vector>

#include "storage/explain/finding.h"

namespace tidemark {

/// The trend of the whole run.
enum class RunTrend : uint8_t {
    grows,          ///< allocated or reserved memory rises from iteration to iteration
    out_of_memory,  ///< the run ended with an OOM; memory may have grown as well
    steady,         ///< memory does not rise after the first iterations
    too_short,      ///< there are no iterations to compare
};
std::string_view run_trend_word(RunTrend run_trend);

/// A part of the memory in use; all parts add up to the total.
struct Share {
    std::string name;
    int64_t bytes = 0;
    double of_total = 0;                          ///< 0 to 1
    std::optional<ComponentKind> component = {};  ///< of the memory breakdown; nothing: several components together
    std::optional<Category> category = {};        ///< of the program's tensors, where categories are known
};

struct Explanation {
    int device = 0;
    std::string device_name;
    EventNumber event = 0;   ///< the explained state: the end of the last iteration, or the OOM
    int64_t time = 0;        ///< of that state, ns since trace start
    std::string time_point;  ///< in words: "the end of step 59"
    RunTrend run_trend = RunTrend::steady;

    std::vector<std::string>
        summary;  ///< where the memory is, whether it grows, what to do first, and what else is known
    std::vector<std::string> answer;  ///< of these, whether it grows and what to do first
    int64_t total = 0;                ///< bytes that nvidia-smi shows, or otherwise all known bytes
    std::vector<Share> shares;        ///< most bytes first; small ones are combined

    std::vector<Finding> findings;      ///< most serious first, then most bytes
    std::vector<std::string> unknowns;  ///< data gaps, for all findings
};

}  // namespace tidemark
