// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S7: several tensors, each retained by its own variable.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// One or two variables need no explanation.
constexpr size_t fewest_variables = 3;
/// Each variable retains at least this part of what all of them retain.
constexpr double least_part = 0.05;
/// Together they retain at least this part of the allocated memory, without workspaces.
constexpr double least_share = 0.5;
constexpr int64_t least_bytes = 1 << 20;
constexpr size_t most_names = 8;

struct Variable {
    const Referrer* referrer = nullptr;
    AllocationIndex allocation = no_allocation;
    int64_t bytes = 0;
};

/// Returns the variables that retain a large part of the memory, most bytes first.
std::vector<Variable> find(const AnalysisContext& context) {
    std::vector<Variable> variables;
    int64_t all = 0;
    for (const AllocationIndex a : allocated_at(context, context.now())) {
        const AllocationRef allocation{context.device_position(), a};
        const Referrer* referrer = context.graph()->referrers.of(allocation);
        if (referrer && is_variable(*referrer) &&
            !is_retained_outside_graph(context.graph()->categories.at(allocation, context.now_time()))) {
            variables.push_back({referrer, a, static_cast<int64_t>(context.device().allocations.block_size[a])});
            all += variables.back().bytes;
        }
    }
    std::erase_if(variables, [&](const Variable& variable) {
        return static_cast<double>(variable.bytes) < least_part * static_cast<double>(all);
    });
    return variables;
}

int64_t bytes_of(const std::vector<Variable>& variables) {
    int64_t bytes = 0;
    for (const Variable& variable : variables) {
        bytes += variable.bytes;
    }
    return bytes;
}

bool is_worth_reporting(const AnalysisContext& context, const std::vector<Variable>& variables) {
    if (variables.size() < fewest_variables) {
        return false;
    }
    const Composition composition = composition_at(context, context.now());
    const int64_t retained = bytes_of(variables), all = composition.total() - composition.of(Category::workspace);
    return retained >= least_bytes && static_cast<double>(retained) >= least_share * static_cast<double>(all);
}

std::string names_of(const AnalysisContext& context, const std::vector<Variable>& variables, const Words& words) {
    std::vector<std::string> names;
    names.reserve(variables.size());
    for (const Variable& variable : variables) {
        names.push_back("`" + referrer_expression(context.graph()->tables(), *variable.referrer) + "`");
    }
    std::sort(names.begin(), names.end());
    if (names.size() > most_names) {
        const auto more = static_cast<int64_t>(names.size() - most_names);
        names.resize(most_names);
        names.push_back(words.plural(more, "{n} more", "{n} more"));
    }
    return words.list(names);
}

FindingMemory memory_of(const AnalysisContext& context, const std::vector<Variable>& variables) {
    std::vector<AllocationIndex> allocations;
    std::transform(variables.begin(), variables.end(), std::back_inserter(allocations),
                   [](const Variable& variable) { return variable.allocation; });
    return tidemark::memory_of(context, std::move(allocations), context.now());
}

Finding make_finding(const AnalysisContext& context, const std::vector<Variable>& variables, const Words& words) {
    const auto count =
        with("tensors", words.plural(static_cast<int64_t>(variables.size()), "{n} tensor", "{n} tensors"));
    const auto bytes = with("bytes", format_bytes(bytes_of(variables)));
    const auto names = with("names", names_of(context, variables, words));
    Finding finding = diagnoses::live_variables.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("A heap scan found the variables.");
    finding.bytes = bytes_of(variables);
    finding.memory = memory_of(context, variables);
    finding.count = static_cast<int64_t>(variables.size());
    finding.component = ComponentKind::requested;
    set_line(finding, context, context.device().allocations.stack[variables.front().allocation]);
    finding.referrer = referrer_words(context.graph()->tables(), words, *variables.front().referrer);
    finding.title = words("{tensors} retained by one variable each: {bytes} in total", count, bytes);
    finding.text = {words("The variables {names} retain {tensors}: {bytes} in total. A tensor is freed when no "
                          "variable and no other object refers to it, not after its last use.",
                          count, bytes, names),
                    words("With a single name only the last tensor would stay: a new assignment releases the previous "
                          "tensor, but only after the new tensor exists. Two tensors then exist for a short time, and "
                          "their blocks are reused in turn.")};
    for (const Variable& variable : variables) {
        if (finding.evidence.size() < fewest_variables + 1) {
            finding.evidence.push_back(
                at_allocation(context,
                              words("Retained by `{name}`",
                                    with("name", referrer_expression(context.graph()->tables(), *variable.referrer))),
                              variable.allocation));
        }
    }
    const std::string first = referrer_expression(context.graph()->tables(), *variables.front().referrer);
    finding.fixes = {
        {words("Delete names that are no longer needed, or work in a function: its variables are released on return."),
         "del " + first, variables.front().bytes, std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (!context.graph()) {
        return;
    }
    if (const std::vector<Variable> variables = find(context); is_worth_reporting(context, variables)) {
        findings.push_back(make_finding(context, variables, words));
    }
}

}  // namespace

const Diagnosis diagnoses::live_variables{FindingKind::live_variables, Severity::pattern, DiagnosisPhase::observation,
                                          run};

}  // namespace tidemark
