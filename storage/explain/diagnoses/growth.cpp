// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Leak suspects: memory that grows from iteration to iteration. The first classifier that recognizes the cause reports
// it.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/repeated_hooks.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/library_advice.h"
#include "storage/explain/private_pools.h"
#include "storage/explain/stack_search.h"

namespace tidemark {
namespace {

/// Memory in private pools is reported by cuda_graph_pools_grow.
bool lies_in_private_pool(const AnalysisContext& context, const LeakSuspect& suspect) {
    const uint32_t segment = context.device().allocations.segment[suspect.example.index];
    return segment != no_segment && is_private(context, context.device().segments[segment]);
}

/// Returns whether two suspects without a known referrer have one cause. Memory of unknown cause does not.
bool is_same_cause(const LeakSuspect& a, const Finding& of_a, const LeakSuspect& b, const Finding& of_b) {
    return of_a.kind == of_b.kind && of_a.kind != FindingKind::unexplained_growth && a.iterations == b.iterations &&
           a.growth == b.growth && !a.referrer && !b.referrer;
}

/// A suspect and the finding about it.
struct Classified {
    LeakSuspect suspect;
    Finding finding;
};

void add(std::vector<Classified>& all, const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    std::optional<Finding> finding = classify_suspect(context, suspect, words);
    if (!finding) {
        return;
    }
    const auto same = std::find_if(all.begin(), all.end(), [&](const Classified& one) {
        return is_same_cause(one.suspect, one.finding, suspect, *finding);
    });
    if (same == all.end()) {
        all.push_back({suspect, std::move(*finding)});
        return;
    }
    join(same->suspect, suspect);
    if (std::optional<Finding> joined = classify_suspect(context, same->suspect, words)) {
        same->finding = std::move(*joined);
    }
}

/// Says when the memory grows, if not in every iteration.
void add_rises(Finding& finding, const LeakSuspect& suspect, const Words& words) {
    finding.rises = suspect.rises;
    if (finding.rises) {
        finding.text.push_back(
            words("{mean} {each} is the mean: the memory grew {times}, about every {iterations}, by {bytes} each time.",
                  with("mean", format_bytes(suspect.per_iteration)),
                  with("each", each_iteration(suspect.iterations->source(), words)),
                  with("times", words.plural(finding.rises->count, "{n} time", "{n} times")),
                  with("iterations", iterations_words(suspect.iterations->source(), finding.rises->every, words)),
                  with("bytes", format_bytes(finding.rises->bytes))));
    }
}

/// Returns whether code of a library makes the tensor anew, which the program cannot change.
bool grows_in_library(const Finding& finding, const StackTable& stacks) {
    return finding.kind == FindingKind::growing_tensor &&
           stacks.role(calling_frame(stacks, finding.stack)) == FrameRole::library;
}

/// Returns the fix of the library whose object retains the memory, or whose code allocated it.
std::optional<Fix> library_fix(const Finding& finding, const LeakSuspect& suspect, const AnalysisContext& context,
                               const Words& words) {
    std::optional<Fix> fix;
    if (suspect.referrer) {
        fix = library_fix_of_path(context.trace(), context.graph()->tables(), words, suspect.referrer->links);
    }
    return fix ? fix : library_fix_of_growth(context.trace(), words, finding.stack);
}

/// Adds the fix of the library that retains the memory, before the general ones, or instead of them if they would
/// change the library. Hooks are the program's own.
void add_library_fix(Finding& finding, const LeakSuspect& suspect, const AnalysisContext& context, const Words& words) {
    if (finding.kind == FindingKind::hook_retains_activations) {
        return;
    }
    if (std::optional<Fix> fix = library_fix(finding, suspect, context, words)) {
        fix->bytes = finding.bytes;
        fix->per_iteration = finding.per_iteration;
        if (grows_in_library(finding, context.trace().stacks)) {
            finding.fixes.clear();
        }
        finding.fixes.insert(finding.fixes.begin(), std::move(*fix));
    }
}

void copy_growth(const Finding& from, Finding& to) {
    to.per_iteration = from.per_iteration;
    to.rate = from.rate;
    to.since = from.since;
    to.since_iteration = from.since_iteration;
    to.unit = from.unit;
}

/// Adds hooks that are registered again and again, unless their memory has a finding already. They explain its growth.
void add_repeated_hooks(std::vector<Classified>& all, const AnalysisContext& context, const Words& words,
                        Findings& findings) {
    for (Finding& hook : repeated_hooks(context, words)) {
        const auto same =
            std::find_if(all.begin(), all.end(), [&](const Classified& one) { return one.finding.line == hook.line; });
        if (same == all.end()) {
            findings.push_back(std::move(hook));
        } else if (same->finding.kind == FindingKind::unexplained_growth) {
            copy_growth(same->finding, hook);
            same->finding = std::move(hook);
        }
    }
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    std::vector<Classified> all;
    for (const LeakSuspect& suspect : context.suspects()) {
        if (!lies_in_private_pool(context, suspect)) {
            add(all, context, suspect, words);
        }
    }
    add_repeated_hooks(all, context, words, findings);
    for (Classified& one : all) {
        add_rises(one.finding, one.suspect, words);
        add_library_fix(one.finding, one.suspect, context, words);
        findings.push_back(std::move(one.finding));
    }
}

}  // namespace

const Diagnosis diagnoses::growth{FindingKind::unexplained_growth, Severity::leak, DiagnosisPhase::observation, run};

}  // namespace tidemark
