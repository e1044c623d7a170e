// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S9, #2: a container retains more and more tensors.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/gpu_library.h"
#include "storage/explain/growth/container_fixes.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/growth/uncollected_cycles.h"
#include "storage/explain/storing_line.h"
#include "storage/explain/suggested_change.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

struct Advice {
    std::string keep, code_to_keep, release, code_to_release;
    bool keeps_elements = false;  ///< the first fix is about the line that stores an element
    std::string diff_to_keep = {};
};

const std::string_view cache_of_function = ".cache";

/// Returns whether the path ends in what functools.lru_cache keeps: its entries have no names.
bool is_function_cache(const Referrer& referrer, std::string_view expression) {
    return container_end(referrer.links) == referrer.links.size() && expression.ends_with(cache_of_function);
}

/// Returns whether a tensor is the key of a dict, or a part of it: "Tensor", "(4, Tensor)". Strings are quoted.
bool has_tensor(std::string_view key) {
    const size_t at = key.find("Tensor");
    return key == "Tensor" ||
           (key.starts_with('(') && at != key.npos && key.substr(0, at).find_first_of("'\"") == key.npos);
}

/// How the elements of a container have the tensor.
enum class Element : uint8_t {
    tensor,   ///< they are tensors
    with_it,  ///< as one attribute or entry
    opaque,   ///< deeper, in a tuple, or as a private attribute of another class
};

Element element_of(const GraphTables& tables, const LeakSuspect& suspect) {
    const std::vector<PathLink>& links = suspect.referrer->links;
    const size_t end = position_of_element(suspect);
    const auto is_part = [](const PathLink& link) { return link.kind != PathLinkKind::view; };
    const auto depth = std::count_if(links.begin() + static_cast<ptrdiff_t>(end), links.end(), is_part);
    const bool is_one_part = depth == 2 && suspect.sites.size() == 1;
    const bool is_public = is_one_part && !tables.texts[links[end + 1].name].starts_with('_');
    const bool is_assignable = is_one_part && (links[end + 1].kind == PathLinkKind::item ||
                                               (links[end + 1].kind == PathLinkKind::attribute && is_public));
    return depth <= 1 ? Element::tensor : is_assignable ? Element::with_it : Element::opaque;
}

/// What the elements are: tensors of PyTorch, or arrays of another library.
struct Contents {
    GpuLibrary library = GpuLibrary::pytorch;
    bool are_tensors = true;

    std::string copy() const { return host_copy_of(library, are_tensors ? "tensor" : "array"); }
};

Contents contents_of(const AnalysisContext& context, StackId stack) {
    return context.has_pytorch() ? Contents() : Contents{gpu_library_of(context.trace(), stack), false};
}

/// Returns the code that stores values in host memory, between `target` and `closing`; "" if it is unknown.
std::string code_to_keep(const GraphTables& tables, const LeakSuspect& suspect, const Contents& contents,
                         std::string_view target, std::string_view closing) {
    if (contents.library == GpuLibrary::none) {
        return {};
    }
    switch (element_of(tables, suspect)) {
        case Element::tensor: return fmt::format("{}{}{}", target, contents.copy(), closing);
        case Element::with_it: {
            const std::string part =
                "element" + object_expression(tables, {suspect.referrer->links[position_of_element(suspect) + 1]}, 1);
            return fmt::format("{} = {}\n{}element{}", part, host_copy_of(contents.library, part), target, closing);
        }
        case Element::opaque: break;
    }
    return {};
}

/// Returns the program's name of the dict's keys; "key" if it is unknown.
std::string key_of(const AnalysisContext& context, const LeakSuspect& suspect) {
    const std::vector<PathLink>& links = suspect.referrer->links;
    const bool is_outermost = position_of_element(suspect) == container_end(links);
    const std::string key = is_outermost ? key_in_program(context, links) : std::string();
    return key.empty() ? "key" : key;
}

