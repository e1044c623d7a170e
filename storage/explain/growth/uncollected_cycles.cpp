// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/growth/uncollected_cycles.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/explain/exception_fixes.h"
#include "storage/explain/suggested_change.h"

namespace tidemark {
namespace {

/// Returns the time of the oldest allocation that stays, or of the first iteration that adds to it if that is later:
/// objects that exist before may become garbage only then.
int64_t begin_of_growth(const AnalysisContext& context, const LeakSuspect& suspect) {
    const int64_t oldest = context.device().alloc_time(suspect.sites.front()->now.front());
    return std::max(oldest, (*suspect.iterations)[suspect.since].start);
}

constexpr std::string_view arrow = " → ";  ///< between the objects of a cycle

/// Returns "frame → Error → traceback → frame"; "" if the path does not start at a cycle.
std::string_view cycle_of(const GraphTables& tables, const Referrer& referrer) {
    return is_cycle(referrer) ? std::string_view(tables.texts[referrer.links.front().name]) : std::string_view();
}

}  // namespace

bool was_in_cycle(const AnalysisContext& context, const LeakSuspect& suspect) {
    const GraphTables& tables = context.graph()->tables();
    const auto& stack = context.device().allocations.stack;
    return std::any_of(tables.referrers.begin(), tables.referrers.end(), [&](const Referrer& referrer) {
        return is_cycle(referrer) && tables.scans[referrer.scan].reason != ScanReason::end && referrer.allocation &&
               referrer.allocation.device == context.device_position() &&
               std::any_of(suspect.sites.begin(), suspect.sites.end(),
                           [&](const Site* site) { return site->stack == stack[referrer.allocation.index]; });
    });
}

int64_t count_spans(const AnalysisContext& context, const LeakSuspect& suspect, AnnotationKind kind,
                    std::string_view name) {
    const auto& spans = context.trace().annotations;
    const int64_t since = begin_of_growth(context, suspect);
    return std::count_if(spans.begin(), spans.end(), [&](const Annotation& span) {
        return span.kind == kind && span.name.starts_with(name) && span.start >= since &&
               span.start < context.now_time();
    });
}

bool stays_in_cycles(const AnalysisContext& context, const LeakSuspect& suspect) {
    return count_spans(context, suspect, AnnotationKind::garbage_collection, "") == 0 && was_in_cycle(context, suspect);
}

std::string name_of_recursive_function(const GraphTables& tables, const Referrer& referrer) {
    constexpr std::string_view scope = ".<locals>.";
    const std::string_view cycle = cycle_of(tables, referrer);
    const std::string_view function = cycle.substr(0, cycle.find(arrow));
    const bool is_nested = function.find(scope) != function.npos;
    return is_nested && cycle == fmt::format("{0}{1}{0}", function, arrow)
               ? std::string(function.substr(function.rfind(scope) + scope.size()))
               : std::string();
}

std::string exception_of_cycle(const GraphTables& tables, const Referrer& referrer) {
    constexpr std::string_view traceback = " → traceback";
    const std::string_view cycle = cycle_of(tables, referrer);
    const std::string_view before = cycle.substr(0, std::min(cycle.find(traceback), cycle.size()));
    const size_t start = before.rfind(arrow);
    const std::string_view name = start == before.npos ? before : before.substr(start + arrow.size());
    const bool is_exception = before.size() < cycle.size() && name != "frame" && name != "traceback";
    return is_exception ? std::string(name) : std::string();
}

std::vector<Fix> fixes_of_cycles(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    Fix collect{words("Or let the garbage collector run: enable it, or collect at a time of your choice."),
                "gc.collect()  # every few hundred iterations", suspect.bytes, suspect.per_iteration};
    const std::string function =
        suspect.referrer ? name_of_recursive_function(context.graph()->tables(), *suspect.referrer) : std::string();
    if (!function.empty()) {
        return {
            {words("Break the cycle: the nested function {function} calls itself, so it refers to itself. Clear its "
                   "name when the work is done, or define it outside of the function.",
                   with("function", "`" + function + "`")),
             fmt::format("result = {0}(...)\n{0} = None", function), suspect.bytes, suspect.per_iteration,
             clear_function_diff(context.trace(), function)},
            std::move(collect)};
    }
    if (suspect.referrer && !exception_of_cycle(context.graph()->tables(), *suspect.referrer).empty()) {
        const RetainedByExceptions retained{suspect.sites.front()->stack, suspect.bytes, suspect.per_iteration};
        if (std::optional<Fix> fix = fix_of_handler(context.trace(), retained, words)) {
            return {std::move(*fix), std::move(collect)};
        }
        return {{words("Delete the variable that refers to the exception when it has been handled. Python does so for "
                       "the name after `as`, but not for another one."),
                 "except Exception as error:\n    problem = str(error)  # not the exception itself", suspect.bytes,
                 suspect.per_iteration},
                std::move(collect)};
    }
    return {{words("Break the cycle: replace one of its references by a weak reference, or clear it when the work is "
                   "done."),
             "import weakref\nself.owner = weakref.ref(owner)", suspect.bytes, suspect.per_iteration},
            std::move(collect)};
}

}  // namespace tidemark
