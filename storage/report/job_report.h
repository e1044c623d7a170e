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
/// Returns one HTML file with the heat map of the processes.
std::string job_html(const JobReportInput& reported, const Words& words);
/// Returns GitHub Markdown.
std::string job_markdown(const JobReportInput& reported, const Words& words);

/// Returns "GPU 0 of node1".
std::string gpu_phrase(const GpuTotal& gpu, const Words& words);
/// Returns "rank 0 1.20 GiB", ..., "others or unknown 300 MiB".
std::vector<std::string> gpu_parts(const JobReportInput& reported, const GpuTotal& gpu, const Words& words);
/// Returns what nvidia-smi shows, or else what is known.
int64_t gpu_used(const GpuTotal& gpu);
/// Returns that as a part of the GPU, 0 to 1; 0 if its size is unknown.
double gpu_share(const GpuTotal& gpu);

}  // namespace tidemark