/// Returns the advice for a dict, for another container, or for an attribute.
Advice advice_for(const AnalysisContext& context, const LeakSuspect& suspect, const Contents& contents,
                  const std::string& expression, const Words& words) {
    const GraphContext& graph = *context.graph();
    const Referrer& referrer = *suspect.referrer;
    const size_t end = position_of_element(suspect);
    const auto container = with("referrer", "`" + expression + "`");
    const std::string clear = words("Or clear {referrer} after its contents were used.", container);
    const std::string keep =
        contents.are_tensors ? words("If only the values are needed: keep them in host memory, without their graph.")
                             : words("If the GPU no longer needs the arrays: keep them in host memory.");
    if (is_function_cache(referrer, expression)) {
        const std::string function = expression.substr(0, expression.size() - cache_of_function.size());
        return {contents.are_tensors ? words("Limit the cache. A tensor as argument is a new key each time.")
                                     : words("Limit the cache: it keeps the result of each call with new arguments."),
                "@functools.lru_cache(maxsize=16)",
                clear,
                fmt::format("{}.cache_clear()", function),
                false,
                limit_cache_diff(context.trace(), plain_name(function), 16)};
    }
    if (end == referrer.links.size()) {
        const std::string copy = contents.copy();
        return {keep, copy.empty() ? copy : fmt::format("{} = {}", expression, copy), clear,
                fmt::format("del {}", expression)};
    }
    if (referrer.links[end].kind == PathLinkKind::item) {
        const std::string remove =
            words("Or remove an entry of {referrer} when its work ends; in `finally`, if that may fail.", container);
        const std::string key = key_of(context, suspect);
        const std::string code_to_remove = fmt::format("{}.pop({}, None)", expression, key);
        if (has_tensor(graph.text(referrer.links[end].name))) {
            return {words("Use the value of the tensor as key. A tensor equals no other one, so no entry of "
                          "{referrer} is ever found again.",
                          container),
                    fmt::format("{} = tuple(tensor.flatten().tolist())", key), remove, code_to_remove};
        }
        return {keep, code_to_keep(graph.tables(), suspect, contents, fmt::format("{}[{}] = ", expression, key), ""),
                remove, code_to_remove, true};
    }
    return {keep, code_to_keep(graph.tables(), suspect, contents, fmt::format("{}.append(", expression), ")"), clear,
            fmt::format("{}.clear()", expression), true};
}

/// Says how large a deque with a limit becomes. It only fills up, which is no leak.
void add_limit(Finding& finding, const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const auto container = filled_container(suspect);
    const auto limit = container ? limit_of_deque(context.graph()->tables(), container->path[container->element])
                                 : std::optional<int64_t>();
    if (limit) {
        finding.severity = Severity::pattern;
        finding.text.push_back(
            words("It is a deque with maxlen={limit}: when it is full, each new element replaces the "
                  "oldest one, and the memory no longer grows.",
                  with("limit", format_count(*limit))));
    }
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const auto tensors = with("tensors", objects_words(context, suspect.count, words));
    const auto referrer = with("referrer", finding.referrer);
    finding.title = words("{tensors} retained by {referrer}", tensors, referrer);
    const auto iteration = with("iteration", iteration_words(suspect.iterations->source(), words));
    const auto bytes = with("bytes", format_bytes(suspect.per_iteration));
    const auto line = with("line", finding.line);
    const auto total = with("total", format_bytes(suspect.bytes));
    const Contents contents = contents_of(context, finding.stack);
    finding.text = {
        suspect.rises ? words("{line} added {tensors}, and none was freed: {total} so far.", line, tensors, total)
        : contents.are_tensors
            ? words("Every {iteration} adds {bytes} of GPU tensors from {line}, and none was freed: {total} in "
                    "{tensors} so far.",
                    iteration, bytes, line, tensors, total)
            : words("Every {iteration} adds {bytes} of GPU arrays from {line}, and none was freed: {total} in "
                    "{tensors} so far.",
                    iteration, bytes, line, tensors, total)};
    if (std::string note = pool_note(contents.library, words); !note.empty()) {
        finding.text.push_back(std::move(note));
    }
    add_limit(finding, context, suspect, words);
    const std::string expression = referrer_expression(context.graph()->tables(), suspect.paths);
    const Advice advice = advice_for(context, suspect, contents, expression, words);
    Fix keep{advice.keep, advice.code_to_keep, suspect.bytes, suspect.per_iteration, advice.diff_to_keep, true};
    if (advice.keeps_elements) {
        fit_to_storing_line(keep, context, filled_container(suspect), contents.library, words);
    }
    if (is_cycle(*suspect.referrer) && !filled_container(suspect)) {
        finding.fixes = fixes_of_cycles(context, suspect, words);
        return finding;
    }
    finding.fixes = {std::move(keep),
                     {advice.release, advice.code_to_release, suspect.bytes, suspect.per_iteration, {}, true}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::growing_container{FindingKind::growing_container, classify};

}  // namespace tidemark
