// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Replays of the run with other allocator settings.
#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"

namespace tidemark {

void oom_advice::allocator_settings(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    std::vector<std::string> in_vain;
    for (const Experiment& experiment : oom.experiments().tried) {
        const auto peak = with("peak", format_bytes(experiment.outcome.peak_reserved));
        const auto change = with("change", experiment.text);
        if (experiment.outcome.fits) {
            Fix fix{words("The request would have fit {change}: {peak} reserved at most.", change, peak),
                    experiment.code,
                    {},
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
