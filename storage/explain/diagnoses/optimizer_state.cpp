// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S13, #11: the tensors that an optimizer keeps for each parameter, allocated at its first step, or at the first one of
// each parameter if parameters are unfrozen one after the other.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>
#include <unordered_map>

#include "storage/base/units.h"
#include "storage/explain/adapted_weights.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/model_bound.h"
#include "storage/explain/stack_categories.h"
#include "storage/explain/unused_optimizers.h"

namespace tidemark {
namespace {

/// State that is created after this part of the run, spread over more than this many iterations, does not come from the
/// first step.
constexpr double first_part = 0.67;
constexpr int64_t most_iterations_apart = 2;
/// Optimizers that quantize their state to 8 bits need about a quarter of 32 bits.
constexpr int64_t part_saved_by_8_bits = 4;
/// Adapters are trained so that this much state of their layers is not needed: a part of all state.
constexpr int64_t adapted_part = 2;
/// Less state than this is not worth another optimizer.
constexpr int64_t least_to_save = 64 << 20;

/// Memory that the step() of one line allocated, and the part of it that is alive.
struct State {
    StackId stack = 0;
    std::vector<AllocationIndex> tensors;  ///< by age
    std::set<std::string> names;           ///< "exp_avg"; without tensors that fit in one minimal block
    int64_t bytes = 0;
};

/// Returns what tells optimizers apart: the line that allocated the state, or without a graph the call of step().
FrameId optimizer_of(const StackTable& stacks, StackId stack, bool is_reported) {
    const FrameId caller = is_reported ? 0 : stacks.site(caller_of_step(stacks, stack));
    return caller != 0 ? caller : stacks.site(stack);
}

bool is_state_by_stack(const std::unordered_map<AllocationIndex, Category>& by_stack, AllocationIndex a) {
    const auto found = by_stack.find(a);
    return found != by_stack.end() && found->second == Category::optimizer_state;
}

std::vector<State> find_states(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    const bool is_reported = context.graph() && !context.graph()->tables().labels.empty();
    const auto by_stack = categories_by_stack(context);
    std::vector<State> states;
    std::unordered_map<FrameId, size_t> by_line;
    context.analysis().live().for_each_active(context.now(), [&](AllocationIndex a) {
        const AllocationRef allocation{context.device_position(), a};
        const bool is_state =
            is_reported ? context.graph()->categories.at(allocation, context.now_time()) == Category::optimizer_state
                        : is_state_by_stack(by_stack, a);
        if (!is_state || allocations.free_event[a] < context.now()) {
            return;
        }
        const auto [found, is_new] =
            by_line.try_emplace(optimizer_of(context.trace().stacks, allocations.stack[a], is_reported), states.size());
        if (is_new) {
            states.push_back({allocations.stack[a], {}, {}, 0});
        }
        State& state = states[found->second];
        state.tensors.push_back(a);
        state.bytes += static_cast<int64_t>(allocations.block_size[a]);
        const std::string& name = is_reported ? context.graph()->categories.name(allocation) : std::string();
        if (const auto kind = parts_of_label(name).state; !kind.empty() && allocations.block_size[a] > 512) {
            state.names.emplace(kind);
        }
    });
    for (State& state : states) {
        std::sort(state.tensors.begin(), state.tensors.end());
    }
    return states;
}

/// Returns whether much of the state is created long after the first step, which is growth or has another cause.
bool comes_later(const AnalysisContext& context, const State& state) {
    const auto& made = context.device().allocations.alloc_event;
    const int64_t first = context.iterations().at(made[state.tensors.front()]);
    const int64_t last = context.iterations().at(made[state.tensors.back()]);
    return last - first > most_iterations_apart &&
           static_cast<double>(last) > first_part * static_cast<double>(context.iterations().size());
}

/// Returns whether the state that came later is that of parameters which existed at the first step.
bool is_of_unfrozen_parameters(const AnalysisContext& context, const State& state) {
    const EventNumber first = context.device().allocations.alloc_event[state.tensors.front()];
    return context.graph() &&
           ModelBound(*context.graph(), context.device_position(), context.now()).covers(state.tensors, first);
}

std::string names_of(const State& state, const Words& words) {
    std::vector<std::string> names;
    names.reserve(state.names.size());
    for (const std::string& name : state.names) {
        names.push_back("`" + name + "`");
    }
    return words.list(names);
}

/// Returns whether the state is as large as the parameters, as in a program with one optimizer for all parameters.
bool is_as_large_as_parameters(const AnalysisContext& context, const State& state) {
    const int64_t parameters = composition_at(context, context.now()).of(Category::parameter);
    const int64_t expected = parameters * static_cast<int64_t>(state.names.size());
    return std::llabs(expected - state.bytes) * 20 <= state.bytes;
}

void report_rise(Finding& finding, const AnalysisContext& context, const State& state, const Words& words) {
    const auto bytes = with("bytes", format_bytes(state.bytes)), line = with("line", finding.line);
    const auto tensors = with("tensors", words.plural(finding.count, "{n} tensor", "{n} tensors"));
    if (comes_later(context, state)) {
        finding.title =
            words("the optimizer keeps {bytes} of state for parameters that were unfrozen in stages", bytes);
        finding.text = {
            words("step() at {line} allocated the state, {bytes} in {tensors}: that of a parameter when it was first "
                  "trained. All these parameters exist since the first step, and each has its state once, so the "
                  "rise ends with the last parameter; this is not a leak.",
                  line, bytes, tensors)};
        return;
    }
    finding.title = words("the optimizer keeps {bytes} of state since its first step", bytes);
    finding.text = {
        finding.line.empty()
            ? words("The first step() allocated the state, {bytes} in {tensors}, and the optimizer keeps it for the "
                    "following steps. Memory rises once by this amount; this is not a leak.",
                    bytes, tensors)
            : words("The first step() at {line} allocated the state, {bytes} in {tensors}, and the optimizer keeps it "
                    "for the following steps. Memory rises once by this amount; this is not a leak.",
                    line, bytes, tensors)};
}

void report(Finding& finding, const AnalysisContext& context, const State& state, const Words& words) {
    report_rise(finding, context, state, words);
    if (const std::string names = names_of(state, words); !names.empty()) {
        finding.text.push_back(
            is_as_large_as_parameters(context, state)
                ? words("For each parameter the optimizer keeps {names}, each as large as the parameter.",
                        with("names", names))
                : words("For each parameter the optimizer keeps {names}.", with("names", names)));
    }
    if (context.graph()) {
        finding.text.push_back(words("The program's memory at {time_point}, including allocator rounding: {parts}.",
                                     with("time_point", time_point_name(context, words)),
                                     with("parts", composition_words(words, composition_at(context, context.now())))));
    }
}

void add_evidence(Finding& finding, const AnalysisContext& context, const State& state, const Words& words) {
    const auto& made = context.device().allocations.alloc_event;
    const EventNumber before = std::max(made[state.tensors.front()], 0), after = made[state.tensors.back()] + 1;
    finding.evidence = {at_event(context, words("The state before the first step()"), before),
                        at_event(context, words("The optimizer state is allocated"), after),
                        at_allocation(context, words("The first tensor of the optimizer state"), state.tensors.front()),
                        at_event(context,
                                 words("The optimizer state still exists at {time_point}",
                                       with("time_point", time_point_name(context, words))),
                                 context.now())};
}

/// Says that the optimizer trains the weights to which adapters were added.
void report_adapted_weights(Finding& finding, const AnalysisContext& context, const State& state, const Words& words) {
    const Allocations& allocations = context.device().allocations;
    const std::vector<AllocationIndex> needless = state_of_adapted_weights(context, state.tensors);
    int64_t bytes = 0;
    for (const AllocationIndex a : needless) {
        bytes += static_cast<int64_t>(allocations.block_size[a]);
    }
    if (bytes < least_to_save || bytes * adapted_part < state.bytes) {
        return;
    }
    const std::string example(
        labeled_tensor(context.graph()->categories.name({context.device_position(), needless.front()})));
    const auto needless_bytes = with("bytes", format_bytes(bytes));
    finding.severity = Severity::waste;
    finding.bytes = bytes;
    set_allocations(finding, context, needless, context.now());
    finding.title = words("{bytes} of optimizer state belong to weights beside their LoRA adapters", needless_bytes);
    finding.text.insert(
        finding.text.begin(),
        words("Layers of this model have adapters (LoRA), which are trained in place of the layers' weights. But the "
              "optimizer also trains these weights, such as `{name}`: {bytes} of its state are theirs, and each "
              "backward pass computes their gradients. Weights that were created or loaded after the model was frozen "
              "require gradients again.",
              with("name", example), needless_bytes));
    finding.fixes.push_back({words("Freeze the weights after the adapters were added, and before the optimizer is "
                                   "created with the parameters that still require gradients."),
                             "for name, parameter in model.named_parameters():\n"
                             "    parameter.requires_grad_(\"lora_\" in name)",
                             bytes, std::nullopt});
}

void add_fixes(Finding& finding, int64_t bytes, const Words& words) {
    if (bytes < least_to_save) {
        return;
    }
    finding.fixes.push_back({words("If it is too large: an optimizer with 8-bit state needs about a quarter."),
                             "import bitsandbytes\n"
                             "optimizer = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=1e-3)",
                             bytes - bytes / part_saved_by_8_bits, std::nullopt});
    finding.fixes.push_back(
        {words("With several GPUs the state can be sharded, as FSDP and ZeroRedundancyOptimizer do."),
         "optimizer = torch.distributed.optim.ZeroRedundancyOptimizer(\n"
         "    model.parameters(), optimizer_class=torch.optim.AdamW, lr=1e-3)",
         std::nullopt, std::nullopt});
}

Finding make_finding(const AnalysisContext& context, const State& state, const Words& words) {
    Finding finding = diagnoses::optimizer_state.new_finding();
    const bool is_reported = context.graph() != nullptr;
    finding.confidence = is_reported ? Confidence::certain : Confidence::likely;
    finding.basis = is_reported
                        ? words("The tensors were read from the optimizer's state.")
                        : words("The memory was allocated in step() of an optimizer, and stays beside the parameters.");
    finding.bytes = state.bytes;
    set_allocations(finding, context, state.tensors, context.now());
    set_line(finding, context, state.stack);
    const EventNumber made = context.device().allocations.alloc_event[state.tensors.front()];
    const int64_t iteration = context.iterations().at(made);
    if (iteration >= 0 && iteration < static_cast<int64_t>(context.iterations().size())) {
        set_since(finding, context.iterations(), static_cast<size_t>(iteration));
    }
    finding.since = context.device().time_of_state(std::max(made, 0));
    report(finding, context, state, words);
    report_adapted_weights(finding, context, state, words);
    add_evidence(finding, context, state, words);
    add_fixes(finding, state.bytes, words);
    return finding;
}

/// Returns whether the state belongs to an optimizer that does not step any more, which unused_model reports.
bool is_unused(const std::vector<UnusedOptimizer>& optimizers, const State& state) {
    return std::any_of(optimizers.begin(), optimizers.end(), [&](const UnusedOptimizer& unused) {
        return std::find(unused.memory.begin(), unused.memory.end(), state.tensors.front()) != unused.memory.end();
    });
}

/// Returns whether the first step() was recorded: memory rose by the state. Without a graph, the state may exist since
/// before the history, or be made anew in each step().
bool rose_at_first_step(const AnalysisContext& context, const State& state) {
    return context.graph() || (context.device().allocations.alloc_event[state.tensors.front()] != before_history &&
                               bytes_replaced_by_steps(context) * 2 < state.bytes);
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const std::vector<UnusedOptimizer> unused = find_unused_optimizers(context);
    for (const State& state : find_states(context)) {
        const bool is_explained = !comes_later(context, state) || is_of_unfrozen_parameters(context, state);
        if (is_explained && !is_unused(unused, state) && rose_at_first_step(context, state)) {
            findings.push_back(make_finding(context, state, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::optimizer_state{FindingKind::optimizer_state, Severity::pattern, DiagnosisPhase::observation,
                                           run};

}  // namespace tidemark
