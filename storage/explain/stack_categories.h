// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Categories of memory in traces without a graph, as far as the stacks prove them.
#pragma once

#include <unordered_map>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// The code that allocated memory, by the frames of its stack.
enum class Maker : uint8_t {
    other,
    optimizer_step,  ///< step() of an optimizer, also of the program's own; not the closure that it calls
    backward,        ///< a native node of the autograd graph, without Python inside it, or a compiled backward pass
    workspace,       ///< at::cuda, which gives cuBLAS its workspaces
};

/// Returns the maker of each stack. Visits each stack once.
std::vector<Maker> makers_of_stacks(const StackTable& stacks);

/// Returns the stack that called step() of an optimizer; 0 if the stack is in none.
StackId caller_of_step(const StackTable& stacks, StackId stack);

/// Returns the categories of the memory at the context's time point, as far as they are certain: workspaces, gradients
/// (a backward pass made them, and they stay) and optimizer state (step() made it, and it stays beside the parameters).
/// Empty if the recorder labeled the memory.
std::unordered_map<AllocationIndex, Category> categories_by_stack(const AnalysisContext& context);

/// Returns the block bytes that existed before a step() and that it freed, as if it makes its state anew each time.
int64_t bytes_replaced_by_steps(const AnalysisContext& context);

}  // namespace tidemark
