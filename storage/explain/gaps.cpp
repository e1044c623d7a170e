#include "storage/explain/gaps.h"

#include <algorithm>

#include "storage/base/units.h"
#include "storage/ledger/driver_layers.h"

namespace tidemark {
namespace {

std::string loss_words(const Words& words, const Loss& loss) {
    const auto count = with("count", format_count(loss.count));
    switch (loss.kind) {
        case LossKind::history_truncated:
            return words("The history lacks its beginning: the state before it was rebuilt from its end.");
        case LossKind::block_size_guessed: return words("The true size of {count} blocks had to be guessed.", count);
        case LossKind::events_inconsistent:
            return words("{count} events contradict each other; what depends on them may be wrong.", count);
        case LossKind::unknown_actions: return words("{count} events are of kinds this version does not know.", count);
        case LossKind::pool_unknown: return words("Of {count} segments the memory pool is not known.", count);
        case LossKind::recorder_overrun:
            return words("The recorder lost {count} events, because the program made them faster than it could write.",
                         count);
        case LossKind::unclean_end: return words("The recording was not ended; its last moments may be missing.");
        case LossKind::no_stacks:
            return words("{count} events carry no stack: their line of code is not known.", count);
        case LossKind::no_times: return words("The source has no times: rounds and durations are counted in events.");
        case LossKind::redacted: return words("Names were replaced or parts cut out before this trace was shared.");
        case LossKind::not_recorded: return words("Not recorded: {text}", with("text", loss.text));
        case LossKind::state_disagrees:
            return words("{count} blocks of the replayed state differ from PyTorch's own snapshot.", count);
    }
    return {};
}

}  // namespace

std::vector<std::string> what_was_not_recorded(const Case& of, const Words& words) {
    std::vector<std::string> gaps;
    if (!of.graph()) {
        gaps.push_back(
            words("There is no autograd graph in this trace: which node or variable keeps memory alive is not "
                  "known. `tidemark record` would tell."));
    } else if (!of.graph()->holders.scan()) {
        gaps.push_back(words("The program's objects were never searched: which variables hold tensors is not known."));
    }
    if (of.trace().samples.empty()) {
        gaps.push_back(
            words("There are no samples of NVML: what libraries, the CUDA context and other programs take is "
                  "not known. `tidemark record` would tell."));
    } else if (of.row().device_used && !has_driver_calls(of.trace(), of.device().device)) {
        gaps.push_back(
            words("Calls of the driver were not recorded: what libraries took cannot be told from the CUDA "
                  "context."));
    }
    for (const Loss& loss : of.trace().losses) {
        if (loss.device < 0 || loss.device == of.device().device) {
            gaps.push_back(loss_words(words, loss));
        }
    }
    gaps.erase(std::unique(gaps.begin(), gaps.end()), gaps.end());
    return gaps;
}

}  // namespace tidemark
