// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The process's own limit refused the request although the device had enough free memory.
#include <algorithm>
#include <cmath>

#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"

namespace tidemark {

namespace {

/// Returns whether more and more tensors stay: such a leak reaches every limit. A tensor that grows may have a final
/// size, such as the results of an evaluation.
bool has_leak_of_tensors(const AnalysisContext& context) {
    return std::any_of(context.suspects().begin(), context.suspects().end(),
                       [](const LeakSuspect& suspect) { return suspect.growth == Growth::of_count; });
}

}  // namespace

void oom_advice::process_limit(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const int64_t total = oom.context().device().total_bytes;
    if (!oom.analysis().is_refused_by_limit() || total <= 0 || has_leak_of_tensors(oom.context())) {
        return;
    }
    const int64_t needed = static_cast<int64_t>(oom.analysis().state.reserved) + oom.analysis().requested();
    const double fraction = std::ceil(1000 * static_cast<double>(needed) / static_cast<double>(total)) / 1000;
    if (fraction < 1) {
        const auto bytes = with("bytes", format_bytes(needed));
        const bool grows = !oom.context().suspects().empty();
        add_fix(answer,
                grows ? words("Raise the limit if others do not need the memory: this request needs a limit of "
                              "{bytes}. Later ones need more, because the memory grows.",
                              bytes)
                      : words("Raise the limit if others do not need the memory: this request needs a limit of "
                              "{bytes}, later ones may need more.",
                              bytes),
                fmt::format("torch.cuda.set_per_process_memory_fraction({:.3f})", fraction));
    }
}

}  // namespace tidemark
