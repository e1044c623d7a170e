// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A tensor in half precision that is copied as a whole to float32, as logits are before a loss.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/oom/oom_answer.h"

namespace tidemark {
namespace {

/// The tensor and its copy must be at least this part (1 / 4) of the memory in use and the request.
constexpr int64_t least_part = 4;
constexpr int64_t chunks = 8;

/// The copy follows its original at once: logits are the last result of the model.
constexpr std::ptrdiff_t newest = 3;

bool is_copy(std::string_view op) { return op.ends_with("aten::to") || op.ends_with("aten::_to_copy"); }

/// Returns the result of an operation that is half as large as the request and among the newest tensors; no_allocation
/// if there is none. Copies from the host and the parameters of a model that is being moved are no such results.
AllocationIndex half_as_large(const OomCase& oom) {
    const auto begin = oom.alive().rbegin(), end = oom.alive().rend();
    const auto found = std::find_if(begin, begin + std::min(newest, end - begin), [&](AllocationIndex a) {
        const std::string& op = oom.context().trace().origins[oom.allocations().origin[a]].op;
        // The request is rounded to blocks of 512 bytes.
        return (2 * oom.allocations().requested[a] + 511) / 512 * 512 == oom.oom().size && !op.empty() && !is_copy(op);
    });
    return found == begin + std::min(newest, end - begin) ? no_allocation : *found;
}

}  // namespace

void oom_advice::upcast_copy(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const AllocationIndex original = is_copy(oom.origin().op) ? half_as_large(oom) : no_allocation;
    const int64_t asked = oom.analysis().requested();
    if (original == no_allocation || (asked + oom.bytes(original)) * least_part < oom.in_use() + asked) {
        return;
    }
    answer.text.push_back(
        words("The request copies a tensor to another type, as bfloat16 logits to float32: {asked} for a tensor of "
              "{bytes} from {line}.",
              with("asked", format_bytes(asked)), with("bytes", format_bytes(oom.bytes(original))),
              with("line", line_of(oom.context().trace(), oom.allocations().stack[original]))));
    answer.evidence.push_back(at_allocation(oom.context(), words("The tensor that is copied"), original));
    add_fix(answer, oom, words,
            words("Convert it in parts, such as the loss of a few rows of logits at a time, or compute only the rows "
                  "that are needed: in {parts} parts, {bytes} of the copy would not exist at once.",
                  with("parts", chunks), with("bytes", format_bytes(asked - asked / chunks))),
            "loss = sum(loss_function(part.float(), target)\n"
            "           for part, target in zip(logits.chunk(8), targets.chunk(8)))",
            asked - asked / chunks);
}

}  // namespace tidemark
