// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/stacked_models.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "storage/explain/private_pools.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;
constexpr int64_t least_fraction = 20;  ///< 1 / 20 of the allocated memory
constexpr size_t fewest_idle = 10;      ///< iterations

/// Returns "Net" for "Net.encoder.weight"; "" for a parameter that only an optimizer names.
std::string model_of_label(const std::string& name) {
    const size_t end = name.find('.');
    return end == name.npos ? std::string() : name.substr(0, end);
}

class StackedModelFinder {
public:
    explicit StackedModelFinder(const AnalysisContext& context)
        : context_(context), graph_(*context.graph()), nodes_(graph_.tables().nodes) {
        for (NodeIndex node = 0; node < nodes_.size(); ++node) {
            is_stack_.push_back(is_detached_stack(node));
            const AllocationRef variable = nodes_.output[node];
            if (graph_.index.is_leaf(node) && variable && variable.device == context.device_position()) {
                leaves_[variable.index].push_back(node);
            }
        }
    }

    std::vector<StackedModels> find() {
        for (NodeIndex node = 0; node < nodes_.size(); ++node) {
            if (is_stack_[node]) {
                add_originals(node);
            }
        }
        const int64_t allocated = context_.curves().value(Series::allocated, context_.now());
        std::vector<StackedModels> found;
        for (const auto& [stack, group] : by_call_) {
            StackedModels models = describe(group);
            if (models.bytes >= least_bytes && models.bytes * least_fraction >= allocated && !runs_directly(group)) {
                found.push_back(std::move(models));
            }
        }
        std::sort(found.begin(), found.end(),
                  [](const StackedModels& a, const StackedModels& b) { return a.bytes > b.bytes; });
        return found;
    }

private:
    /// What one call stacked.
    struct Group {
        std::set<AllocationIndex> originals;
        std::map<std::string, uint64_t> models;  ///< bytes by name
        AllocationIndex copy = no_allocation;
        int64_t stacked = 0;  ///< ns since trace start: the last time
        size_t idle = 0;
    };

    /// Returns whether the node stacked leaves, and ended without a backward pass: its result was detached.
    bool is_detached_stack(NodeIndex node) const {
        const auto children = graph_.index.children(node);
        return children.size() > 1 && nodes_.executed[node] == never_happened &&
               nodes_.destroyed[node] <= context_.now_time() && graph_.index.type(node) == "StackBackward0" &&
               std::all_of(children.begin(), children.end(), [&](NodeIndex c) { return graph_.index.is_leaf(c); });
    }

    /// Returns whether it is a parameter that exists at the context's time point.
    bool is_parameter(AllocationRef memory) const {
        const Allocations& all = context_.device().allocations;
        return memory && memory.device == context_.device_position() &&
               all.alloc_event[memory.index] < context_.now() && context_.now() <= all.free_event[memory.index] &&
               graph_.categories.at(memory, context_.now_time()) == Category::parameter;
    }

    /// Returns whether nothing recorded has used the parameter but torch.stack().
    bool is_only_stacked(AllocationRef parameter) const {
        const std::vector<NodeIndex>& leaves = leaves_.at(parameter.index);
        return graph_.index.saved_in(parameter).empty() &&
               std::all_of(leaves.begin(), leaves.end(), [&](NodeIndex leaf) {
                   const auto users = graph_.index.parents(leaf);
                   return !users.empty() &&
                          std::all_of(users.begin(), users.end(), [&](NodeIndex user) { return is_stack_[user]; });
               });
    }

    /// Returns the iterations that use the copy which the node made.
    size_t iterations_with_copy(NodeIndex stack) const {
        std::set<int64_t> iterations;
        const auto copied = leaves_.find(nodes_.output[stack].index);
        for (const NodeIndex leaf : copied == leaves_.end() ? std::vector<NodeIndex>() : copied->second) {
            if (nodes_.created[leaf] >= nodes_.destroyed[stack] && nodes_.created[leaf] <= context_.now_time()) {
                iterations.insert(context_.iterations().at(context_.device().events_until(nodes_.created[leaf])));
            }
        }
        return iterations.size();
    }

    void add_originals(NodeIndex stack) {
        const AllocationRef copy = nodes_.output[stack];
        const size_t idle = is_parameter(copy) ? iterations_with_copy(stack) : 0;
        if (idle < fewest_idle) {
            return;
        }
        for (const NodeIndex leaf : graph_.index.children(stack)) {
            const AllocationRef original = nodes_.output[leaf];
            const std::string model = model_of_label(graph_.categories.name(original));
            if (!model.empty() && is_parameter(original) && is_only_stacked(original)) {
                Group& group = by_call_[nodes_.stack[stack]];
                group.originals.insert(original.index);
                group.models[model] += context_.device().allocations.requested[original.index];
                group.copy = copy.index;
                group.stacked = std::max(group.stacked, nodes_.destroyed[stack]);
                group.idle = std::max(group.idle, idle);
            }
        }
    }

    /// Returns whether a module of one of the models has run with its own parameters since they were stacked.
    bool runs_directly(const Group& group) const {
        const StackTable& stacks = context_.trace().stacks;
        const std::vector<bool> is_functional = stacks_with_frame(
            stacks, [&](const Frame& frame) { return is_torch_function(stacks, frame, "", "functional_call"); });
        const Allocations& all = context_.device().allocations;
        for (AllocationIndex a = 0; a < all.size() && all.alloc_event[a] < context_.now(); ++a) {
            const std::string& module = context_.trace().origins[all.origin[a]].module;
            if (!module.empty() && !is_functional[all.stack[a]] && all.alloc_event[a] != before_history &&
                context_.device().alloc_time(a) > group.stacked &&
                group.models.contains(module.substr(0, module.find('.')))) {
                return true;
            }
        }
        return false;
    }

    StackedModels describe(const Group& group) const {
        const std::vector<uint64_t>& size = context_.device().allocations.requested;
        const auto largest = std::max_element(group.models.begin(), group.models.end(),
                                              [](const auto& a, const auto& b) { return a.second < b.second; });
        StackedModels found{
            {group.originals.begin(), group.originals.end()}, largest->first, 0, group.copy, group.stacked, group.idle};
        std::stable_sort(found.memory.begin(), found.memory.end(),
                         [&](AllocationIndex a, AllocationIndex b) { return size[a] > size[b]; });
        for (const AllocationIndex a : found.memory) {
            found.bytes += static_cast<int64_t>(size[a]);
            found.referrer =
                found.referrer ? found.referrer : graph_.referrers.in_python({context_.device_position(), a});
        }
        return found;
    }

    const AnalysisContext& context_;
    const GraphContext& graph_;
    const GraphNodes& nodes_;
    std::vector<bool> is_stack_;                                          ///< by node: is_detached_stack()
    std::unordered_map<AllocationIndex, std::vector<NodeIndex>> leaves_;  ///< by the memory of the variable
    std::map<StackId, Group> by_call_;
};

}  // namespace

std::vector<StackedModels> find_stacked_models(const AnalysisContext& context) {
    if (!context.graph() || !find_private_pools(context).pools.empty()) {
        return {};
    }
    return StackedModelFinder(context).find();
}

}  // namespace tidemark
