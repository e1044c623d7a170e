// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S11: reserved memory rises with each new largest iteration and stays; allocated memory falls again.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/experiments.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;  ///< reserved bytes that a smaller iteration leaves unused
constexpr double clearly_smaller = 0.67;   ///< peak of the last iterations, relative to the largest

/// The iteration that needs most memory, and the memory of the last iterations.
struct Rise {
    std::optional<size_t> iteration;  ///< with the highest peak; nothing if the peak is before or after them
    bool is_after = false;            ///< whether the peak is after them
    EventNumber event = 0;            ///< of that peak
    int64_t peak = 0;                 ///< allocated bytes
    int64_t later = 0;                ///< highest peak of the last quarter of the iterations
};

std::optional<Rise> find_rise(const AnalysisContext& context) {
    const std::vector<int64_t>& peaks = context.allocated_peaks();
    if (peaks.size() < 3) {
        return std::nullopt;
    }
    const auto highest = std::max_element(peaks.begin(), peaks.end());
    const size_t last = std::max<size_t>(1, peaks.size() / 4);
    const Extremes all = context.curves().extremes(Series::allocated, 0, context.now());
    Rise rise;
    rise.event = all.max_event;
    rise.peak = all.max;
    rise.later = *std::max_element(peaks.end() - static_cast<std::ptrdiff_t>(last), peaks.end());
    if (*highest == all.max) {
        rise.iteration = static_cast<size_t>(highest - peaks.begin());
    } else {
        rise.is_after = rise.event >= context.iterations().all().back().last;
    }
    const int64_t left = std::max(rise.later, context.curves().value(Series::allocated, context.now()));
    const bool fell = static_cast<double>(left) < clearly_smaller * static_cast<double>(rise.peak);
    return fell ? std::optional(rise) : std::nullopt;
}

/// Returns the stack of the last allocation before the peak, which completed it.
StackId stack_of_peak(const AnalysisContext& context, EventNumber state) {
    const EventRef ref = state > 0 ? context.device().event_ref[static_cast<size_t>(state - 1)] : EventRef();
    return state > 0 && ref.action() == Action::alloc ? context.device().allocations.stack[ref.index()] : 0;
}

Evidence evidence_of(const AnalysisContext& context, const Words& words, const Rise& rise, const std::string& name) {
    if (rise.iteration) {
        return at_iteration(context, context.iterations(),
                            words("The largest peak: {iteration}", with("iteration", name)),
                            static_cast<int64_t>(*rise.iteration));
    }
    return at_event(
        context,
        rise.is_after ? words("The peak after the last iteration") : words("The peak before the first iteration"),
        rise.event);
}

void run(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings,
         Progress& progress) {
    const int64_t reserved = context.curves().value(Series::reserved, context.now());
    const std::optional<Rise> rise = find_rise(context);
    // At an out-of-memory error the memory is in use.
    const bool is_failure = context.out_of_memory() && context.now() == context.out_of_memory()->event + 1;
    if (is_failure || !rise || reserved < rise->peak || reserved - rise->later < least_bytes ||
        !context.suspects().empty() || std::any_of(earlier.begin(), earlier.end(), is_gpu_leak)) {
        return;
    }
    const int64_t cached = context.row().bytes_of(ComponentKind::cached_segments);
    Finding finding = diagnoses::reserved_high_water.new_finding();
    finding.basis = words(
        "The allocator's events show that the peaks of allocated memory fall again, while reserved memory does not.");
    finding.bytes = reserved - context.curves().value(Series::allocated, context.now());
    finding.component = ComponentKind::cached_segments;
    finding.since = context.device().time_of_state(rise->event);
    set_line(finding, context, stack_of_peak(context, rise->event));
    std::string iteration =
        rise->is_after ? words("the work after the last iteration") : words("the work before the first iteration");
    if (rise->iteration) {
        set_since(finding, context.iterations(), *rise->iteration);
        iteration = iteration_name(context.iterations(), words, static_cast<int64_t>(*rise->iteration));
    }
    finding.title = words("reserved memory stays at the {bytes} that {iteration} needed", with("iteration", iteration),
                          with("bytes", format_bytes(reserved)));
    finding.text = {
        words("The peak of {iteration} is {peak}; the last iterations need {later} at most. The tensors were freed, "
              "but PyTorch keeps the reserved memory for the next large request. This is not a leak.",
              with("iteration", iteration), with("peak", format_bytes(rise->peak)),
              with("later", format_bytes(rise->later)))};
    finding.evidence = {evidence_of(context, words, *rise, iteration),
                        at_component(context, words("Cached memory now: {bytes}", with("bytes", format_bytes(cached))),
                                     ComponentKind::cached_segments)};
    finding.fixes = {
        {words("If other programs need the memory: return the cached memory once, after the large iterations."),
         "torch.cuda.empty_cache()",
         cached,
         {}}};
    add_expandable_fix(finding, context, words, progress);
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::reserved_high_water{FindingKind::reserved_high_water, Severity::pattern,
                                               DiagnosisPhase::comparison, run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
