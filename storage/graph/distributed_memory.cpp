// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/distributed_memory.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "storage/trace/optimizer_spans.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Functions of PyTorch that decide; of several on a stack, the innermost one. FSDP1 is in _flat_param.py and
/// _runtime_utils.py, FSDP2 in the other files, which were in _composable/ before PyTorch 2.6.
struct Function {
    std::string_view file;  ///< how it begins
    std::string_view name;  ///< empty: all of the file
    DistributedUse use;
};
constexpr std::array functions{
    Function{"distributed/fsdp/", "alloc_all_gather_outputs", DistributedUse::unsharded},
    Function{"distributed/fsdp/", "init_all_gather_outputs", DistributedUse::unsharded},
    Function{"distributed/fsdp/", "_alloc_padded_unsharded_flat_param", DistributedUse::unsharded},
    Function{"distributed/_composable/fsdp/", "alloc_all_gather_outputs", DistributedUse::unsharded},
    Function{"distributed/_composable/fsdp/", "init_all_gather_outputs", DistributedUse::unsharded},
    Function{"distributed/fsdp/", "foreach_reduce", DistributedUse::reduction},
    Function{"distributed/fsdp/", "_reduce_grad", DistributedUse::reduction},
    Function{"distributed/_composable/fsdp/", "foreach_reduce", DistributedUse::reduction},
    Function{"distributed/fsdp/", "foreach_all_gather", DistributedUse::communication},
    Function{"distributed/fsdp/", "foreach_all_gather_copy_out", DistributedUse::communication},
    Function{"distributed/_composable/fsdp/", "foreach_all_gather", DistributedUse::communication},
    Function{"distributed/_composable/fsdp/", "foreach_all_gather_copy_out", DistributedUse::communication},
    Function{"nn/parallel/distributed.py", "_ddp_init_helper", DistributedUse::communication},
    Function{"nn/parallel/distributed.py", "_pre_forward", DistributedUse::communication},
    Function{"distributed/utils.py", "_recursive_to", DistributedUse::other},  // inputs of the model
    Function{"distributed/utils.py", "_sync_params_and_buffers", DistributedUse::communication},
    Function{"distributed/algorithms/ddp_comm_hooks/", "", DistributedUse::communication},
    Function{"distributed/_functional_collectives.py", "", DistributedUse::communication},
    Function{"distributed/distributed_c10d.py", "", DistributedUse::communication},
    Function{"distributed/tensor/", "", DistributedUse::tensor},
    Function{"distributed/_tensor/", "", DistributedUse::tensor}};

/// Returns the use of a frame that `caller` called.
DistributedUse use_of(const StackTable& stacks, const Frame& frame, DistributedUse caller) {
    const std::string_view file = torch_file(stacks.string(frame.file));
    if (!path_starts_with(file, "distributed/") && !path_starts_with(file, "nn/parallel/")) {
        return caller;
    }
    const std::string_view name = plain_name(stacks.string(frame.function));
    const auto* const found = std::find_if(functions.begin(), functions.end(), [&](const Function& function) {
        return path_starts_with(file, function.file) && (function.name.empty() || function.name == name);
    });
    return found == functions.end() ? caller : found->use;
}

/// Returns the states in which the steps of optimizers ended. Not those in which they began: where a recorder left out
/// repeated steps, the memory that remains of the last one is allocated at the end of it.
std::vector<EventNumber> optimizer_steps(const Trace& trace, const DeviceHistory& device) {
    std::vector<EventNumber> ends;
    for (const Annotation& span : trace.annotations) {
        if (is_optimizer_step(span)) {
            ends.push_back(device.events_until(span.end));
        }
    }
    std::sort(ends.begin(), ends.end());
    return ends;
}

}  // namespace

std::vector<DistributedUse> distributed_uses(const StackTable& stacks) {
    std::vector<DistributedUse> uses(stacks.stack_count(), DistributedUse::other);
    for (StackId id = 1; id < uses.size(); ++id) {
        const StackEntry& entry = stacks.stack(id);
        uses[id] = use_of(stacks, stacks.frame(entry.frame), uses[entry.caller]);
    }
    return uses;
}

std::vector<bool> distributed_gradients(const Trace& trace, const DeviceHistory& device,
                                        const std::vector<DistributedUse>& uses,
                                        const std::function<bool(AllocationIndex)>& is_parameter) {
    const Allocations& all = device.allocations;
    std::vector<bool> gradients(all.size(), false);
    std::unordered_set<uint64_t> parameter_sizes;
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        if (uses[all.stack[a]] == DistributedUse::tensor && is_parameter(a)) {
            parameter_sizes.insert(all.requested[a]);
        }
    }
    const std::vector<EventNumber> steps = optimizer_steps(trace, device);
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        const bool may_be = uses[all.stack[a]] == DistributedUse::reduction ||
                            (parameter_sizes.contains(all.requested[a]) && all.origin[a] < trace.origins.size() &&
                             trace.origins[all.origin[a]].phase == Phase::backward);
        if (may_be) {
            const auto step = std::upper_bound(steps.begin(), steps.end(), all.alloc_event[a]);
            gradients[a] = step != steps.end() && all.free_event[a] >= *step;
        }
    }
    return gradients;
}

}  // namespace tidemark
