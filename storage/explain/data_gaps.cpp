#include "storage/explain/data_gaps.h"

#include <algorithm>

#include "storage/base/units.h"
#include "storage/breakdown/driver_components.h"

namespace tidemark {
namespace {

std::string data_gap_words(const Words& words, const DataGap& data_gap) {
    const auto count = with("count", format_count(data_gap.count));
    switch (data_gap.kind) {
        case DataGapKind::history_truncated:
            return words("The history lacks its beginning: the state before it was rebuilt from its end.");
        case DataGapKind::block_size_guessed: return words("The true size of {count} blocks had to be guessed.", count);
        case DataGapKind::events_inconsistent:
            return words("{count} events contradict each other; what depends on them may be wrong.", count);
        case DataGapKind::unknown_actions:
            return words("{count} events are of kinds this version does not know.", count);
        case DataGapKind::pool_unknown: return words("Of {count} segments the memory pool is not known.", count);
        case DataGapKind::recorder_overrun:
            return words("The recorder lost {count} events, because the program made them faster than it could write.",
                         count);
        case DataGapKind::unclean_end: return words("The recording was not ended; its last moments may be missing.");
        case DataGapKind::no_stacks:
            return words("{count} events carry no stack: their line of code is not known.", count);
        case DataGapKind::no_times:
            return words("The source has no times: rounds and durations are counted in events.");
        case DataGapKind::redacted: return words("Names were replaced or parts cut out before this trace was shared.");
        case DataGapKind::not_recorded: return words("Not recorded: {text}", with("text", data_gap.text));
        case DataGapKind::state_disagrees:
            return words("{count} blocks of the replayed state differ from PyTorch's own snapshot.", count);
    }
    return {};
}

}  // namespace

std::vector<std::string> what_was_not_recorded(const AnalysisContext& context, const Words& words) {
    std::vector<std::string> gaps;
    if (!context.graph()) {
        gaps.push_back(
            words("There is no autograd graph in this trace: which node or variable keeps memory alive is not "
                  "known. `tidemark record` would tell."));
    } else if (!context.graph()->referrers.scan()) {
        gaps.push_back(words("The program's objects were never searched: which variables hold tensors is not known."));
    }
    if (context.trace().samples.empty()) {
        gaps.push_back(
            words("There are no samples of NVML: what libraries, the CUDA context and other programs take is "
                  "not known. `tidemark record` would tell."));
    } else if (context.row().device_used && !has_driver_calls(context.trace(), context.device().device)) {
        gaps.push_back(
            words("Calls of the driver were not recorded: what libraries took cannot be told from the CUDA "
                  "context."));
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
