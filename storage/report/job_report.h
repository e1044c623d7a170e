// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Formats the explanation of a job.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "storage/job/explain_job.h"
#include "storage/report/report.h"

namespace tidemark {

struct JobReportInput {
    const Job& job;
    const JobExplanation& explanation;
};

/// Returns text for a terminal, as report_text().
std::string job_text(const JobReportInput& reported, const Words& words, const TextOptions& options);
/// docs/EXPLAIN.md describes the keys. Times are ns since 1970 on the clock of the first rank's node.
nlohmann::ordered_json job_json(const JobReportInput& reported, const Words& words);
/// Returns GitHub Markdown.
std::string job_markdown(const JobReportInput& reported, const Words& words);

/// Returns "GPU 0 of node1".
std::string gpu_phrase(const GpuTotal& gpu, const Words& words);

}  // namespace tidemark
