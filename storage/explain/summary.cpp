// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/summary.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/gpu_library.h"
#include "storage/explain/kept_activations.h"
#include "storage/explain/memory_at_peak.h"
#include "storage/explain/old_results.h"
#include "storage/explain/reserved_growth.h"
#include "storage/explain/stack_categories.h"
#include "storage/text/fact_words.h"

namespace tidemark {
namespace {

constexpr double least_named_share = 0.02;
constexpr size_t most_shares = 7;
constexpr size_t fewest_iterations = 5;  ///< required to state that nothing grows

using Parts = std::map<std::string, Share>;

void add_part(Parts& parts, std::string name, int64_t bytes, ComponentKind component,
              std::optional<Category> category = {}) {
    Share& part = parts[name];
    part.name = std::move(name);
    part.bytes += bytes;
    part.component = component;
    part.category = category;
}

/// Adds the program's tensors by category; the requested bytes of the blocks add up to the component. Without a graph,
/// only categories that stacks prove are known. Arrays of other libraries have none.
void add_categories(const AnalysisContext& context, const Words& words, const Component& component, Parts& parts) {
    int64_t known = 0;
    const auto by_stack = categories_by_stack(context);
    const auto category_of = [&](AllocationIndex a) -> std::optional<Category> {
        if (context.graph() && context.has_pytorch()) {
            return context.graph()->categories.at({context.device_position(), a}, context.now_time());
        }
        const auto found = by_stack.find(a);
        return found == by_stack.end() ? std::nullopt : std::optional(found->second);
    };
    const Allocations& allocations = context.device().allocations;
    context.analysis().live().for_each_active(context.now(), [&](AllocationIndex a) {
        const std::optional<Category> category = category_of(a);
        if (category && allocations.free_event[a] >= context.now()) {
            const auto bytes = static_cast<int64_t>(allocations.requested[a]);
            add_part(parts, category_name(words, *category), bytes, component.kind, *category);
            known += bytes;
        }
    });
    if (known != component.bytes) {
        const std::string name = component_name(words, component);
        add_part(parts, known == 0 ? name : words("other {component}", with("component", name)),
                 component.bytes - known, component.kind);
    }
}

/// Returns one name for many other processes, which would leave no line for the parts of this program; nothing for few.
std::optional<std::string> name_of_processes(const std::vector<Component>& components, const Words& words) {
    constexpr int64_t most_named = 2;
    const int64_t count = std::count_if(components.begin(), components.end(), [](const Component& component) {
        return component.kind == ComponentKind::other_processes;
    });
    return count > most_named ? std::optional(words.plural(count, "{n} other process", "{n} other processes"))
                              : std::nullopt;
}

void write_shares(const AnalysisContext& context, const Words& words, Explanation& explanation) {
    Parts parts;
    const std::optional<std::string> processes = name_of_processes(context.row().components, words);
    for (const Component& component : context.row().components) {
        if (component.kind == ComponentKind::requested) {
            add_categories(context, words, component, parts);
        } else if (component.kind == ComponentKind::other_processes && processes) {
            add_part(parts, *processes, component.bytes, component.kind);
        } else {
            add_part(parts, component_name(words, component), component.bytes, component.kind);
        }
        explanation.total += component.bytes;
    }
    auto& shares = explanation.shares;
    for (auto& [name, part] : parts) {
        part.of_total =
            explanation.total == 0 ? 0 : static_cast<double>(part.bytes) / static_cast<double>(explanation.total);
        shares.push_back(std::move(part));
    }
    std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.bytes > b.bytes; });
    Share rest{words("everything else"), 0, 0};
    // Without categories, the program's tensors are one part, which is always named.
    const auto is_tensors = [](const Share& s) { return s.component == ComponentKind::requested && !s.category; };
    const int64_t mine = explanation.total - context.row().bytes_of(ComponentKind::other_processes);
    std::vector<Share> named;
    for (const Share& share : shares) {
        // Other programs may use most of the GPU: the parts of this one are compared with its own memory.
        const int64_t whole = share.component == ComponentKind::other_processes ? explanation.total : mine;
        const bool is_large = static_cast<double>(share.bytes) >= least_named_share * static_cast<double>(whole);
        if (is_tensors(share) || (named.size() < most_shares && is_large)) {
            named.push_back(share);
        } else {
            rest.bytes += share.bytes;
            rest.of_total += share.of_total;
        }
    }
    shares = std::move(named);
    if (rest.bytes != 0) {
        shares.push_back(rest);
    }
}

