// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/backward_passes.h"
#include "storage/trace/optimizer_spans.h"
#include "storage/trace/stack_search.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace tidemark {
namespace {

/// A leaf may allocate its gradient up to this many events after the last node.
constexpr EventNumber slack = 16;

bool begins_pass(const GraphIndex& index, NodeIndex node) {
    const auto& executed = index.tables().nodes.executed;
    if (executed[node] == never_happened || index.is_leaf(node)) {
        return false;
    }
    const auto parents = index.parents(node);
    return std::none_of(parents.begin(), parents.end(),
                        [&](NodeIndex parent) { return executed[parent] <= executed[node]; });
}

class BackwardPassFinder {
public:
    BackwardPassFinder(const AnalysisContext& context, const GraphIndex& index)
        : context_(context), index_(index), nodes_(index.tables().nodes), seen_(nodes_.size(), false) {}

    std::vector<BackwardPass> find() {
        std::vector<NodeIndex> roots;
        for (NodeIndex node = 0; node < nodes_.size(); ++node) {
            if (begins_pass(index_, node)) {
                roots.push_back(node);
            }
        }
        std::sort(roots.begin(), roots.end(),
                  [&](NodeIndex a, NodeIndex b) { return nodes_.executed[a] < nodes_.executed[b]; });
        std::vector<BackwardPass> passes;
        for (const NodeIndex root : roots) {
            // A backward pass also executes the nodes that it recomputes (checkpoint); they are not a separate pass.
            if (passes.empty() || !is_within(root, passes.back())) {
                passes.push_back(pass_from(root));
            }
        }
        std::erase_if(passes, [&](const BackwardPass& pass) { return !is_complete(pass); });
        return passes;
    }

private:
    /// Returns whether all of its nodes were recorded when they were created. Others are found by heap scans, while
    /// details are left out or before the recording: a pass may have begun before them.
    bool is_complete(const BackwardPass& pass) const {
        return std::none_of(pass.nodes.begin(), pass.nodes.end(),
                            [&](NodeIndex node) { return nodes_.created[node] == before_recording; });
    }

    bool is_within(NodeIndex root, const BackwardPass& pass) const {
        const int64_t created = nodes_.created[root];
        return created > nodes_.executed[pass.root] && context_.device().events_until(created) < pass.end;
    }

    BackwardPass pass_from(NodeIndex root) {
        BackwardPass pass;
        pass.root = root;
        NodeIndex first = root;
        int64_t last = nodes_.executed[root];
        std::vector<NodeIndex> open{root};
        while (!open.empty()) {
            const NodeIndex node = open.back();
            open.pop_back();
            const bool is_of_pass = nodes_.executed[node] != never_happened &&
                                    nodes_.executed[node] >= nodes_.executed[root] && !index_.is_leaf(node);
            if (seen_[node] || !is_of_pass) {
                continue;
            }
            seen_[node] = true;
            pass.nodes.push_back(node);
            first = nodes_.created[node] < nodes_.created[first] ? node : first;
            last = std::max(last, nodes_.executed[node]);
            const auto children = index_.children(node);
            open.insert(open.end(), children.begin(), children.end());
        }
        pass.forward = before(first);
        pass.backward = context_.device().events_until(nodes_.executed[root]);
        pass.end = context_.device().events_until(last);
        return pass;
    }

    /// Returns the state before the op of this node allocated memory.
    EventNumber before(NodeIndex node) const {
        const EventNumber made = context_.device().events_until(std::max<int64_t>(nodes_.created[node], 0));
        const AllocationRef output = nodes_.output[node];
        if (!output || output.device != context_.device_position()) {
            return made;
        }
        return std::clamp(context_.device().allocations.alloc_event[output.index], 0, made);
    }

