// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S2: no tensor outlives its iteration.
#include <algorithm>
#include <span>
#include <vector>

#include "storage/base/median.h"
#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

constexpr size_t fewest_iterations = 5;
constexpr size_t warm_up = 2;

/// Allocations between the warm-up and the last iteration, and those of them that still exist.
struct Turnover {
    int64_t made = 0, made_bytes = 0;
    int64_t left = 0, left_bytes = 0;
};

Turnover turnover_of(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    const auto& made = allocations.alloc_event;
    const EventNumber from = context.iterations()[warm_up].first, to = context.iterations().all().back().first;
    const auto first = std::lower_bound(made.begin(), made.end(), from), last = std::lower_bound(first, made.end(), to);
    Turnover turnover;
    for (auto at = first; at != last; ++at) {
        const auto a = static_cast<size_t>(at - made.begin());
        const auto bytes = static_cast<int64_t>(allocations.block_size[a]);
        const bool is_left = allocations.free_event[a] >= context.now();
        turnover.made += 1;
        turnover.made_bytes += bytes;
        turnover.left += is_left;
        turnover.left_bytes += is_left ? bytes : 0;
    }
    return turnover;
}

struct Nodes {
    int64_t made = 0, destroyed = 0, released = 0, retaining = 0;
};

Nodes count_nodes(const GraphContext& graph, int64_t time) {
    Nodes nodes;
    for (NodeIndex node = 0; node < graph.tables().nodes.size(); ++node) {
        const NodeState state = graph.index.state(node, time);
        if (graph.index.is_leaf(node) || state == NodeState::not_created) {
            continue;
        }
        ++nodes.made;
        nodes.destroyed += state == NodeState::destroyed;
        nodes.released += state == NodeState::released;
        nodes.retaining += holds_saved(state);
    }
    return nodes;
}

/// Returns the lowest levels of the iterations after the warm-up. The last one of a loop that was found from stacks
/// contains what the program does after the loop. Requires `fewest_iterations`.
std::span<const int64_t> floor_of(const AnalysisContext& context) {
    const size_t last = context.iterations().source() == IterationSource::loop ? 1 : 0;
    const std::span<const int64_t> floor(context.allocated_floor());
    return floor.subspan(warm_up, floor.size() - warm_up - last);
}

/// Returns whether most of the later iterations fall back as low as the first half does.
bool stays_down(std::span<const int64_t> floor) {
    const auto middle = floor.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(floor.size() / 2, 1));
    return median(std::vector<int64_t>(middle, floor.end())) <= *std::max_element(floor.begin(), middle);
}

bool is_steady(const AnalysisContext& context, const Findings& findings) {
    const bool is_more = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.severity <= Severity::failure || finding.kind == FindingKind::late_memory ||
               finding.kind == FindingKind::exception_retains_frames;
    });
    return context.iterations().size() >= fewest_iterations && !is_more && !context.out_of_memory() &&
           context.suspects().empty() && !context.rises_to_the_end() && stays_down(floor_of(context));
}

std::string title_of(const AnalysisContext& context, const Words& words) {
    const std::span<const int64_t> floor = floor_of(context);
    const auto [lowest, highest] = std::minmax_element(floor.begin(), floor.end());
    const auto iterations = with("iterations", format_count(static_cast<int64_t>(context.iterations().size())));
    const std::string low = format_bytes(*lowest), high = format_bytes(*highest);
    return low == high
               ? words("memory does not grow: in {iterations} iterations it falls back to {bytes} each time",
                       iterations, with("bytes", low))
               : words("memory does not grow: in {iterations} iterations it falls back to between {low} and {high}",
                       iterations, with("low", low), with("high", high));
}

void report(Finding& finding, const AnalysisContext& context, const Turnover& turnover, const Words& words) {
    finding.title = title_of(context, words);
    if (!context.has_pytorch()) {
        finding.text = {words(
            "The first iterations allocate what stays. Allocations afterwards: {made} with {made_bytes} in total; not "
            "freed: {left} with {left_bytes}.",
            with("made", format_count(turnover.made)), with("made_bytes", format_bytes(turnover.made_bytes)),
            with("left", format_count(turnover.left)), with("left_bytes", format_bytes(turnover.left_bytes)))};
        return;
    }
    finding.text = {
        words("The first iterations allocate what stays: parameters, gradients, optimizer state, workspaces. Tensors "
              "allocated afterwards: {made} with {made_bytes} in total; still allocated: {left} with {left_bytes}.",
              with("made", format_count(turnover.made)), with("made_bytes", format_bytes(turnover.made_bytes)),
              with("left", format_count(turnover.left)), with("left_bytes", format_bytes(turnover.left_bytes)))};
    if (!context.graph()) {
        return;
    }
    const Nodes nodes = count_nodes(*context.graph(), context.now_time());
    if (nodes.made > 0) {
        finding.text.push_back(
            words("The autograd graph had {made} nodes. Destroyed: {dead}; alive without saved tensors: {released}; "
                  "alive with saved tensors or not yet executed: {holding}.",
                  with("made", format_count(nodes.made)), with("dead", format_count(nodes.destroyed)),
                  with("released", format_count(nodes.released)), with("holding", format_count(nodes.retaining))));
    }
}

void run(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings, Progress&) {
    if (!is_steady(context, earlier)) {
        return;
    }
    Finding finding = diagnoses::steady.new_finding();
    finding.confidence =
        context.iterations().source() == IterationSource::loop ? Confidence::likely : Confidence::certain;
    finding.basis = context.has_pytorch() ? words("The allocator's events of all iterations were read.")
                                          : words("The driver calls of all iterations were read.");
    report(finding, context, turnover_of(context), words);
    const auto last = static_cast<int64_t>(context.iterations().size()) - 1;
    finding.evidence = {at_iteration(context, context.iterations(), words("After the first iterations"), warm_up),
                        at_iteration(context, context.iterations(), words("At the end of the last iteration"), last)};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::steady{FindingKind::steady, Severity::pattern, DiagnosisPhase::conclusion, run,
                                  DiagnosisScope::any_program};

}  // namespace tidemark
