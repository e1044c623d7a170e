// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory rose once, after the warm-up, and stays: a step, not a leak.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/exception_fixes.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/late_memory.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr size_t most_findings = 3;
constexpr int64_t least_bytes = 1 << 20;

/// Returns whether workspaces are at least half of the memory that the stack allocated: the op that got a workspace
/// allocates its results, too.
bool is_mostly_workspace(const AnalysisContext& context, StackId stack) {
    int64_t workspaces = 0, all = 0;
    for (const Site& site : context.surviving_allocations().sites()) {
        for (size_t i = 0; context.graph() && site.stack == stack && i < site.now.size(); ++i) {
            const auto bytes = static_cast<int64_t>(context.device().allocations.block_size[site.now[i]]);
            const AllocationRef allocation{context.device_position(), site.now[i]};
            const Category category = context.graph()->categories.at(allocation, context.now_time());
            workspaces += category == Category::workspace ? bytes : 0;
            all += bytes;
        }
    }
    return 2 * workspaces >= all;
}

std::string rise_sentence(const AnalysisContext& context, const LateMemory& late, const Words& words) {
    const auto name = [&](size_t position) {
        return iteration_name(context.iterations(), words, static_cast<int64_t>(position));
    };
    const auto bytes = with("bytes", format_bytes(late.bytes));
    const auto tensors = with("tensors", objects_words(context, static_cast<int64_t>(late.allocations.size()), words));
    const bool is_at_once = late.end - late.begin <= context.surviving_allocations().iterations_per_slice();
    return is_at_once ? words(
                            "Memory rose by {bytes} in {iteration}, after the warm-up, and stays at that level "
                            "({tensors}). It does not grow further.",
                            bytes, with("iteration", name(late.since)), tensors)
                      : words(
                            "Memory rose by {bytes} from {first} to {last}, after the warm-up, and stays at that "
                            "level ({tensors}). It does not grow further.",
                            bytes, with("first", name(late.begin)), with("last", name(late.end)), tensors);
}

void describe(Finding& finding, const AnalysisContext& context, const LateMemory& late, const Words& words) {
    const auto bytes = with("bytes", format_bytes(late.bytes));
    const auto line = with("line", finding.line);
    const auto since = with("iteration", iteration_name(context.iterations(), words, static_cast<int64_t>(late.since)));
    finding.title = words("{bytes} from {line} stay since {iteration}", bytes, line, since);
    finding.text = {rise_sentence(context, late, words)};
    if (!finding.referrer.empty()) {
        finding.text.push_back(words("It is retained by {referrer}.", with("referrer", finding.referrer)));
    }
    finding.fixes = {{words("If it is no longer needed: release what refers to it."), "", late.bytes, {}}};
}

void describe_exception(Finding& finding, const AnalysisContext& context, const LateMemory& late, const Words& words) {
    finding.kind = FindingKind::exception_retains_frames;
    finding.severity = Severity::waste;
    const StoredException stored =
        stored_exception(context.graph()->tables(), words, late.retention.retention.referrer->links);
    const auto bytes = with("bytes", format_bytes(late.bytes));
    finding.title = words("a stored exception retains {bytes}", bytes);
    finding.text = {
        words("An exception refers to its traceback, the traceback to the frames of all functions on the "
              "way, and each frame to its variables: inputs, activations, a whole forward pass. The "
              "exception is retained by {referrer}, and with it {bytes}, for the rest of the run.",
              with("referrer", stored.referrer.empty() ? finding.referrer : stored.referrer), bytes)};
    finding.fixes = fixes_of_stored_exceptions(context.trace(), stored, {finding.stack, late.bytes, {}}, words);
}

Finding make_finding(const AnalysisContext& context, const LateMemory& late, const Words& words) {
    const Referrer* referrer = late.retention.retention.referrer;
    Finding finding = diagnoses::late_memory.new_finding();
    finding.confidence = referrer ? Confidence::certain : Confidence::likely;
    finding.basis = referrer ? words("The allocator's events show the rise; a heap scan found the referrer.")
                             : words("The allocator's events show the rise; what retains it was not found.");
    finding.bytes = late.bytes;
    set_allocations(finding, context, late.allocations, context.now());
    set_line(finding, context, late.sites.front()->stack);
    set_since(finding, context.iterations(), std::min(late.since, context.iterations().size() - 1));
    if (referrer) {
        finding.referrer = referrer_words(context.graph()->tables(), words, *referrer);
    }
    is_by_exception(late) ? describe_exception(finding, context, late, words) : describe(finding, context, late, words);
    for (const Site* site : late.sites) {
        finding.accounts_for.push_back(site->stack);
    }
    finding.evidence = {
        at_iteration(context, context.iterations(), words("Memory rises"), static_cast<int64_t>(late.since)),
        at_allocation(context, words("One of the retained allocations"), late.retention.allocation.index)};
    return finding;
}

void run(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings, Progress&) {
    if (context.out_of_memory()) {
        return;
    }
    std::vector<StackId> explained;
    for (const Finding& finding : earlier) {
        explained.insert(explained.end(), finding.accounts_for.begin(), finding.accounts_for.end());
        if (finding.kind != FindingKind::library_workspace || is_mostly_workspace(context, finding.stack)) {
            explained.push_back(finding.stack);
        }
    }
    size_t reported = 0;
    for (const LateMemory& late : find_late_memory(context, explained)) {
        if (reported++ < most_findings && late.bytes >= least_bytes) {
            findings.push_back(make_finding(context, late, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::late_memory{FindingKind::late_memory, Severity::pattern, DiagnosisPhase::comparison, run,
                                       DiagnosisScope::any_program};

}  // namespace tidemark
