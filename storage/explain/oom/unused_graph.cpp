// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/oom/unused_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// A smaller part of the memory in use does not decide.
constexpr int64_t least_part = 10;

using Function = std::pair<StringId, StringId>;  ///< function and file

Function function_of(const StackTable& stacks, FrameId id) {
    return {stacks.frame(id).function, stacks.frame(id).file};
}

bool was_executed(const GraphContext& graph, NodeIndex node) {
    return graph.tables().nodes.executed[node] != never_happened;
}

/// Returns all functions that called an operation which a backward pass used.
std::set<Function> functions_of_training(const OomCase& oom, const GraphContext& graph) {
    const GraphNodes& nodes = graph.tables().nodes;
    std::vector<bool> visited(oom.stacks().stack_count());
    std::set<Function> functions;
    for (NodeIndex node = 0; node < nodes.size(); ++node) {
        if (!was_executed(graph, node)) {
            continue;
        }
        for (StackId id = nodes.stack[node]; id != 0 && !visited[id]; id = oom.stacks().stack(id).caller) {
            visited[id] = true;
            functions.insert(function_of(oom.stacks(), oom.stacks().stack(id).frame));
        }
    }
    return functions;
}

/// Returns whether a decorator can change the function: a lambda or a generator expression is part of another one.
bool has_definition(const StackTable& stacks, FrameId id) {
    return !plain_name(stacks.string(stacks.frame(id).function)).starts_with('<');
}

/// Returns the outermost function of the program that called the failed request and no training; 0 if there is none.
FrameId caller_outside_training(const OomCase& oom, const std::set<Function>& training) {
    std::vector<FrameId> frames = oom.stacks().frames_of(oom.oom().stack);
    std::reverse(frames.begin(), frames.end());
    const auto found = std::find_if(frames.begin(), frames.end(), [&](FrameId id) {
        return oom.stacks().role(id) >= FrameRole::console && has_definition(oom.stacks(), id) &&
               !training.contains(function_of(oom.stacks(), id));
    });
    return found == frames.end() ? 0 : *found;
}

/// Returns whether an earlier iteration built a graph and destroyed it unused. Before the first backward pass, a single
/// forward pass may belong to training as well.
bool had_unused_graph(const OomCase& oom, const GraphContext& graph) {
    const GraphNodes& nodes = graph.tables().nodes;
    const int64_t began = oom.context().device().time_of_state(oom.began());
    for (NodeIndex node = 0; node < nodes.size(); ++node) {
        if (oom.iteration() && nodes.destroyed[node] <= began && !graph.index.is_leaf(node)) {
            return true;
        }
    }
    return false;
}

/// Adds the memory of this iteration that only alive nodes retain. Without a graph, the last operation that saved it
/// would have been the last to use it.
void add_retained(const OomCase& oom, const GraphContext& graph, UnusedGraph& unused) {
    const GraphNodes& nodes = graph.tables().nodes;
    const SavedTensors& saved = graph.tables().saved;
    std::map<AllocationIndex, int64_t> last_use;
    for (const NodeIndex node : graph.state.parents_first()) {
        for (uint32_t s = saved.first[node]; s < saved.first[node + 1] && !was_executed(graph, node); ++s) {
            const AllocationRef memory = saved.allocation[s];
            if (memory && memory.device == oom.context().device_position() && graph.state.is_graph_memory(memory) &&
                oom.allocations().alloc_event[memory.index] >= oom.began() && !graph.referrers.in_python(memory) &&
                !oom.retained().is_by_exception(memory.index)) {
                int64_t& time = last_use[memory.index];
                time = std::max(time, nodes.created[node]);
            }
        }
    }
    for (const auto& [a, time] : last_use) {
        const EventNumber made = oom.allocations().alloc_event[a];
        unused.retained.emplace_back(a, std::max(made + 1, oom.context().device().events_until(time)));
        unused.bytes += oom.bytes(a);
    }
}

}  // namespace

