// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Replays of the run with other allocator settings.
#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"

namespace tidemark {
namespace {

/// Returns the bytes that are free at the error because the program frees tensors earlier; nothing for settings.
std::optional<int64_t> bytes_freed_by(const OomCase& oom, const Change& change) {
    int64_t bytes = 0;
    for (const auto& [allocation, event] : change.freed_at) {
        bytes += event < oom.oom().event ? oom.bytes(allocation) : 0;
    }
    return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace

void oom_advice::allocator_settings(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    std::vector<std::string> in_vain;
    for (const Experiment& experiment : oom.experiments().tried) {
        const auto peak = with("peak", format_bytes(experiment.outcome.peak_reserved));
        const auto change = with("change", experiment.text);
        if (experiment.outcome.fits) {
            Fix fix{words("The request would have fit {change}: {peak} reserved at most.", change, peak),
                    experiment.code,
                    bytes_freed_by(oom, experiment.change),
                    {}};
            answer.fixes.push_back({std::move(fix), true});
        } else if (experiment.surely_fails) {
            in_vain.push_back(experiment.text);
        }
    }
    if (!in_vain.empty()) {
        answer.text.push_back(
            words("A replay with other settings fails as well: {settings}.", with("settings", words.list(in_vain))));
    }
}

}  // namespace tidemark
