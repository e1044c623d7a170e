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

/// Returns the bytes by which fixes are ranked. Stopping another process frees more than the program's own mistake, but
/// the mistake would remain.
int64_t bytes_for_rank(const OomFix& fix, const std::vector<OomFix>& all) {
    int64_t bytes = fix.fix.bytes.value_or(0);
    for (const OomFix& other : all) {
        if (fix.lever == OomLever::processes && other.fits && other.lever == OomLever::program) {
            bytes = std::min(bytes, other.fix.bytes.value_or(0) - 1);
        }
    }
    return bytes;
}

/// A fix and its rank: a larger one comes first.
struct RankedFix {
    std::tuple<bool, bool, int64_t> rank;
    OomFix fix;
};

}  // namespace

std::vector<Fix> ranked(const std::vector<OomFix>& fixes) {
    std::vector<RankedFix> by_rank;
    by_rank.reserve(fixes.size());
    for (const OomFix& fix : fixes) {
        by_rank.push_back({{fix.lever != OomLever::limit, fix.fits, bytes_for_rank(fix, fixes)}, fix});
    }
    std::stable_sort(by_rank.begin(), by_rank.end(),
                     [](const RankedFix& a, const RankedFix& b) { return a.rank > b.rank; });
    std::vector<Fix> ranked;
    ranked.reserve(fixes.size());
    for (auto& [rank, fix] : by_rank) {
        const bool is_repeated =
            std::any_of(ranked.begin(), ranked.end(), [&](const Fix& other) { return is_same_change(other, fix.fix); });
        if (!is_repeated) {
            ranked.push_back(std::move(fix.fix));
        }
    }
    return ranked;
}

namespace {

struct Advice {
    OomAdvice add = nullptr;
    OomLever lever = OomLever::program;
};

}  // namespace

void answer_oom(OomAnswer& answer, const OomCase& oom, const Words& words, Progress& progress) {
    constexpr std::array<Advice, 21> all{{{oom_advice::handled_exception},
                                          {oom_advice::gaps_beside_tensors},
                                          {oom_advice::uneven_devices},
                                          {oom_advice::compare_inputs, OomLever::demand},
                                          {oom_advice::growing_request},
                                          {oom_advice::other_processes, OomLever::processes},
                                          {oom_advice::optimizer_state, OomLever::demand},
                                          {oom_advice::joined_tensors},
                                          {oom_advice::batched_transform},
                                          {oom_advice::second_copy},
                                          {oom_advice::unused_graph},
                                          {oom_advice::attention_scores},
                                          {oom_advice::upcast_copy},
                                          {oom_advice::library_api},
                                          {oom_advice::activations, OomLever::demand},
                                          {oom_advice::refused_workspaces, OomLever::demand},
                                          {oom_advice::allocator_settings, OomLever::demand},
                                          {oom_advice::last_iteration},
                                          {oom_advice::large_results, OomLever::demand},
                                          {oom_advice::largest_referrer},
                                          {oom_advice::process_limit, OomLever::limit}}};
    for (const Advice& advice : all) {
        const size_t before = answer.fixes.size();
        advice.add(oom, words, answer, progress);
        for (size_t i = before; i < answer.fixes.size(); ++i) {
            answer.fixes[i].lever = advice.lever;
        }
    }
}

}  // namespace tidemark