std::optional<UnusedGraph> find_unused_graph(const OomCase& oom) {
    const GraphContext* graph = oom.context().graph();
    if (!graph || oom.phase() == Phase::backward || oom.is_optimizer_step()) {
        return std::nullopt;
    }
    const std::set<Function> training = functions_of_training(oom, *graph);
    UnusedGraph unused;
    unused.caller = training.empty() ? 0 : caller_outside_training(oom, training);
    if (training.empty() ? !had_unused_graph(oom, *graph) : unused.caller == 0) {
        return std::nullopt;
    }
    add_retained(oom, *graph, unused);
    return unused.bytes * least_part >= oom.in_use() ? std::optional(std::move(unused)) : std::nullopt;
}

namespace {

/// Returns whether the run without the graph fits in a replay; nothing if nothing was replayed.
bool fits_in_replay(const OomCase& oom, const UnusedGraph& unused, Progress& progress) {
    if (!oom.experiments().was_tried) {
        return false;
    }
    Change change;
    change.freed_at = unused.retained;
    const auto outcome =
        what_if(oom.context().trace(), oom.context().device(), change, oom.experiments().capacity, progress);
    return outcome && outcome->fits;
}

/// Returns whether a thread other than the main one requested the memory.
bool is_in_thread(const OomCase& oom) {
    const std::vector<FrameId> frames = oom.stacks().frames_of(oom.oom().stack);
    return std::any_of(frames.begin(), frames.end(), [&](FrameId id) {
        const Frame& frame = oom.stacks().frame(id);
        return oom.stacks().string(frame.file).ends_with("/threading.py") &&
               plain_name(oom.stacks().string(frame.function)).starts_with("_bootstrap");
    });
}

/// Returns code that disables gradients in the function, or around the pass if the name is empty.
std::string code_without_gradients(const std::string& function, bool is_in_thread) {
    if (function.empty()) {
        return "with torch.no_grad():\n    output = model(batch)";
    }
    return is_in_thread
               ? fmt::format("def {}(...):\n    with torch.no_grad():  # in the thread itself\n        ...", function)
               : fmt::format("@torch.no_grad()\ndef {}(...):", function);
}

std::string name_of(const OomCase& oom, FrameId id) {
    return std::string(plain_name(oom.stacks().string(oom.stacks().frame(id).function)));
}

}  // namespace

void oom_advice::unused_graph(const OomCase& oom, const Words& words, OomAnswer& answer, Progress& progress) {
    const auto unused = find_unused_graph(oom);
    if (!unused) {
        return;
    }
    const auto bytes = with("bytes", format_bytes(unused->bytes));
    std::string text;
    const bool in_thread = is_in_thread(oom);
    std::string code = code_without_gradients(unused->caller == 0 ? "" : name_of(oom, unused->caller), in_thread);
    if (unused->caller == 0) {
        answer.text.push_back(words(
            "The autograd graph of this forward pass retains {bytes}. No backward pass ran before the error.", bytes));
        text = words("If no backward pass is to follow, disable gradients: the graph would not retain {bytes}.", bytes);
    } else {
        const auto function = with("function", name_of(oom, unused->caller));
        answer.text.push_back(words(
            "The autograd graph of this forward pass retains {bytes}. The pass was called at {line}; no backward pass "
            "of the run used a forward pass of that function.",
            bytes, with("line", describe_frame(oom.stacks(), unused->caller))));
        text = words("If `{function}` only evaluates, disable gradients in it: the graph would not retain {bytes}.",
                     bytes, function);
    }
    if (in_thread) {
        text = words.sentences({text, words("The grad mode is per thread: do it in the function that the thread runs. "
                                            "torch.no_grad() around the code that starts the thread does not apply in "
                                            "it.")});
    }
    if (fits_in_replay(oom, *unused, progress)) {
        text = words.sentences({text, words("A replay without the graph fits.")});
        answer.fixes.push_back({{std::move(text), std::move(code), unused->bytes, {}}, true});
        return;
    }
    add_fix(answer, oom, words, std::move(text), std::move(code), unused->bytes);
}

}  // namespace tidemark
