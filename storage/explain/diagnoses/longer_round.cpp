// #33: one batch was larger than the others: a higher peak in its round, and nothing of it stays.
#include <algorithm>
#include <unordered_map>

#include "storage/base/units.h"
#include "storage/explain/diagnoses/all.h"
#include "storage/explain/makeup.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

constexpr size_t fewest_rounds = 6;
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
    size_t round = 0;        ///< position of the one with the highest peak
    size_t usual_round = 0;  ///< one that is usual
    Extremes peak, usual;
    int64_t taken = 0, usually_taken = 0;  ///< from the round's lowest level to its peak
    int64_t count = 0;                     ///< rounds that stand out
    int64_t more() const { return taken - usually_taken; }
    double times() const {
        return static_cast<double>(taken) / static_cast<double>(std::max<int64_t>(1, usually_taken));
    }
};

Extremes peak_of(const Case& of, size_t round) {
    const Round& r = of.rounds()[round];
    return of.curves().extremes(Series::allocated, r.first, r.last);
}

/// The last round of a derived repetition may hold whatever came after it.
size_t usable_rounds(const Case& of) {
    return of.rounds().size() - (of.rounds().source() == RoundSource::repetition && !of.rounds().empty());
}

std::optional<Longer> find(const Case& of) {
    const size_t rounds = usable_rounds(of);
    if (rounds < fewest_rounds) {
        return std::nullopt;
    }
    std::vector<int64_t> taken = of.peaks(Series::allocated);
    std::vector<size_t> order;
    for (size_t i = warm_up; i < rounds; ++i) {
        taken[i] -= of.allocated_floor()[i];
        order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return taken[a] < taken[b]; });
    Longer longer;
    longer.round = order.back();
    longer.usual_round = order[static_cast<size_t>(usual_part * static_cast<double>(order.size() - 1))];
    longer.peak = peak_of(of, longer.round);
    longer.usual = peak_of(of, longer.usual_round);
    longer.taken = taken[longer.round];
    longer.usually_taken = taken[longer.usual_round];
    const int64_t least =
        std::max(least_bytes, static_cast<int64_t>(least_rise * static_cast<double>(longer.usual.max)));
    longer.count =
        std::count_if(order.begin(), order.end(), [&](size_t i) { return taken[i] >= longer.usually_taken + least; });
    const bool falls_back = longer.round + 1 == rounds || std::any_of(order.begin(), order.end(), [&](size_t i) {
                                return i > longer.round && taken[i] <= longer.usually_taken + least / 4;
                            });
    return longer.count > 0 && falls_back ? std::optional(longer) : std::nullopt;
}

using ByStack = std::unordered_map<StackId, int64_t>;

/// Scratch memory, freed before anything else happens, is told as such by others.
bool is_scratch(const Allocations& allocations, AllocationIndex a) {
    return allocations.free_event[a] == allocations.alloc_event[a] + 1;
}

ByStack bytes_by_stack(const Case& of, EventNumber state) {
    const Allocations& allocations = of.device().allocations;
    ByStack bytes;
    for (const AllocationIndex a : allocated_at(of, state)) {
        if (!is_scratch(allocations, a)) {
            bytes[allocations.stack[a]] += static_cast<int64_t>(allocations.block_size[a]);
        }
    }
    return bytes;
}

/// Lines that allocated in a round, by what they allocated in all.
ByStack made_in_round(const Case& of, size_t round) {
    const auto& made = of.device().allocations.alloc_event;
    const auto first = std::lower_bound(made.begin(), made.end(), of.rounds()[round].first);
    const auto last = std::lower_bound(first, made.end(), of.rounds()[round].last);
    ByStack bytes;
    for (auto at = first; at != last; ++at) {
        const auto a = static_cast<AllocationIndex>(at - made.begin());
        if (!is_scratch(of.device().allocations, a)) {
            bytes[of.device().allocations.stack[a]] += static_cast<int64_t>(of.device().allocations.block_size[a]);
        }
    }
    return bytes;
}

