// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Stacks that contain a certain frame.
#pragma once

#include <algorithm>
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

/// Returns whether a path begins with this one. Paths of Windows have backslashes.
inline bool path_starts_with(std::string_view path, std::string_view beginning) {
    const auto is_same = [](char a, char b) { return a == b || (a == '\\' && b == '/'); };
    return path.size() >= beginning.size() &&
           std::equal(beginning.begin(), beginning.end(), path.begin(), [&](char b, char a) { return is_same(a, b); });
}

/// Returns whether the function is a method of the class.
inline bool is_method_of(std::string_view function, std::string_view owner) {
    return function.size() > owner.size() && function.starts_with(owner) && function[owner.size()] == '.';
}

/// Returns "optim/adam.py" for a file of PyTorch; "" for others, also below a folder that has its name.
inline std::string_view torch_file(std::string_view path) {
    constexpr std::string_view folder = "torch/", packages = "-packages/";
    const auto is_separator = [](char c) { return c == '/' || c == '\\'; };
    for (size_t at = path.rfind("torch"); at != path.npos; at = at == 0 ? path.npos : path.rfind("torch", at - 1)) {
        if ((at > 0 && !is_separator(path[at - 1])) || !path_starts_with(path.substr(at), folder)) {
            continue;
        }
        const std::string_view file = path.substr(at + folder.size());
        for (size_t inner = file.find("-packages"); inner != file.npos; inner = file.find("-packages", inner + 1)) {
            if (path_starts_with(file.substr(inner), packages)) {
                return {};
            }
        }
        return file;
    }
    return {};
}

/// Returns whether the frame is this function of PyTorch: is_torch_function(stacks, frame, "optim/", "_init_group").
/// `file`: how torch_file() begins; `function`: without class, or empty for all.
inline bool is_torch_function(const StackTable& stacks, const Frame& frame, std::string_view file,
                              std::string_view function = {}) {
    const std::string_view path = torch_file(stacks.string(frame.file));
    return !path.empty() && path_starts_with(path, file) &&
           (function.empty() || plain_name(stacks.string(frame.function)) == function);
}

/// Returns whether this function of PyTorch is on the stack; see is_torch_function().
inline bool has_torch_function(const StackTable& stacks, StackId stack, std::string_view file,
                               std::string_view function = {}) {
    const auto frames = stacks.frames_of(stack);
    return std::any_of(frames.begin(), frames.end(),
                       [&](FrameId id) { return is_torch_function(stacks, stacks.frame(id), file, function); });
}

/// Returns the innermost Python frame outside of PyTorch: the function that called the operation; 0 if there is none.
inline FrameId calling_frame(const StackTable& stacks, StackId stack) {
    for (; stack != 0; stack = stacks.stack(stack).caller) {
        const FrameId id = stacks.stack(stack).frame;
        const bool is_torch = is_torch_function(stacks, stacks.frame(id), "");
        if (is_python(stacks.role(id)) && !(is_torch && stacks.role(id) == FrameRole::library)) {
            return id;
        }
    }
    return 0;
}

}  // namespace tidemark
