// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/data_gaps.h"

#include <algorithm>

#include "storage/base/units.h"
#include "storage/breakdown/driver_components.h"
#include "storage/explain/paused_details.h"
#include "storage/text/data_gap_words.h"

namespace tidemark {
std::vector<std::string> what_was_not_recorded(const AnalysisContext& context, const Words& words) {
    std::vector<std::string> gaps;
    if (!context.graph() && context.has_pytorch()) {
        gaps.push_back(
            words("The trace has no autograd graph: the node or variable that retains memory is unknown. `tidemark "
                  "record` records the graph."));
    } else if (context.graph() && !context.graph()->referrers.scan()) {
        gaps.push_back(words("The recording has no heap scan: the variables that retain tensors are unknown."));
    }
    if (context.trace().samples.empty()) {
        gaps.push_back(
            words("The trace has no NVML samples: the memory of libraries, the CUDA context and other programs is "
                  "unknown. `tidemark record` samples NVML."));
    } else if (context.row().device_used && !has_driver_calls(context.trace(), context.device().device)) {
        gaps.push_back(words(
            "Driver calls were not recorded: the memory of libraries cannot be separated from the CUDA context."));
    }
    if (context.graph()) {
        for (const DataGap& data_gap : context.graph()->tables().data_gaps) {
            gaps.push_back(data_gap_words(words, data_gap));
        }
    }
    for (const DataGap& data_gap : context.trace().data_gaps) {
        const bool is_in_summary = data_gap.reason == DataGapReason::late_start && context.lacks_history();
        if (!is_in_summary && (data_gap.device < 0 || data_gap.device == context.device().device)) {
            gaps.push_back(data_gap_words(words, data_gap));
        }
    }
    if (const auto since = PausedDetails(context.trace()).open_since()) {
        gaps.push_back(
            words("Details have been paused since {time}: memory that was allocated then has no stack, op, category or "
                  "referrer. `tidemark resume` records them again.",
                  with("time", format_time_point(*since))));
    }
    gaps.erase(std::unique(gaps.begin(), gaps.end()), gaps.end());
    return gaps;
}

}  // namespace tidemark
