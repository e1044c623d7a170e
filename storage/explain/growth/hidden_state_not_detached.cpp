// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #3: the output of one iteration, with its graph, is an input of the next: hidden state that is not detached.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/cross_iteration_graph.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/suggested_change.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Returns the name of the tensor that is passed on: of the variable or attribute that refers to it, of the one that
/// its line sets, or of the one that retains the graph.
std::string carried_name(const AnalysisContext& context, const LeakSuspect& suspect, const Link& link) {
    const auto expression = [&](const Referrer& referrer) {
        return referrer_expression(context.graph()->tables(), referrer);
    };
    const Referrer* now = context.graph()->referrers.in_python(link.earlier);
    if (now && std::none_of(now->links.begin(), now->links.end(), is_element)) {
        return expression(*now);
    }
    std::string variable = assigned_variable(context.trace(), context.graph()->tables().nodes.stack[link.earlier]);
    const Referrer* other = now ? now : suspect.referrer;
    return !variable.empty() || !other ? variable : expression(*other);
}

/// `line`: "" for the node of an in-place operation, whose stack is not recorded.
std::string title_of(const std::string& name, const std::string& line, const Words& words) {
    if (line.empty()) {
        return name.empty()
                   ? words("one graph spans all iterations: a tensor is passed on with its graph")
                   : words("one graph spans all iterations: `{name}` is passed on with its graph", with("name", name));
    }
    return name.empty() ? words("one graph spans all iterations: the tensor from {line} is passed on with its graph",
                                with("line", line))
                        : words("one graph spans all iterations: `{name}` from {line} is passed on with its graph",
                                with("name", name), with("line", line));
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const std::optional<Link> link = cross_iteration_link(context, suspect);
    if (!link) {
        return std::nullopt;
    }
    const GraphIndex& index = context.graph()->index;
    const auto& nodes = context.graph()->tables().nodes;
    Finding finding = suspect_finding(context, suspect, words);
    const std::string line = line_of(context.trace(), nodes.stack[link->earlier]);
    const auto iteration = with("iteration", iteration_words(suspect.iterations->source(), words));
    const std::string name = carried_name(context, suspect, *link);
    finding.title = title_of(name, line, words);
    finding.text = {
        words("The graph of each {iteration} refers to that of the {iteration} before: {later} uses the output of "
              "{earlier} from one {iteration} earlier. The newest tensor therefore retains everything that was ever "
              "saved: another {bytes} every {iteration}, {total} so far.",
              iteration, with("later", index.type(link->later)), with("earlier", index.type(link->earlier)),
              with("bytes", format_bytes(suspect.per_iteration)), with("total", format_bytes(suspect.bytes)))};
    if (suspect.retention.retainer_state == NodeState::executed) {
        finding.text.push_back(
            words("Each backward pass executes the whole chain again and becomes slower; retain_graph=True is present "
                  "only to allow this."));
    }
    finding.evidence.push_back(at_node(context,
                                       words("The link from one {iteration} to the one before: {type}", iteration,
                                             with("type", index.type(link->earlier))),
                                       link->earlier));
    const std::string variable = name.empty() ? "hidden" : name;
    finding.fixes = {{words("Cut the graph between iterations: detach the tensor that is passed on."),
                      fmt::format("{0} = {0}.detach()", variable), suspect.bytes, suspect.per_iteration,
                      detach_before_diff(context.trace(), nodes.stack[link->earlier], variable)}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::hidden_state_not_detached{FindingKind::hidden_state_not_detached, classify};

}  // namespace tidemark
