// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/python_paths.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

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

std::string_view name_of(const StackTable& table, const Frame& frame) {
    const std::string_view function = table.string(frame.function);
    return function.substr(function.rfind('.') + 1);
}

bool is_part_of_iteration(const StackTable& table, const Frame& frame) {
    constexpr std::array functions{"__init__"sv, "<listcomp>"sv, "<dictcomp>"sv, "<genexpr>"sv,
                                   "backward"sv, "forward"sv,    "__call__"sv};
    constexpr std::array files{module_file, "autograd/function.py"sv, "autograd/graph.py"sv};
    const std::string_view name = name_of(table, frame), file = table.string(frame.file);
    if (is_in_array_library(file)) {
        return false;
    }
    return std::find(functions.begin(), functions.end(), name) != functions.end() ||
           std::any_of(files.begin(), files.end(), [&](std::string_view end) { return file.ends_with(end); }) ||
           file.find("torch/optim/") != file.npos;
}

}  // namespace

PythonPaths::PythonPaths(const StackTable& table, const Allocations* allocations)
    : table_(table), path_of_(table.stack_count()), calls_(1) {
    for (StackId stack = 1; stack < table.stack_count(); ++stack) {
        const StackEntry& entry = table.stack(stack);
        const PathId caller = path_of_[entry.caller];
        path_of_[stack] = is_located(table.role(entry.frame)) ? intern(caller, entry.frame) : caller;
    }
    find_parts_of_iterations(allocations == nullptr ? std::vector<Memory>(calls_.size()) : memory_inside(*allocations));
}

PathId PythonPaths::intern(PathId caller, FrameId frame) {
    const auto id = static_cast<PathId>(calls_.size());
    const auto [found, is_new] = ids_.try_emplace(uint64_t{caller} << 32 | frame, id);
    if (is_new) {
        const Call& from = calls_[caller];
        calls_.push_back({caller, frame, caller == 0 ? id : from.outermost, from.depth + 1, false});
    }
    return found->second;
}

void PythonPaths::find_parts_of_iterations(const std::vector<Memory>& inside) {
    // Each line of a function is a call of its own here.
    const auto function_of = [this](PathId path) {
        return std::tuple(calls_[path].caller, frame(path).function, frame(path).file);
    };
    std::map<std::tuple<PathId, StringId, StringId>, Memory> of_function;
    for (PathId path = 1; path < calls_.size(); ++path) {
        of_function[function_of(path)] += inside[path];
    }
    for (PathId path = 1; path < calls_.size(); ++path) {
        Call& call = calls_[path];
        call.is_part =
            calls_[call.caller].is_part || (tidemark::is_part_of_iteration(table_, frame(path)) &&
                                            !runs_program(call.frame, of_function[function_of(path)], inside[0]));
    }
}

/// pytest and click run the program inside a __call__, and so do classes of programs, also in a constructor. A
/// constructor of a model, or one forward pass of a model that is no torch.nn.Module, retains most of what it
/// allocates.
bool PythonPaths::runs_program(FrameId frame, const Memory& inside, const Memory& all) const {
    constexpr double nearly_all = 0.9;
    const std::string_view name = name_of(table_, table_.frame(frame));
    const bool is_call = name == "__call__", is_of_program = table_.role(frame) != FrameRole::library;
    const bool is_around_all =
        all.count > 0 && static_cast<double>(inside.count) >= nearly_all * static_cast<double>(all.count);
    return is_around_all && ((is_call && !is_of_program) ||
                             (is_of_program && (is_call || name == "__init__") && inside.freed >= inside.bytes / 2));
}

std::vector<PythonPaths::Memory> PythonPaths::memory_inside(const Allocations& allocations) const {
    std::vector<Memory> inside(calls_.size());
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        if (const PathId path = path_of_[allocations.stack[a]]; path != 0) {
            const uint64_t bytes = allocations.requested[a];
            inside[path] += {1, bytes, allocations.free_event[a] == never ? 0 : bytes};
        }
    }
    for (auto path = static_cast<PathId>(calls_.size()); --path > 0;) {
        inside[calls_[path].caller] += inside[path];  // a call has a larger number than its caller
    }
    return inside;
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
