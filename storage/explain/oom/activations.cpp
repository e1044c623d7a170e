// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Activations that a training step saves for its backward pass.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/explain/oom/unused_graph.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// A smaller part (1 / 4) of the memory in use does not decide.
constexpr int64_t least_part = 4;

int64_t saved_bytes(const OomCase& oom) {
    int64_t bytes = 0;
    for (const AllocationIndex a : oom.alive()) {
        const bool is_of_iteration =
            oom.allocations().alloc_event[a] >= oom.began() && !oom.retained().is_by_exception(a);
        bytes += is_of_iteration && oom.category(a) == Category::saved ? oom.bytes(a) : 0;
    }
    return bytes;
}

bool uses_checkpointing(const OomCase& oom) {
    const std::vector<bool> found = stacks_with_frame(oom.stacks(), [&](const Frame& frame) {
        return is_torch_function(oom.stacks(), frame, "utils/checkpoint.py");
    });
    return std::find(found.begin(), found.end(), true) != found.end();
}

}  // namespace

void oom_advice::activations(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const int64_t bytes = saved_bytes(oom);
    if (bytes == 0 || bytes * least_part < oom.in_use() || oom.is_optimizer_step() || find_unused_graph(oom)) {
        return;
    }
    const auto saved = with("bytes", format_bytes(bytes));
    answer.text.push_back(
        words("Activations saved for the backward pass take {bytes}; they grow with the batch.", saved));
    add_fix(
        answer, oom, words,
        words("If the batch has several samples, run it in two halves and accumulate their gradients: about half of "
              "these {bytes} would be saved at a time.",
              saved),
        "for part in batch.chunk(2):\n    (loss_function(model(part)) / 2).backward()\noptimizer.step()", bytes / 2);
    if (!uses_checkpointing(oom)) {
        add_fix(answer,
                words("Recompute activations in the backward pass (activation checkpointing), at the price of a second "
                      "forward pass. It frees at most {bytes}.",
                      saved),
                "output = torch.utils.checkpoint.checkpoint(block, input, use_reentrant=False)");
    }
}

}  // namespace tidemark
