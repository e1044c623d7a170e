// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Leak suspects: memory that grows from iteration to iteration. The first classifier that recognizes the cause reports
// it.
#include <algorithm>
#include <iterator>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/ended_growth.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/gpu_library.h"
#include "storage/explain/growth/end_of_container.h"
#include "storage/explain/growth/repeated_hooks.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/jit_cache_growth.h"
#include "storage/explain/joined_suspects.h"
#include "storage/explain/library_advice.h"
#include "storage/explain/pool_growth.h"
#include "storage/explain/private_pools.h"
#include "storage/explain/storing_line.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Memory in private pools is reported by cuda_graph_pools_grow.
bool lies_in_private_pool(const AnalysisContext& context, const LeakSuspect& suspect) {
    const uint32_t segment = context.device().allocations.segment[suspect.example.index];
    return segment != no_segment && is_private(context, context.device().segments[segment]);
}

/// Returns whether a finding of this kind can name the object whose attributes retain the memory.
bool can_name_object(FindingKind kind) {
    return kind == FindingKind::growing_container || kind == FindingKind::growing_tensor ||
           kind == FindingKind::eval_without_no_grad;
}

/// A suspect and the finding about it.
struct Classified {
    LeakSuspect suspect;
    Finding finding;
};

/// Returns whether the same objects form the cycles that retain two suspects.
bool is_same_cycle(const AnalysisContext& context, const Classified& a, const Classified& b) {
    return a.finding.kind == FindingKind::garbage_cycles && a.suspect.referrer && b.suspect.referrer &&
           is_cycle(*a.suspect.referrer) && is_cycle(*b.suspect.referrer) &&
           context.graph()->text(a.suspect.referrer->links.front().name) ==
               context.graph()->text(b.suspect.referrer->links.front().name) &&
           a.suspect.iterations == b.suspect.iterations && a.suspect.growth == b.suspect.growth;
}

/// Returns whether one line fills one container with both: parts of its elements.
bool fill_one_container(const Classified& a, const Classified& b) {
    return a.finding.kind == FindingKind::growing_container && a.finding.line == b.finding.line &&
           !a.finding.referrer.empty() && a.finding.referrer == b.finding.referrer &&
           a.suspect.iterations == b.suspect.iterations && a.suspect.growth == b.suspect.growth;
}

/// Returns whether two suspects have one cause: one cycle, container or object retains them, or nothing that is known.
/// Memory of unknown cause does not.
bool is_same_cause(const AnalysisContext& context, const Classified& a, const Classified& b) {
    if (a.finding.kind != b.finding.kind || a.finding.kind == FindingKind::unexplained_growth) {
        return false;
    }
    if (is_same_cycle(context, a, b) || fill_one_container(a, b)) {
        return true;
    }
    return a.suspect.referrer && b.suspect.referrer
               ? can_name_object(a.finding.kind) && are_of_one_object(context.graph()->tables(), a.suspect, b.suspect)
               : !a.suspect.referrer && !b.suspect.referrer && a.suspect.iterations == b.suspect.iterations &&
                     a.suspect.growth == b.suspect.growth;
}

/// Returns the code of both, with a last line that they share once: one that stores the element whose attributes the
/// lines before change would store it twice.
std::string joined_code(const std::string& one, const std::string& other) {
    if (one == other) {
        return one;
    }
    const size_t end = one.rfind('\n');
    const bool has_same_end = end != std::string::npos && other.ends_with(one.substr(end));
    return (has_same_end ? one.substr(0, end) : one) + "\n" + other;
}

/// Adds the code of the other attribute's fixes to those of an object.
void join_code(std::vector<Fix>& fixes, const std::vector<Fix>& one, const std::vector<Fix>& other) {
    for (size_t i = 0; i < std::min({fixes.size(), one.size(), other.size()}); ++i) {
        fixes[i].code = joined_code(one[i].code, other[i].code);
    }
}

/// Adds the memory of the other one, which has the same cause.
void join(Classified& one, const Classified& other, const AnalysisContext& context, const Words& words) {
    const bool has_object =
        one.suspect.referrer != nullptr && !is_same_cycle(context, one, other) && !fill_one_container(one, other);
    if (has_object) {
        join_attributes(context.graph()->tables(), one.suspect, other.suspect);
    } else {
        join(one.suspect, other.suspect);
    }
    if (std::optional<Finding> joined = classify_suspect(context, one.suspect, words)) {
        if (has_object) {
            join_code(joined->fixes, one.finding.fixes, other.finding.fixes);
        }
        one.finding = std::move(*joined);
    }
}

void add(std::vector<Classified>& all, const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    std::optional<Finding> finding = classify_suspect(context, suspect, words);
    if (!finding) {
        return;
    }
    Classified added{suspect, std::move(*finding)};
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const Classified& one) { return is_same_cause(context, one, added); });
    if (same == all.end()) {
        all.push_back(std::move(added));
    } else {
        join(*same, added, context, words);
    }
}

