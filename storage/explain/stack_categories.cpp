// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/stack_categories.h"

#include <algorithm>
#include <iterator>

#include "storage/explain/workspaces.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Returns whether the frame is the function of PyTorch that wraps step() of every optimizer.
bool wraps_step(const StackTable& stacks, const Frame& frame) {
    return is_torch_function(stacks, frame, "optim/optimizer.py", "wrapper");
}

bool makes_workspace(const StackTable& stacks, const Frame& frame) {
    const std::string& function = stacks.string(frame.function);
    return function.starts_with("at::cuda::") && function.find("Workspace") != function.npos;
}

/// A stack with the code that decides about it.
struct Path {
    Maker maker = Maker::other;
    uint32_t file = 0;         ///< of the optimizer's step(), if that is none of PyTorch's
    bool is_compiled = false;  ///< of torch.compile: its Python code, too, is a part of the backward pass
};

/// Returns the path of a Python frame that step() or a function of it called. A closure runs modules or lies in a file
/// of the program beside the optimizer's.
Path below_step(const StackTable& stacks, const Frame& frame, const Path& caller) {
    const std::string_view torch = torch_file(stacks.string(frame.file));
    if (path_starts_with(torch, "nn/") || path_starts_with(torch, "autograd/")) {
        return {};
    }
    if (!torch.empty() || frame.file == caller.file) {
        return caller;
    }
    return caller.file == 0 ? Path{caller.maker, frame.file} : Path{};
}

Path path_of(const StackTable& stacks, FrameId id, const Path& caller) {
    const Frame& frame = stacks.frame(id);
    if (caller.maker == Maker::workspace || makes_workspace(stacks, frame)) {
        return {Maker::workspace, 0};
    }
    if (wraps_step(stacks, frame) || is_torch_function(stacks, frame, "optim/", "_init_group")) {
        return {Maker::optimizer_step, 0};
    }
    if (caller.is_compiled ||
        is_torch_function(stacks, frame, "_functorch/_aot_autograd/runtime_wrappers.py", "_backward_impl")) {
        return {Maker::backward, 0, true};
    }
    if (stacks.role(id) == FrameRole::node) {
        return {Maker::backward, 0};
    }
    if (!is_python(stacks.role(id))) {
        return caller;
    }
    return caller.maker == Maker::optimizer_step ? below_step(stacks, frame, caller) : Path{};
}

/// Optimizers keep at most this many tensors of its size for each parameter.
constexpr int64_t most_per_parameter = 3;

using Sizes = std::unordered_map<uint64_t, int64_t>;

/// Tensors that stay, by requested size: blocks of equal requests can differ.
struct Staying {
    Sizes of_step;  ///< made by step()
    Sizes others;   ///< parameters, if step() does not replace them

    /// Returns whether there are parameters of this size beside what step() made. If step() replaced the parameters, it
    /// has made them all.
    bool is_state(uint64_t size) const {
        const auto parameters = others.find(size);
        return parameters != others.end() && of_step.at(size) <= most_per_parameter * parameters->second;
    }
};

template <class Visit>
void for_each_staying(const AnalysisContext& context, Visit&& visit) {
    context.analysis().live().for_each_active(context.now(), [&](AllocationIndex a) {
        // What is freed later was not yet meant to stay.
        if (context.device().allocations.free_event[a] == never) {
            visit(a);
        }
    });
}

Staying staying_tensors(const AnalysisContext& context, const std::vector<Maker>& makers) {
    const Allocations& allocations = context.device().allocations;
    Staying staying;
    for_each_staying(context, [&](AllocationIndex a) {
        const Maker maker = makers[allocations.stack[a]];
        if (maker == Maker::optimizer_step) {
            ++staying.of_step[allocations.requested[a]];
        } else if (maker == Maker::other) {
            ++staying.others[allocations.requested[a]];
        }
    });
    return staying;
}

}  // namespace

std::vector<Maker> makers_of_stacks(const StackTable& stacks) {
    std::vector<Path> paths(stacks.stack_count());
    std::vector<Maker> makers(paths.size(), Maker::other);
    for (StackId id = 1; id < paths.size(); ++id) {
        const StackEntry& entry = stacks.stack(id);
        paths[id] = path_of(stacks, entry.frame, paths[entry.caller]);
        makers[id] = paths[id].maker;
    }
    return makers;
}

StackId caller_of_step(const StackTable& stacks, StackId stack) {
    while (stack != 0 && !wraps_step(stacks, stacks.frame(stacks.stack(stack).frame))) {
        stack = stacks.stack(stack).caller;
    }
    return stack == 0 ? 0 : stacks.stack(stack).caller;
}

std::unordered_map<AllocationIndex, Category> categories_by_stack(const AnalysisContext& context) {
    std::unordered_map<AllocationIndex, Category> categories;
    if (context.graph() && !context.graph()->tables().labels.empty()) {
        return categories;
    }
    const Allocations& allocations = context.device().allocations;
    const StackTable& stacks = context.trace().stacks;
    const std::vector<Maker> makers = makers_of_stacks(stacks);
    const Staying staying = staying_tensors(context, makers);
    for_each_staying(context, [&](AllocationIndex a) {
        switch (makers[allocations.stack[a]]) {
            case Maker::workspace: categories[a] = Category::workspace; break;
            case Maker::backward: categories[a] = Category::gradient; break;
            case Maker::optimizer_step:
                if (staying.is_state(allocations.requested[a]) ||
                    has_torch_function(stacks, allocations.stack[a], "optim/", "_init_group")) {
                    categories[a] = Category::optimizer_state;
                }
                break;
            case Maker::other:
                // Only cuBLAS requests exactly this many bytes.
                if (allocations.requested[a] == small_workspace) {
                    categories[a] = Category::workspace;
                }
                break;
        }
    });
    return categories;
}

int64_t bytes_replaced_by_steps(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    const std::vector<Maker> makers = makers_of_stacks(context.trace().stacks);
    std::vector<EventNumber> others;  // events that are no allocation of a step
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        if (makers[allocations.stack[a]] != Maker::optimizer_step) {
            others.push_back(allocations.alloc_event[a]);
        }
    }
    int64_t bytes = 0;
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        const EventNumber freed = allocations.free_event[a];
        if (freed == never || makers[allocations.free_stack[a]] != Maker::optimizer_step) {
            continue;
        }
        const auto began = std::lower_bound(others.begin(), others.end(), freed);
        const EventNumber step = began == others.begin() ? before_history : *std::prev(began);
        bytes += allocations.alloc_event[a] <= step ? static_cast<int64_t>(allocations.block_size[a]) : 0;
    }
    return bytes;
}

}  // namespace tidemark