RunTrend run_trend_of(const AnalysisContext& context, const Explanation& explanation) {
    const auto& findings = explanation.findings;
    if (context.out_of_memory()) {
        return RunTrend::out_of_memory;
    }
    if (std::any_of(findings.begin(), findings.end(), is_gpu_leak)) {
        return RunTrend::grows;
    }
    return context.iterations().size() < fewest_iterations ? RunTrend::too_short : RunTrend::steady;
}

/// Returns the largest parts of the program's own memory, with their sizes as in the table of shares, until little is
/// left. `mine`: all of it.
std::vector<std::string> largest_parts(const Words& words, const Explanation& explanation, int64_t mine,
                                       bool is_alone) {
    constexpr size_t most = 3;
    constexpr int64_t least_fraction = 20;
    std::vector<std::string> largest;
    int64_t rest = mine;
    for (const Share& share : explanation.shares) {
        const bool is_named = share.component != ComponentKind::other_processes &&
                              (largest.empty() || rest * least_fraction >= mine) && share.bytes > 0;
        if (largest.size() < most && is_named) {
            // The shares below the summary are of the whole GPU: percentages of the program would contradict them.
            const std::string size = is_alone ? Words::percent(share.of_total) : format_bytes(share.bytes);
            largest.push_back(words("{name} ({share})", with("name", share.name), with("share", size)));
            rest -= share.bytes;
        }
    }
    return largest;
}

std::string where_it_is(const AnalysisContext& context, const Words& words, const Explanation& explanation) {
    const int64_t others = context.row().bytes_of(ComponentKind::other_processes), mine = explanation.total - others;
    const std::vector<std::string> largest = largest_parts(words, explanation, mine, others == 0);
    if (largest.empty()) {
        return words("At {time_point} no GPU memory is known to be in use.",
                     with("time_point", explanation.time_point));
    }
    const auto total = with("total", format_bytes(mine));
    const auto time_point = with("time_point", explanation.time_point);
    const auto parts = with("parts", words.list(largest));
    std::string text =
        context.row().device_used
            ? words("At {time_point} this program uses {total} of GPU memory: {parts}.", time_point, total, parts)
            : words("At {time_point} {total} of GPU memory are known to be in use: {parts}.", time_point, total, parts);
    if (others > mine / 10) {
        text += words(" Other programs use another {bytes}.", with("bytes", format_bytes(others)));
    }
    return text;
}

/// Sums the leaks that have the unit of the first one: bytes per step and per iteration of a loop do not add up.
std::string leaks(const Finding& first, const Words& words, const Explanation& explanation) {
    if (first.kind == FindingKind::hook_retains_activations && !first.per_iteration) {
        return words("The peaks of memory rise.");
    }
    int64_t per_iteration = 0;
    int growing = 0;
    for (const Finding& finding : explanation.findings) {
        const bool adds_up = is_gpu_leak(finding) && finding.unit == first.unit && finding.has_ended == first.has_ended;
        const int64_t added = adds_up ? finding.per_iteration.value_or(0) : 0;
        per_iteration += added;
        growing += added > 0 ? 1 : 0;
    }
    const auto bytes = with("bytes", format_bytes(per_iteration)),
               each = with("each", each_iteration(first.unit, words));
    if (first.has_ended) {
        return words("In a loop that has ended, memory grew by {bytes} {each}.", bytes, each);
    }
    if (first.ends_with_variable) {
        return words("Memory grows by {bytes} {each} until the variable that retains it goes.", bytes, each);
    }
    if (growing > 1) {  // each finding has a smaller number
        return words("Memory grows by {bytes} {each} in all leaks together and is never freed.", bytes, each);
    }
    return per_iteration > 0 ? words("Memory grows by {bytes} {each} and is never freed.", bytes, each)
                             : words("Memory grows and is never freed.");
}

std::string reserved_rise(const AnalysisContext& context, const Words& words, const ReservedRise& rise) {
    return words("Reserved memory keeps rising, from {first} after the first {iteration} to {last} after the last one.",
                 with("first", format_bytes(rise.first)), with("last", format_bytes(rise.last)),
                 with("iteration", iteration_words(context.iterations().source(), words)));
}

