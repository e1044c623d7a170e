// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/kept_activations.h"

#include <set>

#include "storage/explain/stack_categories.h"
#include "storage/explain/stack_search.h"

namespace tidemark {
namespace {

/// Under no_grad a forward pass keeps at most a few percent; with a graph, half and more.
constexpr int64_t least_kept_part = 3;  ///< 1 / 3 of the bytes
/// Caches and outputs come from one to three lines.
constexpr size_t fewest_lines = 4;

/// Returns, by stack, whether it is in a module that no decorator runs without a graph.
std::vector<bool> stacks_in_modules(const StackTable& stacks) {
    std::vector<bool> in_module = stacks_with_frame(stacks, [&](const Frame& frame) {
        return is_torch_function(stacks, frame, "nn/modules/module.py", "_call_impl");
    });
    const std::vector<bool> decorated = stacks_with_frame(stacks, [&](const Frame& frame) {
        return is_torch_function(stacks, frame, "utils/_contextlib.py", "decorate_context");
    });
    for (StackId id = 0; id < in_module.size(); ++id) {
        in_module[id] = in_module[id] && !decorated[id];
    }
    return in_module;
}

/// Returns the first allocation after the last one of a backward pass or an optimizer. One without a stack may be of a
/// backward pass.
AllocationIndex begin_of_forward(const AnalysisContext& context, const std::vector<Maker>& makers) {
    const Allocations& all = context.device().allocations;
    AllocationIndex begin = 0;
    for (AllocationIndex a = 0; a < all.size() && all.alloc_event[a] < context.now(); ++a) {
        const Maker maker = makers[all.stack[a]];
        const bool is_other = all.alloc_event[a] == before_history || all.stack[a] == 0 || maker == Maker::backward ||
                              maker == Maker::optimizer_step;
        begin = is_other ? a + 1 : begin;
    }
    return begin;
}

}  // namespace

int64_t kept_activations(const AnalysisContext& context) {
    if (context.graph() || context.out_of_memory()) {
        return 0;
    }
    const Allocations& all = context.device().allocations;
    const StackTable& stacks = context.trace().stacks;
    const std::vector<bool> in_module = stacks_in_modules(stacks);
    std::set<FrameId> lines;
    int64_t kept = 0, allocated = 0;
    for (AllocationIndex a = begin_of_forward(context, makers_of_stacks(stacks));
         a < all.size() && all.alloc_event[a] < context.now(); ++a) {
        if (!in_module[all.stack[a]]) {
            continue;
        }
        const auto bytes = static_cast<int64_t>(all.block_size[a]);
        if (all.free_event[a] >= context.now()) {
            kept += bytes;
            lines.insert(stacks.site(all.stack[a]));
        }
        allocated += kept > 0 ? bytes : 0;
    }
    return kept * least_kept_part >= allocated && lines.size() >= fewest_lines ? kept : 0;
}

}  // namespace tidemark
