// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #33: one batch was larger than the others: its iteration has a higher peak, and all of its memory is freed.
#include <algorithm>
#include <unordered_map>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

constexpr size_t fewest_iterations = 6;
/// Warm-up iterations, in which libraries try algorithms and allocate memory, are not compared.
constexpr size_t warm_up = 2;
/// At least this part of the iterations is typical; the others are outliers.
constexpr double typical_part = 0.7;
/// An outlier needs this many bytes more than a typical iteration, and this part of the typical peak, which includes
/// the model.
constexpr int64_t least_bytes = 1 << 20;
constexpr double least_rise = 0.1;
/// At least this part of the difference must come from lines that also allocate in a typical iteration: the same work
/// on more data.
constexpr double same_lines_part = 0.8;
/// The line that allocates most must allocate this many times as much; otherwise the iteration was not larger.
constexpr double least_work = 1.05;

struct Outlier {
    size_t iteration = 0;          ///< position of the iteration with the highest peak
    size_t typical_iteration = 0;  ///< position of a typical iteration
    Extremes peak, usual;
    int64_t taken = 0, typically_taken = 0;  ///< bytes from the iteration's lowest level to its peak
    int64_t count = 0;                       ///< iterations with such a peak
    int64_t more() const { return taken - typically_taken; }
    double times() const {
        return static_cast<double>(taken) / static_cast<double>(std::max<int64_t>(1, typically_taken));
    }
};

Extremes peak_of(const AnalysisContext& context, size_t iteration) {
    const Iteration& r = context.iterations()[iteration];
    return context.curves().extremes(Series::allocated, r.first, r.last);
}

/// Returns the number of iterations to compare. The last iteration of a derived repetition may include unrelated
/// events.
size_t usable_iterations(const AnalysisContext& context) {
    return context.iterations().size() -
           (context.iterations().source() == IterationSource::loop && !context.iterations().empty());
}

std::optional<Outlier> find(const AnalysisContext& context) {
    const size_t iterations = usable_iterations(context);
    if (iterations < fewest_iterations) {
        return std::nullopt;
    }
    std::vector<int64_t> taken = context.allocated_peaks();
    std::vector<size_t> order;
    for (size_t i = warm_up; i < iterations; ++i) {
        taken[i] -= context.allocated_floor()[i];
        order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return taken[a] < taken[b]; });
    Outlier outlier;
    outlier.iteration = order.back();
    outlier.typical_iteration = order[static_cast<size_t>(typical_part * static_cast<double>(order.size() - 1))];
    outlier.peak = peak_of(context, outlier.iteration);
    outlier.usual = peak_of(context, outlier.typical_iteration);
    outlier.taken = taken[outlier.iteration];
    outlier.typically_taken = taken[outlier.typical_iteration];
    const int64_t least =
        std::max(least_bytes, static_cast<int64_t>(least_rise * static_cast<double>(outlier.usual.max)));
    outlier.count = std::count_if(order.begin(), order.end(),
                                  [&](size_t i) { return taken[i] >= outlier.typically_taken + least; });
    const bool falls_back =
        outlier.iteration + 1 == iterations || std::any_of(order.begin(), order.end(), [&](size_t i) {
            return i > outlier.iteration && taken[i] <= outlier.typically_taken + least / 4;
        });
    return outlier.count > 0 && falls_back ? std::optional(outlier) : std::nullopt;
}

using ByStack = std::unordered_map<StackId, int64_t>;

/// Returns whether this is a workspace that is freed in the next event; workspaces have their own findings.
bool is_scratch(const Allocations& allocations, AllocationIndex a) {
    return allocations.free_event[a] == allocations.alloc_event[a] + 1;
}

ByStack bytes_by_stack(const AnalysisContext& context, EventNumber state) {
    const Allocations& allocations = context.device().allocations;
    ByStack bytes;
    for (const AllocationIndex a : allocated_at(context, state)) {
        if (!is_scratch(allocations, a)) {
            bytes[allocations.stack[a]] += static_cast<int64_t>(allocations.block_size[a]);
        }
    }
    return bytes;
}

/// Returns the bytes that each stack allocated during the iteration.
ByStack made_in_iteration(const AnalysisContext& context, size_t iteration) {
    const auto& made = context.device().allocations.alloc_event;
    const auto first = std::lower_bound(made.begin(), made.end(), context.iterations()[iteration].first);
    const auto last = std::lower_bound(first, made.end(), context.iterations()[iteration].last);
    ByStack bytes;
    for (auto at = first; at != last; ++at) {
        const auto a = static_cast<AllocationIndex>(at - made.begin());
        if (!is_scratch(context.device().allocations, a)) {
            bytes[context.device().allocations.stack[a]] +=
                static_cast<int64_t>(context.device().allocations.block_size[a]);
        }
    }
    return bytes;
}

