// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/experiments.h"

#include <algorithm>

#include "storage/allocator/rules.h"
#include "storage/base/units.h"

namespace tidemark {
namespace {

/// A replay takes about 100 ns per event, so all replays together take less than a second.
constexpr int64_t most_events = 1'000'000;

/// A setting that saves less than this part of the peak (1 / 100) is not recommended.
constexpr int64_t least_saving = 100;

constexpr std::string_view variable = "export PYTORCH_CUDA_ALLOC_CONF=";

std::string environment(std::string_view setting) { return std::string(variable) + std::string(setting); }

Experiment setting(const Words& words, std::string_view text, Change change) {
    return {words("with {setting}", with("setting", text)), environment(text), std::move(change), {}};
}

Change with_expandable() {
    Change change;
    change.expandable_segments = true;
    return change;
}

/// Adds the settings that the recording does not use: one that is on would be recommended in vain.
void add_settings_that_are_off(std::vector<Experiment>& list, const AnalysisContext& context, const Words& words) {
    const AllocatorSettings recorded = AllocatorSettings::from_text(context.trace().settings);
    Change split, divisions, collecting;
    split.max_split_size = 128 << 20;
    divisions.roundup_divisions.emplace().fill(8);
    collecting.garbage_collection_threshold = 0.8;
    if (!uses_expandable_segments(context)) {
        list.push_back(setting(words, "expandable_segments:True", with_expandable()));
    }
    if (recorded.max_split_size == UINT64_MAX) {
        list.push_back(setting(words, "max_split_size_mb:128", std::move(split)));
    }
    if (std::all_of(recorded.roundup_divisions.begin(), recorded.roundup_divisions.end(),
                    [](uint64_t count) { return count <= 1; })) {
        list.push_back(setting(words, "roundup_power2_divisions:8", std::move(divisions)));
    }
    if (recorded.garbage_collection_threshold <= 0) {
        list.push_back(setting(words, "garbage_collection_threshold:0.8", std::move(collecting)));
    }
}

std::vector<Experiment> settings_to_try(const AnalysisContext& context, const Words& words,
                                        std::optional<EventNumber> failure) {
    std::vector<Experiment> list;
    if (std::optional<Change> change = without_suspects(context, failure.value_or(context.now()))) {
        list.push_back({words("with the leak suspects freed after each iteration"), "", std::move(*change), {}});
    }
    add_settings_that_are_off(list, context, words);
    if (failure) {
        Change emptied;
        emptied.empty_cache_at = {*failure};
        list.push_back({words("with torch.cuda.empty_cache() right before the request"),
                        "torch.cuda.empty_cache()",
                        std::move(emptied),
                        {}});
    }
    return list;
}

/// Returns whether the replay fails for every capacity that the recording allows.
bool surely_fails(const AnalysisContext& context, const Experiment& experiment, const std::optional<Capacity>& capacity,
                  Progress& progress) {
    if (experiment.outcome.fits || !capacity || capacity->is_exact || capacity->at_most == INT64_MAX) {
        return !experiment.outcome.fits;
    }
    const Capacity largest{capacity->at_most - 1, true, capacity->at_most};
    const auto outcome = what_if(context.trace(), context.device(), experiment.change, largest, progress);
    return outcome && !outcome->fits;
}

/// Returns whether the model reserves nearly as much at most as the program did. Then a comparison of peaks is a good
/// estimate even if blocks lie elsewhere.
bool has_recorded_peak(const AnalysisContext& context, const Outcome& modeled) {
    constexpr int64_t tolerance = 50;  // 1 / 50
    const int64_t recorded = context.curves().extremes(Series::reserved, 0, context.device().event_count()).max;
    return std::abs(modeled.peak_reserved - recorded) * tolerance <= recorded;
}

/// What the caller concludes from a replay.
enum class Needs : uint8_t {
    exact_blocks,  ///< whether a request would have fit
    peak,          ///< how much would have been reserved
};

Experiments run(const AnalysisContext& context, const Words& words, std::vector<Experiment> list, Needs needs,
                Progress& progress) {
    Experiments experiments;
    experiments.capacity = find_capacity(context.trace(), context.device());
    if (context.device().event_count() > most_events) {
        experiments.why_not = words("The trace has too many events for a replay with other settings.");
        return experiments;
    }
    const ModelCheck check = check_model(context.trace(), context.device(), progress);
    std::optional<Outcome> recorded;
    if (!check.difference || needs == Needs::peak) {
        if (auto outcome = what_if(context.trace(), context.device(), {}, {}, progress)) {
            recorded = *outcome;
        }
    }
    if (check.difference && (!recorded || !has_recorded_peak(context, *recorded))) {
        experiments.why_not = words(
            "Other settings were not replayed: the allocator model does not reproduce this recording ({difference}).",
            with("difference", *check.difference));
        return experiments;
    }
    if (!recorded) {
        return experiments;
    }
    if (check.difference) {
        experiments.estimate = words(
            "What other settings would have reserved is an estimate: the allocator model has the recorded peak, but "
            "not every block in its place ({difference}).",
            with("difference", *check.difference));
    }
    experiments.as_recorded = *recorded;
    for (Experiment& experiment : list) {
        if (auto outcome =
                what_if(context.trace(), context.device(), experiment.change, experiments.capacity, progress)) {
            experiment.outcome = *outcome;
            experiment.surely_fails = surely_fails(context, experiment, experiments.capacity, progress);
            experiments.tried.push_back(std::move(experiment));
        }
    }
    experiments.was_tried = !experiments.tried.empty();
    return experiments;
}

}  // namespace

std::optional<Change> without_suspects(const AnalysisContext& context, EventNumber until) {
    Change change;
    int64_t grown = 0, freed = 0;
    const Iterations& iterations = context.iterations();
    const Allocations& allocations = context.device().allocations;
    for (const LeakSuspect& suspect : context.suspects()) {
        grown += suspect.bytes;
        for (const Site* site : suspect.sites) {
            for (const AllocationIndex a : site->now) {
                const int64_t iteration = iterations.at(allocations.alloc_event[a]) + 1;
                if (iteration >= 0 && iteration < static_cast<int64_t>(iterations.size())) {
                    const EventNumber end = iterations[static_cast<size_t>(iteration)].last;
                    change.freed_at.emplace_back(a, end);
                    freed += end < until ? static_cast<int64_t>(allocations.block_size[a]) : 0;
                }
            }
        }
    }
    return freed > 0 && freed * 2 >= grown ? std::optional(std::move(change)) : std::nullopt;
}

Experiments try_settings(const AnalysisContext& context, const Words& words, std::optional<EventNumber> failure,
                         Progress& progress) {
    return run(context, words, settings_to_try(context, words, failure), Needs::exact_blocks, progress);
}

bool uses_expandable_segments(const AnalysisContext& context) {
    const auto is_expandable = [](const Segment& segment) { return segment.is_expandable; };
    const auto& devices = context.trace().devices;
    return AllocatorSettings::from_text(context.trace().settings).expandable_segments ||
           std::any_of(devices.begin(), devices.end(), [&](const DeviceHistory& device) {
               return std::any_of(device.segments.begin(), device.segments.end(), is_expandable);
           });
}

bool is_allocator_setting(const Fix& fix) { return fix.code.starts_with(variable); }

Experiments try_expandable(const AnalysisContext& context, const Words& words, Progress& progress) {
    if (uses_expandable_segments(context)) {
        return {};
    }
    std::vector<Experiment> one;
    one.push_back(setting(words, "expandable_segments:True", with_expandable()));
    return run(context, words, std::move(one), Needs::peak, progress);
}

void add_expandable_fix(Finding& finding, const AnalysisContext& context, const Words& words, Progress& progress) {
    const Experiments experiments = try_expandable(context, words, progress);
    if (!experiments.was_tried) {
        if (!experiments.why_not.empty()) {
            finding.unknowns.push_back(experiments.why_not);
        }
        return;
    }
    const Outcome& outcome = experiments.tried.front().outcome;
    const int64_t recorded = context.curves().extremes(Series::reserved, 0, context.device().event_count()).max;
    // The model may reserve more than the program did where the recording is incomplete, or a little less.
    const int64_t saved = std::min(experiments.as_recorded.peak_reserved, recorded) - outcome.peak_reserved;
    if (saved > 0 && saved * least_saving >= recorded) {
        finding.fixes.push_back(
            {words("With expandable_segments:True the same requests would have reserved {bytes} at "
                   "most, instead of {recorded}.",
                   with("bytes", format_bytes(outcome.peak_reserved)), with("recorded", format_bytes(recorded))),
             experiments.tried.front().code,
             recorded - outcome.peak_reserved,
             {}});
        if (!experiments.estimate.empty()) {
            finding.unknowns.push_back(experiments.estimate);
        }
    }
}

}  // namespace tidemark
