// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Stacks that contain a certain frame.
#pragma once

#include <string_view>
#include <vector>

#include "storage/trace/stack_table.h"

namespace tidemark {

/// Returns, by stack, whether one of its frames has the property: has(const Frame&). Visits each stack once.
template <class Has>
std::vector<bool> stacks_with_frame(const StackTable& stacks, Has&& has) {
    std::vector<bool> found(stacks.stack_count());
    for (StackId id = 1; id < stacks.stack_count(); ++id) {
        const StackEntry& entry = stacks.stack(id);
        found[id] = found[entry.caller] || has(stacks.frame(entry.frame));
    }
    return found;
}

/// Returns the name without class and enclosing functions: "forward" of "Attention.forward".
inline std::string_view plain_name(std::string_view function) { return function.substr(function.rfind('.') + 1); }

/// Returns whether the frame is this function of PyTorch: is_torch_function(stacks, frame, "optim/", "_init_group").
/// `file`: a part of the path below torch; `function`: without class, or empty for all.
inline bool is_torch_function(const StackTable& stacks, const Frame& frame, std::string_view file,
                              std::string_view function = {}) {
    const std::string& path = stacks.string(frame.file);
    const size_t at = path.rfind("torch/");
    return at != std::string::npos && std::string_view(path).substr(at + 6).starts_with(file) &&
           (function.empty() || plain_name(stacks.string(frame.function)) == function);
}

/// Returns the innermost Python frame outside of PyTorch: the function that called the operation; 0 if there is none.
inline FrameId calling_frame(const StackTable& stacks, StackId stack) {
    for (; stack != 0; stack = stacks.stack(stack).caller) {
        const FrameId id = stacks.stack(stack).frame;
        const bool is_torch = stacks.string(stacks.frame(id).file).find("/torch/") != std::string::npos;
        if (is_python(stacks.role(id)) && !(is_torch && stacks.role(id) == FrameRole::library)) {
            return id;
        }
    }
    return 0;
}

}  // namespace tidemark
