// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Calls of one function never return, and each retains its variables, or its context those of its caller: threads or
// tasks that wait for ever.
#include <algorithm>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/text/referrer_words.h"

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

/// Each task has a context of its own, in which it was created.
Finding unfinished_tasks(const AnalysisContext& context, const LeakSuspect& suspect, const PathLink& variable,
                         const Words& words) {
    Finding finding = suspect_finding(context, suspect, words);
    const std::string function = variable.file == 0 ? std::string() : context.graph()->text(variable.function);
    const auto name = with("name", context.graph()->text(variable.name));
    const auto bytes = with("bytes", format_bytes(suspect.bytes));
    const auto contexts = with("contexts", words.plural(suspect.calls, "{n} context", "{n} contexts"));
    finding.title =
        function.empty()
            ? words("{contexts} retain {bytes} through the context variable `{name}`", contexts, bytes, name)
            : words("the contexts of {tasks} of {function} retain {bytes} through the context variable `{name}`",
                    with("tasks", words.plural(suspect.calls, "{n} task", "{n} tasks")), with("function", function),
                    bytes, name);
    finding.text = {
        words(
            "A new task copies the context of the code that creates it, with the values that context variables have "
            "at that time, and retains this copy until it has finished. So do callbacks and timers of asyncio. A heap "
            "scan found {contexts} at the same time, each with its own value of `{name}`; setting the variable anew "
            "changes none of these.",
            contexts, name),
        retained_so_far(suspect, words)};
    finding.fixes = {{words("Cancel each task when its work is done, or let it finish."), "task.cancel()",
                      suspect.bytes, suspect.per_iteration},
                     {words("Or create it with an empty context, which does not copy the variables."),
                      fmt::format("asyncio.create_task({}(...), context=contextvars.Context())",
                                  function.empty() ? "work" : function),
                      suspect.bytes, suspect.per_iteration}};
    return finding;
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer || suspect.calls == 0) {
        return std::nullopt;
    }
    if (const PathLink& variable = *variable_of_call(*suspect.referrer); is_context_variable(variable)) {
        return unfinished_tasks(context, suspect, variable, words);
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
