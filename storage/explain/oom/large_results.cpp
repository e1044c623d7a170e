// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A few large results of one input that exist at once, as logits and their copies do: a part of the input needs a part
// of them. Only for errors without more special advice.
#include <algorithm>
#include <array>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// The results and the request must be at least this part (1 / 2) of the memory in use and the request.
constexpr int64_t least_part = 2;
/// Sizes may differ by this part (1 / 100), as by the last of many positions.
constexpr uint64_t tolerance = 100;

/// Returns whether the request is computed from tensors. A new tensor, or a copy of the program's data, need not
/// depend on a batch.
bool is_computed(std::string_view op) {
    static constexpr std::string_view prefix = "aten::";
    static constexpr std::array copies{"to", "_to_copy", "copy_", "clone", "contiguous", "stack", "cat"};
    static constexpr std::array<std::string_view, 9> factories{"empty", "zeros",  "ones",   "full",    "rand",
                                                               "eye",   "arange", "normal", "linspace"};
    const size_t at = op.rfind(prefix);
    if (at == op.npos) {
        return false;
    }
    const std::string_view name = op.substr(at + prefix.size());
    return std::find(copies.begin(), copies.end(), name) == copies.end() &&
           std::none_of(factories.begin(), factories.end(),
                        [&](std::string_view factory) { return name.starts_with(factory); });
}

bool is_near(uint64_t a, uint64_t b) { return std::max(a, b) - std::min(a, b) <= b / tolerance; }

/// Returns whether the tensor may have as many elements as the request, in a type of the same, half or double width.
bool has_size_of_request(const OomCase& oom, AllocationIndex a) {
    const uint64_t size = oom.allocations().requested[a], asked = oom.oom().size;
    return is_near(size, asked) || is_near(2 * size, asked) || is_near(size, 2 * asked);
}

/// Returns the tensors that the iteration computed and no container retains.
std::vector<AllocationIndex> find_results(const OomCase& oom) {
    std::vector<AllocationIndex> retained;
    for (const RetainedMemory& group : oom.retained().groups()) {
        if (container_end(group.referrer->links) < group.referrer->links.size()) {
            retained.insert(retained.end(), group.memory.begin(), group.memory.end());
        }
    }
    std::sort(retained.begin(), retained.end());
    std::vector<AllocationIndex> results;
    std::copy_if(oom.alive().begin(), oom.alive().end(), std::back_inserter(results), [&](AllocationIndex a) {
        return oom.allocations().alloc_event[a] >= oom.began() && has_size_of_request(oom, a) &&
               !is_retained_by_model_or_library(oom.category(a)) &&
               !std::binary_search(retained.begin(), retained.end(), a);
    });
    return results;
}

/// Returns whether a fix is known to free memory, or to let the request fit. Settings do not help for long if the
/// requests grow.
bool has_better_advice(const OomCase& oom, const OomAnswer& answer) {
    const bool counts_settings = oom.growing_requests().empty();
    return std::any_of(answer.fixes.begin(), answer.fixes.end(), [&](const OomFix& fix) {
        return fix.fix.bytes.value_or(0) > 0 || (fix.fits && counts_settings);
    });
}

/// Returns the number of equal parts of the request and the results of which one fits at a time. Free memory may lie
/// in gaps that are too small for the request: then a part of the request must be served as it is.
std::optional<int64_t> parts_needed(const OomCase& oom, int64_t of_results) {
    const std::optional<int64_t> parts = oom.parts_that_fit(of_results);
    if (!parts || *parts > 1) {
        return parts;
    }
    const int64_t servable = oom.largest_servable().value_or(0);
    return servable > 0 ? std::optional((oom.analysis().requested() + servable - 1) / servable) : std::nullopt;
}

std::string advice_words(const Words& words, bool has_results, int64_t divided, int64_t parts) {
    const auto all = with("all", format_bytes(divided)), part = with("part", format_bytes(divided / parts));
    return has_results
               ? words(
                     "Process the input in smaller parts: a smaller batch, or a loop over chunks of rows. The request "
                     "and these tensors take {all} together; in {parts} parts they would take {part} at a time, and "
                     "the request would have fit.",
                     all, with("parts", parts), part)
               : words(
                     "Process the input in smaller parts: a smaller batch, or a loop over chunks of rows, which "
                     "reduces the result of each before the next. The request is for {all}; in {parts} parts it "
                     "would be for {part} at a time, and would have fit.",
                     all, with("parts", parts), part);
}

void describe(const OomCase& oom, const Words& words, const std::vector<AllocationIndex>& results, OomAnswer& answer) {
    const AllocationIndex newest = results.back();
    answer.text.push_back(words.plural(
        static_cast<int64_t>(results.size()),
        "Beside the request, {n} tensor of its size, or of half or twice its size, exists: {bytes} from {line}.",
        "Beside the request, {n} tensors of its size, or of half or twice its size, exist: {bytes}, the newest from "
        "{line}.",
        with("bytes", format_bytes(oom.bytes(results))),
        with("line", line_of(oom.context().trace(), oom.allocations().stack[newest]))));
    answer.evidence.push_back(at_allocation(oom.context(), words("The newest tensor of such a size"), newest));
}

}  // namespace

void oom_advice::large_results(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    if (oom.is_optimizer_step() || !is_computed(oom.origin().op) || has_better_advice(oom, answer)) {
        return;
    }
    const std::vector<AllocationIndex> results = find_results(oom);
    const int64_t of_results = oom.bytes(results), asked = oom.analysis().requested();
    const std::optional<int64_t> parts = parts_needed(oom, of_results);
    if (!parts || *parts < 2 || (of_results + asked) * least_part < oom.in_use() + asked) {
        return;
    }
    if (!results.empty()) {
        describe(oom, words, results, answer);
    }
    const int64_t divided = of_results + asked;
    Fix fix{advice_words(words, !results.empty(), divided, *parts),
            fmt::format("outputs = [function(part) for part in batch.chunk({})]", *parts),
            divided - divided / *parts,
            {}};
    answer.fixes.push_back({std::move(fix), true});
}

}  // namespace tidemark
