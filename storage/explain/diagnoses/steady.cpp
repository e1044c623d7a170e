// S2: nothing outlives its round.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/diagnoses/all.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

constexpr size_t fewest_rounds = 5;
constexpr size_t warm_up = 2;

/// What was made after the warm-up and before the last round, and what of it is still there.
struct Turnover {
    int64_t made = 0, made_bytes = 0;
    int64_t left = 0, left_bytes = 0;
};

Turnover turnover_of(const Case& of) {
    const Allocations& allocations = of.device().allocations;
    const auto& made = allocations.alloc_event;
    const EventNumber from = of.rounds()[warm_up].first, to = of.rounds().all().back().first;
    const auto first = std::lower_bound(made.begin(), made.end(), from), last = std::lower_bound(first, made.end(), to);
    Turnover turnover;
    for (auto at = first; at != last; ++at) {
        const auto a = static_cast<size_t>(at - made.begin());
        const auto bytes = static_cast<int64_t>(allocations.block_size[a]);
        const bool is_left = allocations.free_event[a] >= of.now();
        turnover.made += 1;
        turnover.made_bytes += bytes;
        turnover.left += is_left;
        turnover.left_bytes += is_left ? bytes : 0;
    }
    return turnover;
}

struct Nodes {
    int64_t made = 0, dead = 0, released = 0, holding = 0;
};

Nodes count_nodes(const GraphCase& graph, int64_t time) {
    Nodes nodes;
    for (NodeIndex node = 0; node < graph.tables().nodes.size(); ++node) {
        const NodeState state = graph.index.state(node, time);
        if (graph.index.is_leaf(node) || state == NodeState::unborn) {
            continue;
        }
        ++nodes.made;
        nodes.dead += state == NodeState::dead;
        nodes.released += state == NodeState::released;
        nodes.holding += holds_saved(state);
    }
    return nodes;
}

/// The floor of no later round is above that of the first half.
bool stays_down(const std::vector<int64_t>& floor) {
    const auto begin = floor.begin() + warm_up;
    const auto middle = floor.begin() + static_cast<std::ptrdiff_t>(std::max(floor.size() / 2, warm_up + 1));
    return middle != floor.end() && *std::min_element(middle, floor.end()) <= *std::max_element(begin, middle);
}

bool is_steady(const Case& of, const Findings& findings) {
    const bool is_leak = std::any_of(findings.begin(), findings.end(),
                                     [](const Finding& finding) { return finding.verdict <= Verdict::failure; });
    return of.rounds().size() >= fewest_rounds && !is_leak && !of.out_of_memory() && of.piles().empty() &&
           of.allocated_trend().shape != Shape::rising && stays_down(of.allocated_floor());
}

void tell(Finding& finding, const Case& of, const Turnover& turnover, const Words& words) {
    const auto rounds = with("rounds", format_count(static_cast<int64_t>(of.rounds().size())));
    finding.title = words("nothing piles up: over {rounds} rounds memory comes back to {bytes} each time", rounds,
                          with("bytes", format_bytes(of.allocated_floor().back())));
    finding.text = {words(
        "After the first rounds, which make what stays (parameters, gradients, optimizer state, workspaces), {made} "
        "tensors of {made_bytes} in all were made. Of these {left} are there now, with {left_bytes}.",
        with("made", format_count(turnover.made)), with("made_bytes", format_bytes(turnover.made_bytes)),
        with("left", format_count(turnover.left)), with("left_bytes", format_bytes(turnover.left_bytes)))};
    if (!of.graph()) {
        return;
    }
    const Nodes nodes = count_nodes(*of.graph(), of.now_time());
    if (nodes.made > 0) {
        finding.text.push_back(words(
            "Of {made} nodes of the autograd graph {dead} are gone; {released} live on but have released what they "
            "had saved for backward, and {holding} still hold something or have not been run.",
            with("made", format_count(nodes.made)), with("dead", format_count(nodes.dead)),
            with("released", format_count(nodes.released)), with("holding", format_count(nodes.holding))));
    }
}

}  // namespace

void diagnose_steady(const Case& of, const Words& words, Findings& findings, Progress&) {
    if (!is_steady(of, findings)) {
        return;
    }
    Finding finding;
    finding.kind = FindingKind::steady;
    finding.verdict = Verdict::pattern;
    finding.confidence = Confidence::certain;
    finding.basis = words("Seen in the allocator's events of all rounds.");
    tell(finding, of, turnover_of(of), words);
    const auto last = static_cast<int64_t>(of.rounds().size()) - 1;
    finding.evidence = {at_round(of, words("After the first rounds"), warm_up),
                        at_round(of, words("At the end of the last round"), last)};
    findings.push_back(std::move(finding));
}

}  // namespace tidemark
