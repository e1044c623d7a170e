// #27: a variable keeps the result of the round before while the next one is made: at the peak there are two.
#include <algorithm>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/diagnoses/all.h"
#include "storage/explain/element_wise.h"
#include "storage/explain/holder_words.h"
#include "storage/explain/makeup.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

constexpr size_t fewest_rounds = 5;
/// So many rounds are looked at, and it must be seen in so many.
constexpr size_t rounds_looked_at = 6, fewest_seen = 2;
/// Where another optimizer's steps come in between, the round before may be so many steps ago.
constexpr size_t rounds_back = 3;
/// Rounds with lower peaks than this part of the highest of them do not matter.
constexpr double high_peak = 0.9;
/// Less does not lower a peak by what somebody would notice.
constexpr int64_t least_bytes = 1 << 20;
constexpr double least_part_of_peak = 0.05;

/// A result of the round before that was there at a round's peak.
struct Leftover {
    AllocationIndex allocation = no_allocation, next = no_allocation;  ///< `next`: what took its place
    EventNumber peak = 0;
    int64_t bytes = 0, lower = 0;  ///< by how much the peak would be lower without it
    size_t seen = 0;               ///< in so many rounds
};

class Search {
public:
    explicit Search(const Case& of) : of_(of), allocations_(of.device().allocations) {}

    /// By the line that made it.
    std::map<StackId, Leftover> find() {
        const size_t all = of_.rounds().size(), last = all - (of_.rounds().source() == RoundSource::repetition);
        const size_t first = std::max<size_t>(2, last - std::min(last, rounds_looked_at));
        const std::vector<int64_t> peaks = of_.peaks(Series::allocated);
        int64_t highest = 0;
        for (size_t round = first; round < last; ++round) {
            highest = std::max(highest, peaks[round]);
        }
        for (size_t round = first; round < last; ++round) {
            if (static_cast<double>(peaks[round]) >= high_peak * static_cast<double>(highest)) {
                look_at(round);
            }
        }
        return std::move(found_);
    }

private:
    void look_at(size_t position) {
        const Round& round = of_.rounds()[position];
        const EventNumber oldest = of_.rounds()[position - std::min(position, rounds_back)].first;
        const Extremes peak = of_.curves().extremes(Series::allocated, round.first, round.last);
        const double least = std::max<double>(least_bytes, least_part_of_peak * static_cast<double>(peak.max));
        for (const AllocationIndex a : allocated_at(of_, peak.max_event)) {
            const auto bytes = static_cast<int64_t>(allocations_.block_size[a]);
            if (static_cast<double>(bytes) < least) {
                break;
            }
            if (!is_of_last_round(a, round, oldest) || !may_go(a, peak.max_event)) {
                continue;
            }
            const AllocationIndex next = next_of_line(a, round);
            const EventNumber freed = allocations_.free_event[a];
            const int64_t later =
                of_.curves().extremes(Series::allocated, freed + 1, std::max(freed + 1, round.last)).max;
            const int64_t lower = std::min(bytes, peak.max - later);
            if (next != no_allocation && static_cast<double>(lower) >= least && !is_operand(a, next)) {
                Leftover& leftover = found_[allocations_.stack[a]];
                leftover = {a, next, peak.max_event, bytes, lower, leftover.seen + 1};
            }
        }
    }

    /// Made before this round, and given back in its course.
    bool is_of_last_round(AllocationIndex a, const Round& round, EventNumber oldest) const {
        return allocations_.alloc_event[a] < round.first && allocations_.free_event[a] < round.last &&
               allocations_.alloc_event[a] >= std::max(oldest, 0);
    }

    /// Nothing is known that would need it at the peak.
    bool may_go(AllocationIndex a, EventNumber state) const {
        const uint32_t segment = allocations_.segment[a];
        const bool is_prefetched =
            segment != no_segment && of_.trace().streams[of_.device().segments[segment].stream].handle != 0;
        if (is_prefetched || !of_.graph()) {
            return !is_prefetched;
        }
        const Category category =
            of_.graph()->categories.at({of_.device_position(), a}, of_.device().time_of_state(state));
        return category == Category::input || category == Category::output || category == Category::unknown;
    }

