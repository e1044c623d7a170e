// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/python_paths.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tidemark {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view module_file = "nn/modules/module.py";

/// Every operation on arrays of these libraries runs through their classes.
bool is_in_array_library(std::string_view file) {
    constexpr std::array folders{"-packages/numba"sv, "-packages/jax"sv, "-packages/cupy"sv};
    return std::any_of(folders.begin(), folders.end(),
                       [&](std::string_view folder) { return file.find(folder) != file.npos; });
}

bool is_part_of_iteration(const StackTable& table, const Frame& frame) {
    constexpr std::array functions{"__init__"sv, "<listcomp>"sv, "<dictcomp>"sv, "<genexpr>"sv,
                                   "backward"sv, "forward"sv,    "__call__"sv};
    constexpr std::array files{module_file, "autograd/function.py"sv, "autograd/graph.py"sv};
    const std::string_view function = table.string(frame.function), file = table.string(frame.file);
    const std::string_view name = function.substr(function.rfind('.') + 1);
    if (is_in_array_library(file)) {
        return false;
    }
    return std::find(functions.begin(), functions.end(), name) != functions.end() ||
           std::any_of(files.begin(), files.end(), [&](std::string_view end) { return file.ends_with(end); }) ||
           file.find("torch/optim/") != file.npos;
}

}  // namespace

PythonPaths::PythonPaths(const StackTable& table) : table_(table), path_of_(table.stack_count()), calls_(1) {
    for (StackId stack = 1; stack < table.stack_count(); ++stack) {
        const StackEntry& entry = table.stack(stack);
        const PathId caller = path_of_[entry.caller];
        path_of_[stack] = is_located(table.role(entry.frame)) ? intern(caller, entry.frame) : caller;
    }
}

PathId PythonPaths::intern(PathId caller, FrameId frame) {
    const auto id = static_cast<PathId>(calls_.size());
    const auto [found, is_new] = ids_.try_emplace(uint64_t{caller} << 32 | frame, id);
    if (is_new) {
        const Call& from = calls_[caller];
        calls_.push_back({caller, frame, caller == 0 ? id : from.outermost, from.depth + 1,
                          from.is_part || tidemark::is_part_of_iteration(table_, table_.frame(frame))});
    }
    return found->second;
}

bool PythonPaths::is_call_of_module(PathId path) const {
    return table_.string(frame(path).file).ends_with(module_file);
}

PathId PythonPaths::common_caller(PathId a, PathId b) const {
    while (a != b) {
        PathId& deeper = calls_[a].depth >= calls_[b].depth ? a : b;
        deeper = calls_[deeper].caller;
    }
    return a;
}

std::pair<PathId, PathId> PythonPaths::where_they_part(PathId a, PathId b) const {
    PathId below_a = 0, below_b = 0;
    while (a != b) {
        const uint32_t depth_a = calls_[a].depth, depth_b = calls_[b].depth;
        if (depth_a >= depth_b) {
            below_a = std::exchange(a, calls_[a].caller);
        }
        if (depth_b >= depth_a) {
            below_b = std::exchange(b, calls_[b].caller);
        }
    }
    const auto if_called_by = [&](PathId call) { return call != 0 && calls_[call].caller == a ? call : 0; };
    return {if_called_by(below_a), if_called_by(below_b)};
}

}  // namespace tidemark
