// The whole answer about one device of a trace: a headline, where the memory is, and findings.
#pragma once

#include <string>
#include <vector>

#include "storage/explain/finding.h"

namespace tidemark {

/// What the run as a whole does.
enum class RunTrend : uint8_t {
    grows,          ///< allocated or reserved memory rises from round to round
    out_of_memory,  ///< it ended, or was interrupted, by an OOM; may have grown as well
    steady,         ///< after the first rounds nothing rises any more
    too_short,      ///< no rounds to compare: what is there is described
};
std::string_view run_trend_word(RunTrend run_trend);

/// A part of the memory in use; all of them add up to the total.
struct Share {
    std::string name;
    int64_t bytes = 0;
    double of_total = 0;                          ///< 0 to 1
    std::optional<ComponentKind> component = {};  ///< of the ledger; nothing: put together from several
    std::optional<Category> category = {};        ///< of the program's tensors, where they are told apart
};

struct Explanation {
    int device = 0;
    std::string device_name;
    EventNumber event = 0;   ///< the moment it is about: the end of the last round, or the OOM
    int64_t time = 0;        ///< of it, ns since trace start
    std::string time_point;  ///< in words: "the end of step 59"
    RunTrend run_trend = RunTrend::steady;

    std::vector<std::string> summary;  ///< three sentences
    int64_t total = 0;                 ///< what nvidia-smi shows, or all that is known
    std::vector<Share> shares;         ///< most bytes first; what is tiny is put together

    std::vector<Finding> findings;      ///< most serious first, then most bytes
    std::vector<std::string> unknowns;  ///< what was not recorded, for all findings
};

}  // namespace tidemark
