// How reports of all kinds call what is in an explanation.
#pragma once

#include <string>
#include <vector>

#include "storage/report/report.h"

namespace tidemark {

/// "Leak", "Failure", ...
std::string severity_title(const Words& words, Severity severity);
/// "certain", "likely", "possible"
std::string confidence_title(const Words& words, Confidence confidence);

/// "Device 0 (NVIDIA H200), the end of step 59, 12.345678 s"
std::string page_title(const ReportInput& reported, const Words& words);
/// What the shares add up to: "what nvidia-smi shows"
std::string total_phrase(const ReportInput& reported, const Words& words);

struct Fact {
    std::string label, value;
};
/// Bytes, count, growth, beginning, line and holder, where known.
std::vector<Fact> facts_of(const ReportInput& reported, const Finding& finding, const Words& words);

/// As `--at` takes it: "event:12", "time:34ns"; "" where no moment belongs to it.
std::string time_point_argument(const Evidence& evidence);
/// What else there is to look at: "allocation 12, node 5, until 3.400000 s", ids as other commands take them; or "".
std::string evidence_ids(const ReportInput& reported, const Evidence& evidence, const Words& words);
/// "Gives back 480 KiB, and 8.00 KiB each step."; "" where it is not known.
std::string gain_phrase(const ReportInput& reported, const Fix& fix, const Words& words);
/// "certain. Every allocation was seen."
std::string confidence_phrase(const Finding& finding, const Words& words);
/// "480 KiB, +8.00 KiB each step"
std::string size_phrase(const ReportInput& reported, const Finding& finding, const Words& words);

/// A background finding in a line: "the CUDA context and its kernels take 624 MiB"
std::string folded_phrase(const ReportInput& reported, const Finding& finding, const Words& words);

}  // namespace tidemark
