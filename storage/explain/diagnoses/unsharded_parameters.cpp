// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// FSDP keeps the gathered parameters of its layers from the forward pass to the backward pass, all at once.
#include <algorithm>
#include <map>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/backward_passes.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/graph/distributed_memory.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 64 << 20;
constexpr int64_t least_part_of_peak = 10;  ///< 1 / 10
/// FSDP that frees the parameters has about so many layers at once: one in use, and the next one that is gathered.
constexpr size_t layers_at_once = 2;

/// The unsharded parameters that exist when a backward pass begins.
struct Held {
    const BackwardPass* pass = nullptr;
    std::vector<AllocationIndex> allocations;  ///< without those of modules around other ones
    std::map<std::string, int64_t> layers;     ///< bytes by module
    size_t gathered = 0;                       ///< modules whose parameters the forward pass gathered
    int64_t bytes = 0;
};

const std::string& module_of(const AnalysisContext& context, AllocationIndex a) {
    return context.trace().origins[context.device().allocations.origin[a]].module;
}

/// Removes modules around other ones: the root, whose parameters the backward pass needs at once, always keeps its own.
void remove_outer(std::set<std::string>& modules) {
    std::erase_if(modules, [&](const std::string& module) {
        const auto next = modules.lower_bound(module + ".");
        return module.empty() || (next != modules.end() && next->starts_with(module + "."));
    });
}

Held held_at(const AnalysisContext& context, const std::vector<DistributedUse>& uses, const BackwardPass& pass,
             EventNumber since) {
    const Allocations& all = context.device().allocations;
    std::set<std::string> modules;
    std::vector<AllocationIndex> gathered;
    const auto first = std::lower_bound(all.alloc_event.begin(), all.alloc_event.end(), since);
    for (auto a = static_cast<AllocationIndex>(first - all.alloc_event.begin());
         a < all.size() && all.alloc_event[a] < pass.backward; ++a) {
        if (uses[all.stack[a]] == DistributedUse::unsharded) {
            gathered.push_back(a);
            modules.insert(module_of(context, a));
        }
    }
    remove_outer(modules);
    Held held{&pass, {}, {}, modules.size(), 0};
    for (const AllocationIndex a : gathered) {
        if (all.free_event[a] >= pass.backward && modules.contains(module_of(context, a))) {
            held.allocations.push_back(a);
            held.layers[module_of(context, a)] += static_cast<int64_t>(all.block_size[a]);
            held.bytes += static_cast<int64_t>(all.block_size[a]);
        }
    }
    return held;
}

/// Returns whether this is how the layers are wrapped, and not one that is kept because backward needs it first.
bool is_worth_reporting(const AnalysisContext& context, const Held& held) {
    const int64_t peak = context.curves().extremes(Series::allocated, 0, context.now()).max;
    return held.layers.size() >= layers_at_once && held.layers.size() * 2 > held.gathered &&
           held.bytes >= least_bytes && held.bytes * least_part_of_peak >= peak;
}

/// Returns the stack of the program's call that sharded most parameters; 0 if it was not recorded.
StackId wrapping_call(const AnalysisContext& context) {
    const Allocations& all = context.device().allocations;
    const StackTable& stacks = context.trace().stacks;
    const std::vector<bool> wraps = stacks_with_frame(stacks, [&](const Frame& frame) {
        return is_torch_function(stacks, frame, "distributed/", "fully_shard") ||
               is_torch_function(stacks, frame, "distributed/fsdp/fully_sharded_data_parallel.py", "__init__");
    });
    std::map<FrameId, int64_t> bytes;
    StackId most = 0;
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        if (wraps[all.stack[a]]) {
            const int64_t of_line = bytes[stacks.site(all.stack[a])] += static_cast<int64_t>(all.block_size[a]);
            most = most == 0 || of_line > bytes[stacks.site(most)] ? all.stack[a] : most;
        }
    }
    return most;
}

/// Returns whether the program uses FullyShardedDataParallel, the older one, and not fully_shard().
bool is_old_fsdp(const AnalysisContext& context, const Held& held) {
    return has_torch_function(context.trace().stacks, context.device().allocations.stack[held.allocations.front()],
                              "distributed/fsdp/_flat_param.py");
}

