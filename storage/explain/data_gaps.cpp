#include "storage/explain/data_gaps.h"

#include <algorithm>

#include "storage/breakdown/driver_components.h"
#include "storage/text/data_gap_words.h"

namespace tidemark {

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