    /// What the same line made in this round, as large, and as the next one.
    AllocationIndex next_of_line(AllocationIndex a, const Round& round) const {
        for (AllocationIndex b = a + 1; b < allocations_.size() && allocations_.alloc_event[b] < round.last; ++b) {
            if (allocations_.stack[b] == allocations_.stack[a] && allocations_.origin[b] == allocations_.origin[a]) {
                const bool is_in_round = allocations_.alloc_event[b] >= round.first;
                const bool is_before_free = allocations_.alloc_event[b] < allocations_.free_event[a];
                return is_in_round && is_before_free && allocations_.requested[b] == allocations_.requested[a]
                           ? b
                           : no_allocation;
            }
        }
        return no_allocation;
    }

    /// As in x = x * 2: nothing else that was there is as large as the result of an element-wise op.
    bool is_operand(AllocationIndex old, AllocationIndex next) const {
        if (!is_element_wise(of_.trace().origins[allocations_.origin[next]].op)) {
            return false;
        }
        const std::vector<AllocationIndex> there = allocated_at(of_, allocations_.alloc_event[next]);
        return std::none_of(there.begin(), there.end(), [&](AllocationIndex a) {
            return a != old && allocations_.requested[a] >= allocations_.requested[next];
        });
    }

    const Case& of_;
    const Allocations& allocations_;
    std::map<StackId, Leftover> found_;
};

/// Some search of the program's objects met a result of this line under a plain name.
const Holder* variable_of(const Case& of, StackId line) {
    if (!of.graph()) {
        return nullptr;
    }
    for (const Holder& holder : of.graph()->tables().holders) {
        const AllocationRef held = holder.allocation;
        const bool is_variable =
            holder.links.size() == 1 && (holder.links[0].kind == "local" || holder.links[0].kind == "global");
        if (held && held.device == of.device_position() && is_variable &&
            of.device().allocations.stack[held.index] == line) {
            return &holder;
        }
    }
    return nullptr;
}

void tell(Finding& finding, const Case& of, const Leftover& leftover, const std::string& variable, const Words& words) {
    const auto bytes = with("bytes", format_bytes(leftover.bytes));
    const auto line = with("line", finding.line);
    const auto round = with("round", round_words(of, words));
    finding.title = words("last {round}'s result of {line} is kept until the next one is made", line, round);
    finding.text = {
        words("{line} makes {bytes} in every {round}. The variable it is stored in lets go of the old result only when "
              "the new one is assigned: Python computes the right side first. So at the peak both are there.",
              line, bytes, round),
        words("Had the old one been dropped before, the peak would be {lower} lower.",
              with("lower", format_bytes(leftover.lower)))};
    if (!variable.empty()) {
        finding.text.push_back(words("The variable is `{name}`.", with("name", variable)));
    }
}

Finding about(const Case& of, const Leftover& leftover, const Words& words) {
    Finding finding;
    finding.kind = FindingKind::previous_round_local;
    finding.verdict = Verdict::waste;
    finding.confidence = Confidence::likely;
    finding.basis = words(
        "Seen in the allocator's events of {rounds} rounds: the old result is given back right after "
        "the new one was made.",
        with("rounds", leftover.seen));
    finding.bytes = leftover.bytes;
    finding.layer = LayerKind::requested;
    set_line(finding, of, of.device().allocations.stack[leftover.allocation]);
    const Holder* holder = variable_of(of, finding.stack);
    const std::string variable = holder ? holder_expression(of.graph()->tables(), *holder) : std::string();
    if (holder) {
        finding.holder = holder_words(of.graph()->tables(), words, *holder);
    }
    tell(finding, of, leftover, variable, words);
    finding.evidence = {at_allocation(of, words("The result of the round before"), leftover.allocation),
                        at_allocation(of, words("The new one is made, and the old one is still there"), leftover.next),
                        at_event(of, words("The peak of this round, with both"), leftover.peak),
                        at_event(of, words("The old one has been given back"),
                                 of.device().allocations.free_event[leftover.allocation] + 1)};
    finding.fixes = {{words("Delete the variable when its round is done, or put the round's work into a function: its "
                            "variables go when it returns."),
                      variable.empty() ? std::string() : "del " + variable, leftover.lower, std::nullopt}};
    finding.unknowns = {
        words("Whether the new result is computed from the old one is not recorded; if it is, both are "
              "needed.")};
    return finding;
}

}  // namespace

void diagnose_previous_round_local(const Case& of, const Words& words, Findings& findings, Progress&) {
    if (of.rounds().size() < fewest_rounds) {
        return;
    }
    for (const auto& [stack, leftover] : Search(of).find()) {
        if (leftover.seen >= fewest_seen) {
            findings.push_back(about(of, leftover, words));
        }
    }
}

}  // namespace tidemark