/// The same lines with more data, and not other work (an evaluation) that happens to fall into the round.
bool is_same_work(const Case& of, const Longer& longer) {
    const ByStack at_peak = bytes_by_stack(of, longer.peak.max_event);
    const ByStack at_usual = bytes_by_stack(of, longer.usual.max_event);
    const ByStack usual = made_in_round(of, longer.usual_round);
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
StackId line_of_most(const Case& of, const Longer& longer) {
    const ByStack at_usual = bytes_by_stack(of, longer.usual.max_event);
    StackId most = 0;
    int64_t most_bytes = 0;
    for (const auto& [stack, bytes] : bytes_by_stack(of, longer.peak.max_event)) {
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
double times_the_work(const Case& of, const Longer& longer) {
    const ByStack usual = made_in_round(of, longer.usual_round);
    double most = 0;
    int64_t most_bytes = 0;
    for (const auto& [stack, bytes] : made_in_round(of, longer.round)) {
        if (const auto found = usual.find(stack); found != usual.end() && bytes > most_bytes && found->second > 0) {
            most_bytes = bytes;
            most = static_cast<double>(bytes) / static_cast<double>(found->second);
        }
    }
    return most;
}

void tell(Finding& finding, const Case& of, const Longer& longer, const Words& words) {
    const auto round = with("round", round_name(of, words, static_cast<int64_t>(longer.round)));
    const auto usual_round = with("usual_round", round_name(of, words, static_cast<int64_t>(longer.usual_round)));
    const auto peak = with("peak", format_bytes(longer.peak.max));
    const auto usual = with("usual", format_bytes(longer.usual.max));
    const double work = times_the_work(of, longer);
    finding.title = words("{round} needed {more} more than usual, and gave it back", round,
                          with("more", format_bytes(longer.more())));
    finding.text = {
        words("The peak of {round} is {peak}, that of a usual one ({usual_round}) {usual}. The same lines of the "
              "program made larger tensors: the batch or its sequences were larger.",
              round, peak, usual, usual_round),
        words("Above what lay there already it took {times} times the memory of the usual one; the line that allocates "
              "most allocated {work} times as much.",
              with("times", fmt::format("{:.1f}", longer.times())), with("work", fmt::format("{:.1f}", work))),
        words("Afterwards allocated memory came back to where it was: this is no leak. What PyTorch had to reserve for "
              "that peak it keeps for later, as it always does.")};
    if (longer.count > 1) {
        finding.text.push_back(words("{rounds} of {all} stand out like that.", with("rounds", longer.count),
                                     with("all", of.rounds().size())));
    }
}

Finding about(const Case& of, const Longer& longer, const Words& words) {
    Finding finding;
    finding.kind = FindingKind::longer_round;
    finding.verdict = Verdict::pattern;
    finding.confidence = Confidence::likely;
    finding.basis =
        words("Seen in the allocator's events: the same lines allocated more in this round than in others.");
    finding.bytes = longer.more();
    finding.count = longer.count;
    finding.layer = LayerKind::requested;
    set_line(finding, of, line_of_most(of, longer));
    set_since(finding, of, longer.round);
    tell(finding, of, longer, words);
    finding.evidence = {at_event(of, words("The peak of the larger round"), longer.peak.max_event),
                        at_event(of, words("The peak of a usual round"), longer.usual.max_event),
                        at_round(of, words("The larger round has ended: memory is back where it was"),
                                 static_cast<int64_t>(longer.round))};
    finding.fixes = {{words("If the peak is too high: batch by number of tokens instead of by number of samples, "
                            "or cut and split what is longer than the rest."),
                      "", longer.more(), std::nullopt}};
    return finding;
}

}  // namespace

void diagnose_longer_round(const Case& of, const Words& words, Findings& findings, Progress&) {
    const std::optional<Longer> longer = find(of);
    if (longer && of.allocated_trend().shape != Shape::rising && is_same_work(of, *longer) &&
        times_the_work(of, *longer) >= least_work) {
        findings.push_back(about(of, *longer, words));
    }
}

}  // namespace tidemark