/// Says which attributes of an object retain the memory, if they are several.
void add_attributes(Finding& finding, const LeakSuspect& suspect, const AnalysisContext& context, const Words& words) {
    std::vector<std::string> names;
    std::string owner;
    for (const uint32_t attribute : suspect.attributes) {
        const std::string& name = context.graph()->text(attribute);  // "preds of AveragePrecision"
        names.push_back("`" + name.substr(0, name.find(' ')) + "`");
        owner = name.substr(name.rfind(' ') + 1);
    }
    if (!names.empty()) {
        finding.text.push_back(words("The memory is retained by these attributes of class {class}: {attributes}.",
                                     with("class", owner), with("attributes", words.list(names))));
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
    if (!suspect.referrer) {
        return library_fix_of_growth(context.trace(), words, finding.stack);
    }
    const RetentionPath path{context.graph()->tables(), suspect.referrer->links};
    std::optional<Fix> fix =
        library_fix_of_path(context.trace(), path.tables, words, path.links, suspect.growth, finding.stack);
    return fix ? fix : library_fix_of_growth(context.trace(), words, finding.stack, &path);
}

/// Removes general fixes that the library's one contains or makes needless, and those of containers that only the
/// library fills.
void remove_general_fixes(Finding& finding, const Fix& of_library, const LeakSuspect& suspect,
                          const AnalysisContext& context) {
    const bool is_better =
        finding.kind == FindingKind::parameters_grow ||
        (suspect.referrer && is_filled_by_library(context.trace(), context.graph()->tables(), suspect.referrer->links));
    std::erase_if(finding.fixes, [&](const Fix& fix) {
        return fix.is_general && (is_better || of_library.code.find(fix.code) != std::string::npos);
    });
}

/// Takes the change of the program's own line from a general fix, if both store copies in host memory.
void take_change_of_line(Fix& of_library, Finding& finding) {
    constexpr std::string_view copies = ".cpu()";
    if (!of_library.diff.empty() || of_library.code.find(copies) == std::string::npos) {
        return;
    }
    const auto same = std::find_if(finding.fixes.begin(), finding.fixes.end(), [&](const Fix& fix) {
        return fix.is_general && fix.diff.find(copies) != std::string::npos;
    });
    if (same != finding.fixes.end()) {
        of_library.diff = std::move(same->diff);
        finding.fixes.erase(same);
    }
}

/// Adds the fix of the library that retains the memory, before the general ones, or instead of them if they would
/// change the library. Hooks are the program's own.
void add_library_fix(Finding& finding, const LeakSuspect& suspect, const AnalysisContext& context, const Words& words) {
    if (finding.kind == FindingKind::hook_retains_activations) {
        return;
    }
    std::optional<Fix> fix = library_fix(finding, suspect, context, words);
    const bool is_known = fix && std::any_of(finding.fixes.begin(), finding.fixes.end(),
                                             [&](const Fix& other) { return other.text == fix->text; });
    if (fix && !is_known) {
        fix->bytes = finding.bytes;
        fix->per_iteration = finding.per_iteration;
        if (grows_in_library(finding, context.trace().stacks)) {
            finding.fixes.clear();
        }
        remove_general_fixes(finding, *fix, suspect, context);
        take_change_of_line(*fix, finding);
        if (finding.kind == FindingKind::unexplained_growth && !fix->diff.empty()) {
            finding.fixes.clear();  // the search for what the library retains is over
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

void finish(Classified& one, const AnalysisContext& context, const Words& words) {
    add_attributes(one.finding, one.suspect, context, words);
    if (one.suspect.referrer) {
        const std::vector<PathLink>& links = one.suspect.referrer->links;
        // Several attributes have one object in common; the container of each is where its path first has an element.
        const size_t end = one.suspect.attributes.empty() ? position_of_element(one.suspect) : container_end(links);
        add_storing_line(one.finding, context, links, end, words);
        add_end_of_container(one.finding, context, one.suspect, words);
    }
    add_rises(one.finding, one.suspect.rises, one.suspect.iterations->source(), words);
    add_library_fix(one.finding, one.suspect, context, words);
}

/// Adds growth in loops that have ended, unless it has a finding already.
void add_ended(const AnalysisContext& context, const Words& words, Findings& findings) {
    for (const RunPart& run_part : parts_between_iterations(context)) {
        const AnalysisContext part = context.of_part(run_part);
        std::vector<Classified> all;
        for (const LeakSuspect& suspect : part.suspects()) {
            if (is_needless_growth(context, part, suspect)) {
                add(all, part, suspect, words);
            }
        }
        for (Classified& one : all) {
            const bool is_known = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
                return finding.kind == one.finding.kind && finding.line == one.finding.line;
            });
            if (!is_known) {
                finish(one, part, words);
                add_end(one.finding, context, one.suspect, words);
                findings.push_back(std::move(one.finding));
            }
        }
    }
}

/// Adds what retains arrays in JAX's pool: containers, and the cache of jax.jit. They explain why the pool grew.
void add_pool_growth(const AnalysisContext& context, const Words& words, Findings& findings) {
    Findings in_pool = pool_growth(context, words);
    if (std::optional<Finding> in_cache = jit_cache_growth(context, words)) {
        in_pool.push_back(std::move(*in_cache));
    }
    if (!in_pool.empty()) {
        std::erase_if(findings, [&](const Finding& finding) {
            return finding.kind == FindingKind::unexplained_growth &&
                   gpu_library_of(context.trace(), finding.stack) == GpuLibrary::jax;
        });
    }
    std::move(in_pool.begin(), in_pool.end(), std::back_inserter(findings));
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
        finish(one, context, words);
        findings.push_back(std::move(one.finding));
    }
    add_ended(context, words, findings);
    add_pool_growth(context, words, findings);
}

}  // namespace

const Diagnosis diagnoses::growth{FindingKind::unexplained_growth, Severity::leak, DiagnosisPhase::observation, run,
                                  DiagnosisScope::any_program};

}  // namespace tidemark