    const AnalysisContext& context_;
    const GraphIndex& index_;
    const GraphNodes& nodes_;
    std::vector<bool> seen_;
};

std::vector<BackwardPassGroup> grouped(const AnalysisContext& context, std::vector<BackwardPass> passes) {
    std::vector<BackwardPassGroup> groups;
    std::unordered_map<FrameId, size_t> group_of;
    for (BackwardPass& pass : passes) {
        const StackId stack = context.graph()->tables().nodes.stack[pass.root];
        const FrameId line = context.trace().stacks.site(stack);
        const auto [found, is_new] = group_of.try_emplace(line, groups.size());
        if (is_new) {
            groups.push_back({line, stack, {}, {}});
        }
        groups[found->second].passes.push_back(std::move(pass));
    }
    return groups;
}

/// Identifies the pass that was running: its group and its position in the group.
struct RunningPass {
    EventNumber backward = 0, last = 0;  ///< states between which it may have allocated gradients
    size_t group = 0, position = 0;
};

std::vector<RunningPass> turns_of(const std::vector<BackwardPassGroup>& groups) {
    std::vector<RunningPass> turns;
    for (size_t group = 0; group < groups.size(); ++group) {
        for (size_t position = 0; position < groups[group].passes.size(); ++position) {
            const BackwardPass& pass = groups[group].passes[position];
            turns.push_back({pass.backward, pass.end + (pass.end - pass.backward) + slack, group, position});
        }
    }
    std::sort(turns.begin(), turns.end(),
              [](const RunningPass& a, const RunningPass& b) { return a.backward < b.backward; });
    return turns;
}

size_t last_pass_before(const BackwardPassGroup& group, EventNumber event) {
    const auto after = std::upper_bound(group.passes.begin(), group.passes.end(), event,
                                        [](EventNumber e, const BackwardPass& pass) { return e < pass.backward; });
    return after == group.passes.begin() ? 0 : static_cast<size_t>(after - group.passes.begin()) - 1;
}

/// Returns whether the allocation is a bucket of DistributedDataParallel, which keeps its buckets: with
/// gradient_as_bucket_view the gradients are views of them, and zero_grad() frees no memory. The reducer allocates them
/// below DistributedDataParallel's own Python code, while the modules' code is below the model's.
bool is_bucket(const AnalysisContext& context, AllocationIndex allocation) {
    const StackTable& stacks = context.trace().stacks;
    const auto frames = stacks.frames_of(context.device().allocations.stack[allocation]);
    const auto innermost =
        std::find_if(frames.begin(), frames.end(), [&](FrameId id) { return is_python(stacks.role(id)); });
    return innermost != frames.end() &&
           is_torch_function(stacks, stacks.frame(*innermost), "nn/parallel/distributed.py");
}

/// Returns the labeled gradients, oldest first.
std::set<AllocationIndex> labeled_gradients(const AnalysisContext& context) {
    std::set<AllocationIndex> labeled;
    for (const CategoryLabel& label : context.graph()->tables().labels) {
        if (label.category == Category::gradient && label.allocation.device == context.device_position() &&
            label.allocation && !is_retained_gradient(context, label.allocation.index) &&
            !is_bucket(context, label.allocation.index)) {
            labeled.insert(label.allocation.index);
        }
    }
    return labeled;
}

void add_gradients(const AnalysisContext& context, std::vector<BackwardPassGroup>& groups) {
    const std::vector<RunningPass> turns = turns_of(groups);
    const Allocations& allocations = context.device().allocations;
    for (const AllocationIndex a : labeled_gradients(context)) {
        const EventNumber made = allocations.alloc_event[a];
        const auto after = std::upper_bound(turns.begin(), turns.end(), made,
                                            [](EventNumber e, const RunningPass& turn) { return e < turn.backward; });
        if (after == turns.begin() || made > std::prev(after)->last) {
            continue;
        }
        const RunningPass& turn = *std::prev(after);
        BackwardPassGroup& group = groups[turn.group];
        const size_t last = last_pass_before(group, allocations.free_event[a]);
        group.gradients.push_back({a, turn.position, std::max(turn.position, last)});
    }
}

/// Returns the number of distinct saved versions. Each in-place update creates a new version of a parameter, and nodes
/// record which version they saved.
size_t saved_versions(const AnalysisContext& context, const BackwardPassGroup& group) {
    const GraphContext& graph = *context.graph();
    const SavedTensors& saved = graph.tables().saved;
    std::unordered_map<uint64_t, std::pair<size_t, std::set<uint16_t>>> versions;
    for (const BackwardPass& pass : group.passes) {
        for (const NodeIndex node : pass.nodes) {
            for (uint32_t s = saved.first[node]; s < saved.first[node + 1]; ++s) {
                if (saved.allocation[s] &&
                    graph.categories.at(saved.allocation[s], graph.state.time()) == Category::parameter) {
                    auto& [times, seen] = versions[memory_key(saved.allocation[s])];
                    ++times;
                    seen.insert(saved.version[s]);
                }
            }
        }
    }
    size_t most = 0, found = 0;
    for (const auto& [key, counted] : versions) {
        if (counted.first > most) {
            most = counted.first;
            found = counted.second.size();
        }
    }
    return found;
}

/// Returns the number of steps since the first pass, of the optimizer class that took most steps.
size_t most_steps(const AnalysisContext& context, const BackwardPassGroup& group) {
    const int64_t since = context.device().time_of_state(group.passes.front().backward);
    std::map<std::string_view, size_t> steps;
    size_t most = 0;
    for (const Annotation& span : context.trace().annotations) {
        if (is_optimizer_step(span) && span.start >= since) {
            most = std::max(most, ++steps[span.name]);
        }
    }
    return most;
}

}  // namespace

std::vector<BackwardPassGroup> find_backward_passes(const AnalysisContext& context) {
    if (!context.graph()) {
        return {};
    }
    std::vector<BackwardPassGroup> groups =
        grouped(context, BackwardPassFinder(context, context.graph()->index).find());
    add_gradients(context, groups);
    return groups;
}

size_t passes_per_update(const AnalysisContext& context, const BackwardPassGroup& group) {
    const size_t versions = saved_versions(context, group);
    const size_t updates = versions > 0 ? versions - (versions == 1) : most_steps(context, group);
    return updates == 0 ? 0 : std::max<size_t>(1, (group.passes.size() + updates / 2) / updates);
}

bool is_retained_gradient(const AnalysisContext& context, AllocationIndex allocation) {
    const std::string& op = context.trace().origins[context.device().allocations.origin[allocation]].op;
    return op.ends_with("> aten::clone") && op.find("AccumulateGrad") == std::string::npos;
}

std::vector<AllocationIndex> gradients_at(const AnalysisContext& context, const BackwardPassGroup& group,
                                          EventNumber state) {
    const Allocations& allocations = context.device().allocations;
    std::vector<AllocationIndex> found;
    for (const Gradient& gradient : group.gradients) {
        const AllocationIndex a = gradient.allocation;
        if (allocations.alloc_event[a] < state && state <= allocations.free_event[a]) {
            found.push_back(a);
        }
    }
    return found;
}

int64_t gradient_bytes(const AnalysisContext& context, const BackwardPassGroup& group, EventNumber state) {
    int64_t bytes = 0;
    for (const AllocationIndex a : gradients_at(context, group, state)) {
        bytes += static_cast<int64_t>(context.device().allocations.block_size[a]);
    }
    return bytes;
}

int64_t activation_bytes(const AnalysisContext& context, const BackwardPass& pass) {
    const auto value = [&](EventNumber state) { return context.curves().value(Series::allocated, state); };
    return std::max<int64_t>(0, value(pass.backward) - value(pass.forward));
}

}  // namespace tidemark