/// Says what the plot of allocated memory shows. `has_rise`: another sentence says that reserved memory rises.
std::string growth_of_allocated(const AnalysisContext& context, const Words& words, const Explanation& explanation,
                                bool has_rise) {
    const auto leak = std::find_if(explanation.findings.begin(), explanation.findings.end(), is_gpu_leak);
    if (leak != explanation.findings.end()) {
        return leaks(*leak, words, explanation);
    }
    const bool is_short = context.iterations().size() < fewest_iterations;
    if (is_short && context.out_of_memory()) {
        return {};
    }
    if (context.lacks_history()) {
        return words(
            "The snapshot has no history of allocations, only the state when it was taken: whether memory grows is "
            "unknown. To get a history, call torch.cuda.memory._record_memory_history() before the part you want to "
            "see.");
    }
    if (const auto quiet = context.quiet_after_allocations()) {
        return words("The program made all its allocations at its start, and none in the {time} until its end.",
                     with("time", format_duration(*quiet)));
    }
    if (is_short) {
        return words("The trace has too few iterations to tell whether memory grows.");
    }
    const auto slow = std::find_if(explanation.findings.begin(), explanation.findings.end(), is_slow_growth);
    if (slow != explanation.findings.end()) {
        return words("Memory grows by only {bytes} {each}.", with("bytes", format_bytes(*slow->per_iteration)),
                     with("each", each_iteration(slow->unit, words)));
    }
    const auto iteration = with("iteration", iteration_words(context.iterations().source(), words));
    if (find_finding(explanation.findings, FindingKind::steady) != nullptr) {
        return has_rise
                   ? words("Allocated memory does not grow: after the warm-up it falls back in every {iteration}.",
                           iteration)
                   : words("Memory does not grow: after the warm-up it falls back in every {iteration}.", iteration);
    }
    if (const Finding* late = find_finding(explanation.findings, FindingKind::late_memory)) {
        return words("Memory rose by {bytes} after the warm-up and stays there.",
                     with("bytes", format_bytes(late->bytes)));
    }
    if (context.rises_to_the_end() && context.has_bounded_growth()) {
        return words("Memory rises as more parameters are trained, up to the last one.");
    }
    if (context.rises_to_the_end()) {
        return words("Memory rises unevenly: no line allocates more with each {iteration}.", iteration);
    }
    return has_rise ? words("Allocated memory does not keep growing from {iteration} to {iteration}.", iteration)
                    : words("Memory does not keep growing from {iteration} to {iteration}.", iteration);
}

/// Says what the plots of allocated and reserved memory show.
std::string growth(const AnalysisContext& context, const Words& words, const Explanation& explanation) {
    const std::optional<ReservedRise> rise = find_reserved_rise(context);
    const bool has_leak = std::any_of(explanation.findings.begin(), explanation.findings.end(), is_gpu_leak);
    const bool is_told = rise && !has_leak;  // else it follows from the leak
    return words.sentences({growth_of_allocated(context, words, explanation, is_told),
                            is_told ? reserved_rise(context, words, *rise) : std::string()});
}

/// Says how much a snapshot has at both ends if it is too short to tell more.
std::string levels(const AnalysisContext& context, const Words& words, const Explanation& explanation) {
    constexpr int64_t equal_fraction = 100;
    const int64_t begin = context.curves().value(Series::allocated, 0),
                  end = context.curves().value(Series::allocated, context.now());
    if (explanation.run_trend != RunTrend::too_short || !context.is_snapshot() || context.lacks_history() ||
        context.has_chosen_time_point() || begin == 0) {
        return {};
    }
    const auto before = with("start", format_bytes(begin));
    if (std::abs(end - begin) * equal_fraction <= begin) {
        return words("At its end as much is allocated as at its start: {start}.", before);
    }
    const auto after = with("end", format_bytes(end));
    return end > begin
               ? words("From its start to its end, allocated memory rises from {start} to {end}.", before, after)
               : words("From its start to its end, allocated memory falls from {start} to {end}.", before, after);
}

/// Returns whether each of the first two fixes frees all of it.
bool has_alternative_fix(const Finding& finding) {
    return finding.fixes.size() > 1 && finding.fixes[0].bytes && finding.fixes[0].bytes == finding.fixes[1].bytes;
}

/// Without iterations, or with memory that nothing accounts for, a fix may be necessary.
std::string first_look(const AnalysisContext& context, const Words& words, const Finding* notable) {
    return notable != nullptr ? words("Most notable: {title}.", with("title", notable->title))
                              : words.sentences({memory_at_peak(context, words), reserved_beyond_peak(context, words)});
}

/// Returns whether the finding concerns a part of the memory that matters. How a request was served is a detail, unless
/// the request was most of the peak.
bool is_headline(const AnalysisContext& context, const Finding& finding) {
    if (finding.severity != Severity::pattern) {
        return finding.severity < Severity::pattern;
    }
    const int64_t least_fraction = finding.kind == FindingKind::block_reuse ? 2 : 50;
    return finding.kind != FindingKind::steady && finding.bytes * least_fraction >= context.peak().max;
}

