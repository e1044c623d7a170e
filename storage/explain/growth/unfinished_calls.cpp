// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Calls of one function never return, and each retains its variables: threads or tasks that wait for ever.
#include <algorithm>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

constexpr size_t most_names = 4;

/// Returns the variables of the function that retain memory of the suspect.
std::vector<std::string> variables_of(const AnalysisContext& context, const LeakSuspect& suspect) {
    const GraphContext& graph = *context.graph();
    const PathLink& variable = suspect.referrer->links.front();
    std::set<std::string> names;
    for (const Site* site : suspect.sites) {
        for (const AllocationIndex a : site->now) {
            const Referrer* referrer = graph.referrers.of(AllocationRef{context.device_position(), a});
            if (referrer && referrer->links.front().function == variable.function && names.size() < most_names) {
                names.insert("`" + graph.text(referrer->links.front().name) + "`");
            }
        }
    }
    return {names.begin(), names.end()};
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer || suspect.calls == 0) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const std::vector<std::string> names = variables_of(context, suspect);
    const auto function = with("function", context.graph()->text(suspect.referrer->links.front().function));
    const auto calls = with("calls", words.plural(suspect.calls, "{n} call", "{n} calls"));
    const auto bytes = with("bytes", format_bytes(suspect.bytes));
    finding.title = words("{calls} of {function} have not returned and retain {bytes}", calls, function, bytes);
    finding.text = {
        words("A function that has not returned keeps its variables. A heap scan found {calls} of {function} at "
              "the same time, each with its own {variables}: threads or tasks that wait for something that never "
              "comes.",
              calls, function, with("variables", words.list(names))),
        retained_so_far(suspect, words)};
    finding.fixes = {
        {words("End the calls: when a connection or a session is closed, tell its thread or task to stop."),
         "session.inbox.put(None)\nsession.join()", suspect.bytes, suspect.per_iteration},
        {words("Or wait with a time limit, and return when it has passed."), "item = inbox.get(timeout=30)",
         suspect.bytes, suspect.per_iteration}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::unfinished_calls{FindingKind::unfinished_calls, classify};

}  // namespace tidemark
