// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/growth/suspect_classifier.h"

#include <algorithm>
#include <array>

#include "storage/base/units.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/retention_path.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

void add_evidence(Finding& finding, const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const auto iteration = static_cast<int64_t>(suspect.since);
    finding.evidence.push_back(
        at_iteration(context, *suspect.iterations,
                     words("The growth begins in {iteration}",
                           with("iteration", iteration_name(*suspect.iterations, words, iteration))),
                     iteration));
    const AllocationIndex a = suspect.example.index;
    const auto bytes = with("bytes", format_bytes(static_cast<int64_t>(context.device().allocations.block_size[a])));
    const auto line = with("line", line_of(context.trace(), context.device().allocations.stack[a]));
    finding.evidence.push_back(
        at_allocation(context, words("One of the retained allocations: {bytes} from {line}", bytes, line), a));
    if (suspect.through_graph()) {
        const GraphIndex& index = context.graph()->index;
        finding.evidence.push_back(at_node(
            context, words("The node that saved it: {type}", with("type", index.type(suspect.retention.retainer))),
            suspect.retention.retainer));
        if (suspect.retention.root != suspect.retention.retainer) {
            finding.evidence.push_back(at_node(
                context,
                words("The root that retains this node: {type}", with("type", index.type(suspect.retention.root))),
                suspect.retention.root));
        }
    }
    finding.evidence.push_back(
        at_event(context, words("Accumulated by {time_point}", with("time_point", time_point_name(context, words))),
                 context.now()));
}

/// Adds why the growth may end.
std::string with_doubt(const std::string& basis, Pace pace, const Words& words) {
    switch (pace) {
        case Pace::steady: return basis;
        case Pace::seldom:
            return words.sentences({basis, words("It grew only a few times, as data that is loaded in stages does, so "
                                                 "the growth may end.")});
        case Pace::uneven:
            return words.sentences({basis, words("It did not grow in all parts of the run, so the growth may end.")});
    }
    return basis;
}

std::string basis(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const auto iterations =
        with("iterations", format_count(static_cast<int64_t>(suspect.iterations->size() - suspect.since)));
    if (!context.graph() && context.trace().event_source == EventSource::driver) {
        return words(
            "The driver calls of {iterations} iterations show the growth; what refers to the memory was not "
            "recorded.",
            iterations);
    }
    if (!context.graph()) {
        return words("The allocator's events of {iterations} iterations show the growth; referrers were not recorded.",
                     iterations);
    }
    const bool has_pytorch = context.has_pytorch();
    if (suspect.referrer) {
        const std::string found =
            has_pytorch
                ? words(
                      "The allocator's events of {iterations} iterations show the growth; a heap scan found the "
                      "referrer.",
                      iterations)
                : words("The driver calls of {iterations} iterations show the growth; a heap scan found the referrer.",
                        iterations);
        return with_doubt(found, suspect.pace, words);
    }
    return has_pytorch ? words(
                             "The allocator's events of {iterations} iterations show the growth; no referring "
                             "variable was found.",
                             iterations)
                       : words(
                             "The driver calls of {iterations} iterations show the growth; no referring variable was "
                             "found.",
                             iterations);
}

/// Returns the time of the first memory that stays, if it is of the iteration in which the growth begins: the first
/// iteration begins with the recording. Otherwise the start of that iteration.
int64_t start_of_growth(const AnalysisContext& context, const LeakSuspect& suspect) {
    const Iteration& first = (*suspect.iterations)[suspect.since];
    int64_t oldest = INT64_MAX;
    for (const Site* site : suspect.sites) {
        oldest = site->now.empty() ? oldest : std::min(oldest, context.device().alloc_time(site->now.front()));
    }
    return oldest > first.end ? first.start : std::max(oldest, first.start);
}

}  // namespace

std::span<const SuspectClassifier* const> all_suspect_classifiers() {
#define TIDEMARK_CLASSIFIER(name, word) &classifiers::name,
    static constexpr std::array list{
        TIDEMARK_FINDING_KINDS(TIDEMARK_CLASSIFIER, TIDEMARK_NO_KIND, TIDEMARK_CLASSIFIER)};
#undef TIDEMARK_CLASSIFIER
    return list;
}

std::optional<Finding> classify_suspect(const AnalysisContext& context, const LeakSuspect& suspect,
                                        const Words& words) {
    for (const SuspectClassifier* classifier : all_suspect_classifiers()) {
        if (std::optional<Finding> finding = classifier->classify(context, suspect, words)) {
            finding->kind = classifier->id;
            return finding;
        }
    }
    return std::nullopt;
}

std::string retained_so_far(const LeakSuspect& suspect, const Words& words) {
    if (suspect.rises) {
        return words("The memory stays: {total} so far.", with("total", format_bytes(suspect.bytes)));
    }
    return words("Every {iteration} retains another {bytes}: {total} so far.",
                 with("iteration", iteration_words(suspect.iterations->source(), words)),
                 with("bytes", format_bytes(suspect.per_iteration)), with("total", format_bytes(suspect.bytes)));
}

size_t position_of_element(const LeakSuspect& suspect) {
    const std::vector<PathLink>& links = suspect.referrer->links;
    const bool is_known = suspect.paths.is_growth && suspect.paths.varying && *suspect.paths.varying < links.size();
    return is_known ? *suspect.paths.varying : container_end(links);
}

bool are_numbers(const AnalysisContext& context, const LeakSuspect& suspect) {
    constexpr uint64_t largest_number = 8;  ///< bytes of a double
    const std::vector<uint64_t>& requested = context.device().allocations.requested;
    return !suspect.allocations.empty() &&
           std::all_of(suspect.allocations.begin(), suspect.allocations.end(),
                       [&](AllocationIndex a) { return requested[a] <= largest_number; });
}

Finding suspect_finding(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    Finding finding;
    finding.severity = Severity::leak;
    const bool is_known = suspect.referrer && suspect.pace == Pace::steady && !suspect.has_unknown_parts;
    finding.confidence = is_known ? Confidence::certain : Confidence::likely;
    finding.basis = basis(context, suspect, words);
    if (suspect.has_unknown_parts) {
        finding.unknowns.push_back(
            words("The heap scans found the referrer of a part of these tensors. The others were allocated at the same "
                  "lines, and rise alike."));
    }
    finding.bytes = suspect.bytes;
    finding.per_iteration = suspect.per_iteration;
    finding.count = suspect.count;
    finding.memory = memory_of(context, suspect.allocations, context.now());
    finding.component = ComponentKind::requested;
    set_line(finding, context, suspect.sites.front()->stack);
    set_since(finding, *suspect.iterations, suspect.since);
    finding.since = start_of_growth(context, suspect);
    for (const Site* site : suspect.sites) {
        finding.accounts_for.push_back(site->stack);
    }
    finding.rate = static_cast<double>(suspect.per_iteration) / suspect.iterations->mean_seconds();
    if (suspect.referrer) {
        finding.referrer = referrer_words(context.graph()->tables(), words, suspect.paths);
    }
    finding.path = retention_path(context, suspect, words);
    add_evidence(finding, context, suspect, words);
    return finding;
}

}  // namespace tidemark
