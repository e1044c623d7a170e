#include "storage/explain/data_gaps.h"

#include <algorithm>

#include "storage/breakdown/driver_components.h"
#include "storage/text/data_gap_words.h"

namespace tidemark {
namespace {

std::string data_gap_words(const Words& words, const DataGap& data_gap) {
    const auto count = with("count", format_count(data_gap.count));
    switch (data_gap.kind) {
        case DataGapKind::history_truncated:
            return words("The history lacks its beginning; the state before it was derived from its end.");
        case DataGapKind::block_size_guessed:
            return words("The exact size is unknown for {count} blocks and was estimated.", count);
        case DataGapKind::events_inconsistent:
            return words("Contradictory events: {count}. Results that depend on them may be wrong.", count);
        case DataGapKind::unknown_actions:
            return words("Events of kinds that this version does not know: {count}.", count);
        case DataGapKind::pool_unknown: return words("Segments whose memory pool is unknown: {count}.", count);
        case DataGapKind::recorder_overrun:
            return words(
                "The recorder lost events: {count}. The program produced them faster than the recorder wrote them.",
                count);
        case DataGapKind::unclean_end:
            return words("The recording did not end cleanly; its last events may be missing.");
        case DataGapKind::no_stacks:
            return words("Events without a stack: {count}. Their line of code is unknown.", count);
        case DataGapKind::no_times:
            return words("The source has no times: iterations and durations are counted in events.");
        case DataGapKind::redacted:
            return words("Names were replaced or parts were removed before this trace was shared.");
        case DataGapKind::not_recorded: return words("Not recorded: {text}", with("text", data_gap.text));
        case DataGapKind::state_disagrees:
            return words("Blocks of the replayed state that differ from PyTorch's own snapshot: {count}.", count);
    }
    return {};
}

}  // namespace

std::vector<std::string> what_was_not_recorded(const AnalysisContext& context, const Words& words) {
    std::vector<std::string> gaps;
    if (!context.graph()) {
        gaps.push_back(
            words("The trace has no autograd graph: the node or variable that retains memory is unknown. `tidemark "
                  "record` records the graph."));
    } else if (!context.graph()->referrers.scan()) {
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
    for (const DataGap& data_gap : context.trace().data_gaps) {
        if (data_gap.device < 0 || data_gap.device == context.device().device) {
            gaps.push_back(data_gap_words(words, data_gap));
        }
    }
    gaps.erase(std::unique(gaps.begin(), gaps.end()), gaps.end());
    return gaps;
}

}  // namespace tidemark
