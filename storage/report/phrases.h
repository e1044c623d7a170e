// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Phrases about an explanation that all report formats share.
#pragma once

#include <string>
#include <vector>

#include "storage/report/report.h"

namespace tidemark {

/// Returns "Leak", "Failure", ...
std::string severity_title(const Words& words, Severity severity);
/// Returns "certain", "likely", "possible".
std::string confidence_title(const Words& words, Confidence confidence);

/// Returns "Device 0 (NVIDIA H200), the end of step 59, 12.345678 s".
std::string page_title(const ReportInput& reported, const Words& words);
/// Returns the label of the sum of all shares: "total, as nvidia-smi shows it".
std::string total_phrase(const ReportInput& reported, const Words& words);

struct LabeledFact {
    std::string label, value;
};
/// Returns bytes, count, growth, beginning, line and referrer; omits unknown ones.
std::vector<LabeledFact> facts_of(const Finding& finding, const Words& words);

/// Returns an argument of `--at`: "event:12", "time:34ns"; "" for evidence without a point in time.
std::string time_point_argument(const Evidence& evidence);
/// Returns ids for other commands: "allocation 12, node 5, until 3.400000 s"; "" without ids.
std::string evidence_ids(const ReportInput& reported, const Evidence& evidence, const Words& words);
/// Returns "Frees 480 KiB, and 8.00 KiB per step."; "" if unknown.
std::string gain_phrase(const Finding& finding, const Fix& fix, const Words& words);
/// Returns a step of a retention path with its line: "autograd node MulBackward0 (train.py:31 main)".
std::string step_phrase(const RetentionStep& step);
/// Returns "certain. Every allocation was seen."
std::string confidence_phrase(const Finding& finding, const Words& words);
/// Returns the bytes and the growth: "480 KiB, +8.00 KiB per step".
std::string size_phrase(const Finding& finding, const Words& words);

/// Returns a background finding in one line: "the CUDA context and its kernels take 624 MiB".
std::string folded_phrase(const Finding& finding, const Words& words);

}  // namespace tidemark