/// Returns the finding's first fix, with the second one if that is an alternative.
std::string first_fixes(const Words& words, const Finding& finding) {
    return finding.fixes.empty()
               ? std::string()
               : words.sentences(
                     {finding.fixes[0].text, has_alternative_fix(finding) ? finding.fixes[1].text : std::string()});
}

std::string first_step(const AnalysisContext& context, const Words& words, const Explanation& explanation,
                       const KeptActivations& kept) {
    const auto& findings = explanation.findings;
    const Finding* notable = !findings.empty() && is_headline(context, findings.front()) ? &findings.front() : nullptr;
    const bool is_unknown = find_reserved_rise(context) || explanation.run_trend == RunTrend::too_short ||
                            (context.rises_to_the_end() && !context.has_bounded_growth()) ||
                            find_finding(explanation.findings, FindingKind::late_memory) != nullptr;
    if (is_unknown && (!notable || notable->severity == Severity::pattern)) {
        return first_look(context, words, notable);
    }
    if (!notable) {
        return kept.dropped > 0 ? std::string() : words("No fix is needed.");
    }
    const Finding& first = *notable;
    const auto title = with("title", first.title);
    if (first.kind == FindingKind::resident_data) {  // what operations read is not recorded
        return words.sentences(
            {words("Check whether the work needs this: {title}.", title), first_fixes(words, first)});
    }
    if (first.severity == Severity::pattern) {
        return words("No fix is needed; most notable: {title}.", title);
    }
    return words.sentences({words("First: {title}.", title), first_fixes(words, first)});
}

/// Returns what the run shows, and what to do first. A failure comes before the growth that led to it; a leak that did
/// not has only its finding.
std::vector<std::string> answer_of(const AnalysisContext& context, const Words& words, const Explanation& explanation,
                                   const KeptActivations& kept) {
    std::string growing = growth(context, words, explanation);
    if (!explanation.findings.empty() && explanation.findings.front().severity == Severity::failure) {
        const Finding& failure = explanation.findings.front();
        const bool has_leak = std::any_of(explanation.findings.begin(), explanation.findings.end(), is_gpu_leak);
        if (has_leak && failure.memory.allocations.empty()) {
            growing.clear();
        }
        return {words("{title}.", with("title", capitalized(failure.title))), std::move(growing),
                first_fixes(words, failure)};
    }
    return {std::move(growing), first_step(context, words, explanation, kept)};
}

/// Says how sizes are counted if the difference shows in the numbers.
std::string sizes_of_blocks(const AnalysisContext& context, const Words& words) {
    constexpr int64_t least_fraction = 100, least_bytes = 1 << 20;
    const auto peak = context.peak();
    const int64_t rounding = peak.max - context.curves().value(Series::requested, peak.max_event);
    if (rounding < least_bytes || rounding * least_fraction < peak.max) {
        return {};
    }
    const double part = static_cast<double>(rounding) / static_cast<double>(peak.max);
    return words(
        "Peaks, lines and findings count whole blocks, of which {share} is allocator rounding at the peak; the "
        "list of where the memory is counts rounding separately.",
        with("share", Words::percent(part)));
}

}  // namespace

void write_contradiction(const AnalysisContext& context, const Words& words, Explanation& explanation) {
    explanation.run_trend = RunTrend::too_short;
    const auto peak = context.peak();
    explanation.summary = {
        words("The file contradicts itself: at the peak {allocated} are allocated, but only {reserved} are reserved. "
              "Nothing is concluded from it.",
              with("allocated", format_bytes(peak.max)),
              with("reserved", format_bytes(context.curves().value(Series::reserved, peak.max_event))))};
    explanation.answer = explanation.summary;
}

void write_summary(const AnalysisContext& context, const Words& words, Explanation& explanation) {
    write_shares(context, words, explanation);
    explanation.run_trend = run_trend_of(context, explanation);
    const KeptActivations kept = find_kept_activations(context);
    const bool is_short = explanation.run_trend == RunTrend::too_short;
    explanation.answer = answer_of(context, words, explanation, kept);
    explanation.summary = {where_it_is(context, words, explanation)};
    explanation.summary.insert(explanation.summary.end(), explanation.answer.begin(), explanation.answer.end() - 1);
    explanation.summary.insert(explanation.summary.end(),
                               {levels(context, words, explanation), kept_activations_words(context, kept, words),
                                is_short ? old_result_words(context, words) : std::string(),
                                preallocation_note(context.trace(), context.device(), words), explanation.answer.back(),
                                sizes_of_blocks(context, words)});
    std::erase(explanation.summary, std::string());
    std::erase(explanation.answer, std::string());
}

}  // namespace tidemark