/// Returns whether the same lines processed more data; false if the iteration did other work, such as an evaluation.
bool is_same_work(const AnalysisContext& context, const Outlier& outlier) {
    const ByStack at_peak = bytes_by_stack(context, outlier.peak.max_event);
    const ByStack at_usual = bytes_by_stack(context, outlier.usual.max_event);
    const ByStack usual = made_in_iteration(context, outlier.typical_iteration);
    int64_t more = 0, of_same_lines = 0;
    for (const auto& [stack, bytes] : at_peak) {
        const auto found = at_usual.find(stack);
        const int64_t by = bytes - (found == at_usual.end() ? 0 : found->second);
        if (by > 0) {
            more += by;
            of_same_lines += usual.contains(stack) ? by : 0;
        }
    }
    return static_cast<double>(of_same_lines) >=
           same_lines_part * static_cast<double>(std::max(more, outlier.peak.max - outlier.usual.max));
}

/// Returns the stack with the largest part of the difference at the peak.
StackId line_of_most(const AnalysisContext& context, const Outlier& outlier) {
    const ByStack at_usual = bytes_by_stack(context, outlier.usual.max_event);
    StackId most = 0;
    int64_t most_bytes = 0;
    for (const auto& [stack, bytes] : bytes_by_stack(context, outlier.peak.max_event)) {
        const auto found = at_usual.find(stack);
        const int64_t by = bytes - (found == at_usual.end() ? 0 : found->second);
        if (by > most_bytes || (by == most_bytes && by > 0 && stack < most)) {
            most_bytes = by;
            most = stack;
        }
    }
    return most;
}

/// Returns the ratio of the bytes that both iterations allocated at the same lines: 4.0 for a sentence of four times
/// the length.
double times_the_work(const AnalysisContext& context, const Outlier& outlier) {
    const ByStack usual = made_in_iteration(context, outlier.typical_iteration);
    double most = 0;
    int64_t most_bytes = 0;
    for (const auto& [stack, bytes] : made_in_iteration(context, outlier.iteration)) {
        if (const auto found = usual.find(stack); found != usual.end() && bytes > most_bytes && found->second > 0) {
            most_bytes = bytes;
            most = static_cast<double>(bytes) / static_cast<double>(found->second);
        }
    }
    return most;
}

void report(Finding& finding, const AnalysisContext& context, const Outlier& outlier, const Words& words) {
    const auto iteration =
        with("iteration", iteration_name(context.iterations(), words, static_cast<int64_t>(outlier.iteration)));
    const auto typical_iteration =
        with("typical_iteration",
             iteration_name(context.iterations(), words, static_cast<int64_t>(outlier.typical_iteration)));
    const auto peak = with("peak", format_bytes(outlier.peak.max));
    const auto usual = with("usual", format_bytes(outlier.usual.max));
    const double work = times_the_work(context, outlier);
    finding.title = words("{iteration} needed {more} more than a typical iteration and freed it again", iteration,
                          with("more", format_bytes(outlier.more())));
    finding.text = {
        words(
            "The peak of {iteration} is {peak}; that of a typical iteration ({typical_iteration}) is {usual}. The same "
            "lines of the program allocated larger tensors: the batch or its sequences were larger.",
            iteration, peak, usual, typical_iteration),
        words("Beyond the memory that already existed, it needed {times} times as much as the typical one; the line "
              "that allocates most allocated {work} times as much.",
              with("times", fmt::format("{:.1f}", outlier.times())), with("work", fmt::format("{:.1f}", work))),
        words("Allocated memory then returned to its earlier level: this is not a leak. PyTorch caches the memory that "
              "it reserved for the peak.")};
    if (outlier.count > 1) {
        finding.text.push_back(words("Iterations with such a peak: {iterations} of {all}.",
                                     with("iterations", outlier.count), with("all", context.iterations().size())));
    }
}

Finding make_finding(const AnalysisContext& context, const Outlier& outlier, const Words& words) {
    Finding finding = diagnoses::outlier_iteration.new_finding();
    finding.confidence = Confidence::likely;
    finding.basis =
        words("The allocator's events show that the same lines allocated more in this iteration than in others.");
    finding.bytes = outlier.more();
    finding.count = outlier.count;
    finding.component = ComponentKind::requested;
    set_line(finding, context, line_of_most(context, outlier));
    set_since(finding, context.iterations(), outlier.iteration);
    report(finding, context, outlier, words);
    finding.evidence = {at_event(context, words("The peak of the larger iteration"), outlier.peak.max_event),
                        at_event(context, words("The peak of a typical iteration"), outlier.usual.max_event),
                        at_iteration(context, context.iterations(),
                                     words("The larger iteration has ended: memory is back at its earlier level"),
                                     static_cast<int64_t>(outlier.iteration))};
    finding.fixes = {{words("If the peak is too high: batch by number of tokens instead of number of samples, or "
                            "truncate or split samples that are much longer than the rest."),
                      "", outlier.more(), std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const std::optional<Outlier> outlier = find(context);
    if (outlier && context.allocated_trend().shape != Shape::rising && is_same_work(context, *outlier) &&
        times_the_work(context, *outlier) >= least_work) {
        findings.push_back(make_finding(context, *outlier, words));
    }
}

}  // namespace

const Diagnosis diagnoses::outlier_iteration{FindingKind::outlier_iteration, Severity::pattern,
                                             DiagnosisPhase::observation, run};

}  // namespace tidemark