/// Returns what FSDP would not keep if it freed the parameters of each layer.
int64_t saved_bytes(const Held& held) {
    int64_t largest = 0;
    for (const auto& [module, bytes] : held.layers) {
        largest = std::max(largest, bytes);
    }
    return std::max<int64_t>(held.bytes - static_cast<int64_t>(layers_at_once) * largest, 0);
}

std::string layers_words(size_t count, const Words& words) {
    return words.plural(static_cast<int64_t>(count), "{n} layer", "{n} layers");
}

void report(Finding& finding, const AnalysisContext& context, const Held& held, bool is_old, const Words& words) {
    const auto bytes = with("bytes", format_bytes(held.bytes));
    const auto setting = with("setting", is_old ? "ShardingStrategy.SHARD_GRAD_OP" : "reshard_after_forward=False");
    finding.title =
        words("FSDP keeps {bytes} of unsharded parameters from the forward pass to the backward pass", bytes);
    finding.text = {
        words("The forward pass gathers the parameters of each layer from all ranks. With `{setting}` FSDP keeps them "
              "until the layer's backward pass, so those of {layers} exist at once: {bytes}.",
              setting, with("layers", layers_words(held.layers.size(), words)), bytes),
        words("If FSDP freed them after the forward pass of each layer, those of about {layers} would exist at once: "
              "{saved} less. They are gathered again for the backward pass.",
              with("layers", layers_words(layers_at_once, words)), with("saved", format_bytes(saved_bytes(held)))),
        words("Memory at the start of the backward pass: {parts}.",
              with("parts", composition_words(words, composition_at(context, held.pass->backward))))};
    if (!finding.line.empty()) {
        finding.text.push_back(words("Most parameters are sharded by {line}.", with("line", finding.line)));
    }
}

Fix fix_of(const Held& held, bool is_old, const Words& words) {
    return {words("Free the parameters after the forward pass of each layer. This costs one more all-gather of each "
                  "layer and step."),
            is_old ? "FullyShardedDataParallel(layer, sharding_strategy=ShardingStrategy.FULL_SHARD)"
                   : "fully_shard(layer, reshard_after_forward=True)",
            saved_bytes(held),
            {}};
}

Finding make_finding(const AnalysisContext& context, const Held& held, const Words& words) {
    Finding finding = diagnoses::unsharded_parameters.new_finding();
    finding.basis =
        words("The functions of FSDP that allocated and freed the parameters, and the backward pass, were recorded.");
    finding.bytes = held.bytes;
    set_allocations(finding, context, held.allocations, held.pass->backward);
    const AllocationIndex largest =
        *std::max_element(held.allocations.begin(), held.allocations.end(), [&](AllocationIndex a, AllocationIndex b) {
            return context.device().allocations.block_size[a] < context.device().allocations.block_size[b];
        });
    const StackId wrapping = wrapping_call(context);
    set_line(finding, context, wrapping != 0 ? wrapping : context.device().allocations.stack[largest]);
    const bool is_old = is_old_fsdp(context, held);
    report(finding, context, held, is_old, words);
    finding.evidence = {
        at_event(context, words("The backward pass begins: the parameters still exist"), held.pass->backward),
        at_allocation(context, words("The largest of them is gathered"), largest)};
    finding.fixes = {fix_of(held, is_old, words)};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress& progress) {
    const std::vector<DistributedUse> uses = distributed_uses(context.trace().stacks);
    if (std::find(uses.begin(), uses.end(), DistributedUse::unsharded) == uses.end()) {
        return;
    }
    const std::vector<BackwardPassGroup> groups = find_backward_passes(context);
    Held most;
    for (const BackwardPassGroup& group : groups) {
        EventNumber since = 0;
        for (const BackwardPass& pass : group.passes) {
            if (progress.canceled) {
                return;
            }
            // Of equal ones the last: when the first one begins, there is no optimizer state yet.
            if (Held held = held_at(context, uses, pass, since); held.bytes >= most.bytes) {
                most = std::move(held);
            }
            since = pass.end;
        }
    }
    if (is_worth_reporting(context, most)) {
        findings.push_back(make_finding(context, most, words));
    }
}

}  // namespace

const Diagnosis diagnoses::unsharded_parameters{FindingKind::unsharded_parameters, Severity::waste,
                                                DiagnosisPhase::observation, run};

}  // namespace tidemark
