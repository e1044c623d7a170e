// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The process's own limit refused the request although the device had enough free memory.
#include <cmath>

#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"

namespace tidemark {

void oom_advice::process_limit(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const int64_t total = oom.context().device().total_bytes;
    // A leak reaches every limit.
    if (!oom.analysis().is_refused_by_limit() || total <= 0 || !oom.context().suspects().empty()) {
        return;
    }
    const int64_t needed = static_cast<int64_t>(oom.analysis().state.reserved) + oom.analysis().requested();
    const double fraction = std::ceil(1000 * static_cast<double>(needed) / static_cast<double>(total)) / 1000;
    if (fraction < 1) {
        add_fix(answer,
                words("Raise the limit if others do not need the memory: this request needs a limit of {bytes}, later "
                      "ones may need more.",
                      with("bytes", format_bytes(needed))),
                fmt::format("torch.cuda.set_per_process_memory_fraction({:.3f})", fraction));
    }
}

}  // namespace tidemark
