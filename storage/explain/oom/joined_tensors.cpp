// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// torch.stack or torch.cat of tensors that stay: the tensors and their copy in one tensor exist at once.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Fewer tensors may have the request's size by chance.
constexpr size_t fewest_parts = 3;
/// The sum of a container's tensors may differ from the request by this part (1 / 100): a variable may refer to one.
constexpr int64_t tolerance = 100;
/// The request is rounded up to blocks of this size.
constexpr int64_t rounding = 512;
/// The tensors and the request must be at least this part (1 / 4) of the memory in use and the request.
constexpr int64_t least_part = 4;

/// The tensors that the request copies into one.
struct Parts {
    const Referrer* referrer = nullptr;  ///< of the container; nullptr: unknown
    std::vector<AllocationIndex> memory;
};

bool joins_tensors(std::string_view op) {
    static constexpr std::array ops{"aten::stack",  "aten::cat",    "aten::concat",      "aten::concatenate",
                                    "aten::hstack", "aten::vstack", "aten::column_stack"};
    return std::find(ops.begin(), ops.end(), op) != ops.end();
}

bool is_container(const Referrer& referrer) { return container_end(referrer.links) < referrer.links.size(); }

/// Returns whether the tensors together have the size of the request, up to a difference, and would be freed if nothing
/// in Python referred to them.
bool are_parts(const OomCase& oom, const std::vector<AllocationIndex>& memory, int64_t difference) {
    int64_t bytes = 0, saved = 0;
    for (const AllocationIndex a : memory) {
        const auto requested = static_cast<int64_t>(oom.allocations().requested[a]);
        bytes += requested;
        saved += oom.category(a) == Category::saved ? requested : 0;
    }
    const int64_t asked = oom.analysis().requested();
    return memory.size() >= fewest_parts && std::abs(asked - bytes) <= difference && 2 * saved < bytes &&
           (bytes + asked) * least_part >= oom.in_use() + asked &&
           std::none_of(memory.begin(), memory.end(),
                        [&](AllocationIndex a) { return is_retained_by_model_or_library(oom.category(a)); });
}

/// Returns the container whose tensors the request copies, or else the tensors of one line; empty if there are none.
Parts find_parts(const OomCase& oom) {
    for (const RetainedMemory& group : oom.retained().groups()) {
        if (is_container(*group.referrer) && are_parts(oom, group.memory, oom.analysis().requested() / tolerance)) {
            return {group.referrer, group.memory};
        }
    }
    std::map<StackId, std::vector<AllocationIndex>> by_stack;
    for (const AllocationIndex a : oom.alive()) {
        by_stack[oom.allocations().stack[a]].push_back(a);
    }
    for (auto& [stack, memory] : by_stack) {
        if (are_parts(oom, memory, rounding)) {
            return {nullptr, std::move(memory)};
        }
    }
    return {};
}

void describe(const OomCase& oom, const Words& words, const Parts& parts, OomAnswer& answer) {
    std::string text = words(
        "{op} copies {tensors} of {bytes} in total from {line} into one tensor. They stay while it copies, so their "
        "memory is needed twice.",
        with("op", oom.origin().op),
        with("tensors", words.plural(static_cast<int64_t>(parts.memory.size()), "{n} tensor", "{n} tensors")),
        with("bytes", format_bytes(oom.bytes(parts.memory))),
        with("line", line_of(oom.context().trace(), oom.allocations().stack[parts.memory.front()])));
    if (parts.referrer) {
        answer.referrer = referrer_words(oom.context().graph()->tables(), words, *parts.referrer);
        text = words.sentences({text, words("They are retained by {referrer}.", with("referrer", answer.referrer))});
    }
    answer.text.push_back(std::move(text));
    answer.evidence.push_back(
        at_allocation(oom.context(), words("The first of the tensors that are copied"), parts.memory.front()));
}

}  // namespace

void oom_advice::joined_tensors(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const Parts parts = joins_tensors(oom.origin().op) ? find_parts(oom) : Parts{};
    if (parts.memory.empty()) {
        return;
    }
    describe(oom, words, parts, answer);
    const FrameId caller = calling_frame(oom.stacks(), oom.oom().stack);
    if (oom.stacks().role(caller) == FrameRole::library) {
        return;  // the program cannot change how a library joins them
    }
    const int64_t bytes = oom.bytes(parts.memory);
    const auto saved = with("bytes", format_bytes(bytes));
    add_fix(answer, oom, words,
            words("Preallocate the result, and write each tensor into it when it is computed: the {bytes} of separate "
                  "tensors would not exist.",
                  saved),
            "result = torch.empty((count, *shape), device=device)\nfor i in range(count):\n    result[i] = compute(i)",
            bytes);
    add_fix(answer, oom, words,
            words("If only statistics of the whole are needed, update a running sum, mean or variance with each tensor "
                  "instead of keeping all of them."),
            "mean += (value - mean) / count", bytes);
    add_fix(answer, oom, words, words("Or move each tensor to the CPU when it is computed, and join them there."),
            "results.append(result.cpu())", bytes);
}

}  // namespace tidemark
