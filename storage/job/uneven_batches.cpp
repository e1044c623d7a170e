// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/uneven_batches.h"

namespace tidemark {

bool is_of_each_step(const ProcessSummary& process, const SiteMemory& site) {
    constexpr int64_t fewest_steps = 3, steps_of_life = 2;
    if (process.steps < fewest_steps || site.allocated < process.steps || process.step_ends.size() < 2) {
        return false;
    }
    const StepEnd &first = process.step_ends.front(), &last = process.step_ends.back();
    const int64_t step = (last.time - first.time) / (last.number - first.number);
    return site.median_lifetime > 0 && site.median_lifetime < steps_of_life * step;
}

std::optional<double> larger_by(const SiteMemory& site, const SiteMemory& other) {
    constexpr double least = 1.2;
    constexpr int64_t most_times = 2;  // steps that repeat are not counted, and not the same ones on each rank
    const bool as_often =
        site.allocated <= most_times * other.allocated && other.allocated <= most_times * site.allocated;
    const bool depends_on_batch = site.category != Category::parameter && site.category != Category::gradient &&
                                  site.category != Category::optimizer_state &&
                                  site.category != Category::communication && site.category != Category::unsharded;
    if (!as_often || !depends_on_batch || other.at_peak <= 0) {
        return std::nullopt;
    }
    const double factor = static_cast<double>(site.at_peak) / static_cast<double>(other.at_peak);
    return factor >= least ? std::optional(factor) : std::nullopt;
}

}  // namespace tidemark
