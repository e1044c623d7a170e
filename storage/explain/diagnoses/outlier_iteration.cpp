// #33: one batch was larger than the others: a higher peak in its round, and nothing of it stays.
#include <algorithm>
#include <unordered_map>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

constexpr size_t fewest_iterations = 6;
/// Rounds of warm-up, in which libraries try and make things, are compared with nothing.
constexpr size_t warm_up = 2;
/// Of the rounds at most this part are the exception: what others have is usual.
constexpr double usual_part = 0.7;
/// A round stands out when it takes so much more than a usual one takes, and by this part of the usual peak, workspaces
/// and model included.
constexpr int64_t least_bytes = 1 << 20;
constexpr double least_rise = 0.1;
/// So much of what is more must come from lines that allocate in a usual round too: the same work, on more data.
constexpr double same_lines_part = 0.8;
/// The line that allocates most must do so by this factor: what falls back for another reason is no longer round.
constexpr double least_work = 1.05;

struct Longer {
    size_t iteration = 0;        ///< position of the one with the highest peak
    size_t usual_iteration = 0;  ///< one that is usual
    Extremes peak, usual;
    int64_t taken = 0, usually_taken = 0;  ///< from the round's lowest level to its peak
    int64_t count = 0;                     ///< rounds that stand out
    int64_t more() const { return taken - usually_taken; }
    double times() const {
        return static_cast<double>(taken) / static_cast<double>(std::max<int64_t>(1, usually_taken));
    }
};

Extremes peak_of(const AnalysisContext& context, size_t iteration) {
    const Iteration& r = context.iterations()[iteration];
    return context.curves().extremes(Series::allocated, r.first, r.last);
}

/// The last round of a derived repetition may hold whatever came after it.
size_t usable_iterations(const AnalysisContext& context) {
    return context.iterations().size() -
           (context.iterations().source() == IterationSource::repetition && !context.iterations().empty());
}

std::optional<Longer> find(const AnalysisContext& context) {
    const size_t iterations = usable_iterations(context);
    if (iterations < fewest_iterations) {
        return std::nullopt;
    }
    std::vector<int64_t> taken = context.peaks(Series::allocated);
    std::vector<size_t> order;
    for (size_t i = warm_up; i < iterations; ++i) {
        taken[i] -= context.allocated_floor()[i];
        order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return taken[a] < taken[b]; });
    Longer longer;
    longer.iteration = order.back();
    longer.usual_iteration = order[static_cast<size_t>(usual_part * static_cast<double>(order.size() - 1))];
    longer.peak = peak_of(context, longer.iteration);
    longer.usual = peak_of(context, longer.usual_iteration);
    longer.taken = taken[longer.iteration];
    longer.usually_taken = taken[longer.usual_iteration];
    const int64_t least =
        std::max(least_bytes, static_cast<int64_t>(least_rise * static_cast<double>(longer.usual.max)));
    longer.count =
        std::count_if(order.begin(), order.end(), [&](size_t i) { return taken[i] >= longer.usually_taken + least; });
    const bool falls_back =
        longer.iteration + 1 == iterations || std::any_of(order.begin(), order.end(), [&](size_t i) {
            return i > longer.iteration && taken[i] <= longer.usually_taken + least / 4;
        });
    return longer.count > 0 && falls_back ? std::optional(longer) : std::nullopt;
}

using ByStack = std::unordered_map<StackId, int64_t>;

/// Scratch memory, freed before anything else happens, is told as such by others.
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

/// Lines that allocated in a round, by what they allocated in all.
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

/// The same lines with more data, and not other work (an evaluation) that happens to fall into the round.
bool is_same_work(const AnalysisContext& context, const Longer& longer) {
    const ByStack at_peak = bytes_by_stack(context, longer.peak.max_event);
    const ByStack at_usual = bytes_by_stack(context, longer.usual.max_event);
    const ByStack usual = made_in_iteration(context, longer.usual_iteration);
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
           same_lines_part * static_cast<double>(std::max(more, longer.peak.max - longer.usual.max));
}

