// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Explains a job: what all its ranks share, which ranks differ, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/job/job.h"

namespace tidemark {

enum class JobFindingKind : uint8_t {
    out_of_memory,    ///< of one or more ranks; what the others had free
    rank_growth,      ///< memory grows on some ranks only
    rank_imbalance,   ///< some ranks retain more than the others
    late_free,        ///< a rank frees memory later than the others
    stage_imbalance,  ///< the ranks hold different parts of the model
    peak_imbalance,   ///< some ranks need more at their peak
    steps_differ,     ///< a rank made fewer steps
    some_ranks,       ///< a finding of some ranks' traces
    shared,           ///< a finding of all ranks' traces
};
/// Returns "out-of-memory", "rank-growth", ...
std::string_view job_finding_word(JobFindingKind kind);

struct JobFinding {
    JobFindingKind kind = JobFindingKind::shared;
    Severity severity = Severity::pattern;
    std::vector<size_t> members;  ///< positions in Job::members; the first is the one to look at
    std::string title;            ///< one line
    std::vector<std::string> text;
    std::string line, referrer;  ///< as in FindingSummary
    FixTexts fix;
    int64_t bytes = 0;                     ///< of one rank: more than the others, or of the finding
    std::optional<int64_t> per_iteration;  ///< of one rank
    std::optional<FindingKind> of_trace;   ///< the finding of the members' traces that it repeats
};

/// The memory of one GPU at the end of the job's traces: the sum is what nvidia-smi shows.
struct GpuTotal {
    std::string node, uuid, name;
    int device = 0;           ///< as the first rank on it numbers it
    int64_t total_bytes = 0;  ///< of the GPU; 0: unknown
    std::optional<int64_t> used;
    struct Part {
        size_t member;  ///< position in Job::members
        int64_t bytes;
    };
    std::vector<Part> parts;  ///< of the job's processes
    int64_t rest = 0;         ///< used by other processes, or unknown
};

struct JobExplanation {
    std::vector<std::string> summary;
    std::vector<JobFinding> findings;  ///< most serious first
    std::vector<GpuTotal> gpus;        ///< by node and device
    std::vector<std::string> unknowns;
};

/// Takes microseconds per rank: reads summaries only.
JobExplanation explain_job(const Job& job, const Words& words);

/// Returns "rank 3", "ranks 0 and 2", "ranks 0 to 7", "ranks 0, 1, 5 and 12 others". `members`: positions of ranks.
std::string ranks_phrase(const Job& job, const std::vector<size_t>& members, const Words& words);

}  // namespace tidemark
