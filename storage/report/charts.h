// The plots of an HTML report, drawn from the case.
#pragma once

#include <string>

#include "storage/report/report.h"

namespace tidemark {

/// A plot with its heading and its legend, as HTML; "" where there is nothing to draw.

/// What the memory was made of over time, with nvidia-smi's figure, rounds, and the findings' moments as flags.
std::string components_chart(const ReportInput& reported, const Words& words);
/// The lowest allocated memory of each round: what stays.
std::string floor_chart(const ReportInput& reported, const Words& words);
/// What a finding's line holds at the end of each round.
std::string finding_chart(const ReportInput& reported, const Finding& finding, const Words& words);

}  // namespace tidemark