/// The line that brings most of what is more at the peak.
StackId line_of_most(const AnalysisContext& context, const Longer& longer) {
    const ByStack at_usual = bytes_by_stack(context, longer.usual.max_event);
    StackId most = 0;
    int64_t most_bytes = 0;
    for (const auto& [stack, bytes] : bytes_by_stack(context, longer.peak.max_event)) {
        const auto found = at_usual.find(stack);
        const int64_t by = bytes - (found == at_usual.end() ? 0 : found->second);
        if (by > most_bytes || (by == most_bytes && by > 0 && stack < most)) {
            most_bytes = by;
            most = stack;
        }
    }
    return most;
}

/// How much more the two rounds allocated at the same lines in all: the size of the data, 4.0 for a sentence of four
/// times the length.
double times_the_work(const AnalysisContext& context, const Longer& longer) {
    const ByStack usual = made_in_iteration(context, longer.usual_iteration);
    double most = 0;
    int64_t most_bytes = 0;
    for (const auto& [stack, bytes] : made_in_iteration(context, longer.iteration)) {
        if (const auto found = usual.find(stack); found != usual.end() && bytes > most_bytes && found->second > 0) {
            most_bytes = bytes;
            most = static_cast<double>(bytes) / static_cast<double>(found->second);
        }
    }
    return most;
}

void report(Finding& finding, const AnalysisContext& context, const Longer& longer, const Words& words) {
    const auto iteration = with("iteration", iteration_name(context, words, static_cast<int64_t>(longer.iteration)));
    const auto usual_iteration =
        with("usual_iteration", iteration_name(context, words, static_cast<int64_t>(longer.usual_iteration)));
    const auto peak = with("peak", format_bytes(longer.peak.max));
    const auto usual = with("usual", format_bytes(longer.usual.max));
    const double work = times_the_work(context, longer);
    finding.title = words("{iteration} needed {more} more than a typical iteration and freed it again", iteration,
                          with("more", format_bytes(longer.more())));
    finding.text = {
        words("The peak of {iteration} is {peak}; that of a typical iteration ({usual_iteration}) is {usual}. The same "
              "lines of the program allocated larger tensors: the batch or its sequences were larger.",
              iteration, peak, usual, usual_iteration),
        words("Beyond the memory that already existed, it needed {times} times as much as the typical one; the line "
              "that allocates most allocated {work} times as much.",
              with("times", fmt::format("{:.1f}", longer.times())), with("work", fmt::format("{:.1f}", work))),
        words("Allocated memory then returned to its earlier level: this is not a leak. PyTorch caches the memory that "
              "it reserved for the peak.")};
    if (longer.count > 1) {
        finding.text.push_back(words("Iterations with such a peak: {iterations} of {all}.",
                                     with("iterations", longer.count), with("all", context.iterations().size())));
    }
}

Finding about(const AnalysisContext& context, const Longer& longer, const Words& words) {
    Finding finding = diagnoses::outlier_iteration.new_finding();
    finding.confidence = Confidence::likely;
    finding.basis =
        words("The allocator's events show that the same lines allocated more in this iteration than in others.");
    finding.bytes = longer.more();
    finding.count = longer.count;
    finding.component = ComponentKind::requested;
    set_line(finding, context, line_of_most(context, longer));
    set_since(finding, context, longer.iteration);
    report(finding, context, longer, words);
    finding.evidence = {
        at_event(context, words("The peak of the larger iteration"), longer.peak.max_event),
        at_event(context, words("The peak of a typical iteration"), longer.usual.max_event),
        at_iteration(context, words("The larger iteration has ended: memory is back at its earlier level"),
                     static_cast<int64_t>(longer.iteration))};
    finding.fixes = {{words("If the peak is too high: batch by number of tokens instead of number of samples, or "
                            "truncate or split samples that are much longer than the rest."),
                      "", longer.more(), std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const std::optional<Longer> longer = find(context);
    if (longer && context.allocated_trend().shape != Shape::rising && is_same_work(context, *longer) &&
        times_the_work(context, *longer) >= least_work) {
        findings.push_back(about(context, *longer, words));
    }
}

}  // namespace

const Diagnosis diagnoses::outlier_iteration{FindingKind::outlier_iteration, Severity::pattern, Phase::observation,
                                             run};

}  // namespace tidemark
