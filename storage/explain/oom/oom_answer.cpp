// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/oom/oom_answer.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "storage/base/units.h"

namespace tidemark {

void add_fix(OomAnswer& answer, const OomCase& oom, const Words& words, std::string text, std::string code,
             int64_t bytes) {
    const bool fits = oom.fits_without(bytes);
    const std::string consequence = fits ? words("The request would then have fit.") : std::string();
    answer.fixes.push_back({{words.sentences({std::move(text), consequence}), std::move(code), bytes, {}}, fits});
}

void add_fix(OomAnswer& answer, std::string text, std::string code) {
    answer.fixes.push_back({{std::move(text), std::move(code), {}, {}}, false});
}

namespace {

/// Returns whether two pieces of advice, as of the leak and of the request, name one change of the program.
bool is_same_change(const Fix& a, const Fix& b) { return a.code.empty() ? a.text == b.text : a.code == b.code; }

}  // namespace

std::vector<Fix> ranked(std::vector<OomFix> fixes) {
    std::stable_sort(fixes.begin(), fixes.end(), [](const OomFix& a, const OomFix& b) {
        return std::tuple(a.fits, a.fix.bytes.value_or(0)) > std::tuple(b.fits, b.fix.bytes.value_or(0));
    });
    std::vector<Fix> ranked;
    ranked.reserve(fixes.size());
    for (OomFix& fix : fixes) {
        const bool is_repeated =
            std::any_of(ranked.begin(), ranked.end(), [&](const Fix& other) { return is_same_change(other, fix.fix); });
        if (!is_repeated) {
            ranked.push_back(std::move(fix.fix));
        }
    }
    return ranked;
}

void answer_oom(OomAnswer& answer, const OomCase& oom, const Words& words, Progress& progress) {
    constexpr std::array<OomAdvice, 19> all{
        oom_advice::handled_exception, oom_advice::uneven_devices,     oom_advice::compare_inputs,
        oom_advice::other_processes,   oom_advice::optimizer_state,    oom_advice::joined_tensors,
        oom_advice::batched_transform, oom_advice::second_copy,        oom_advice::unused_graph,
        oom_advice::attention_scores,  oom_advice::upcast_copy,        oom_advice::library_api,
        oom_advice::activations,       oom_advice::refused_workspaces, oom_advice::allocator_settings,
        oom_advice::process_limit,     oom_advice::last_iteration,     oom_advice::large_results,
        oom_advice::largest_referrer};
    for (const OomAdvice advice : all) {
        advice(oom, words, answer, progress);
    }
}

}  // namespace tidemark
