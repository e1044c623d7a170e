// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The optimizer creates its state at its first step, and the state does not fit.
#include <algorithm>
#include <map>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/trace/optimizer_spans.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Optimizers that quantize their state to 8 bits need about a quarter of 32 bits.
constexpr int64_t part_of_8_bits = 4;
/// Lines that create a state of each parameter have created at least this part of the largest of these states.
constexpr double least_part_of_state = 0.5;

/// The state of PyTorch's own optimizers in the making.
struct StateInMaking {
    std::vector<AllocationIndex> made;
    int64_t made_bytes = 0;
    int64_t per_parameter = 0;    ///< tensors that each parameter gets
    int64_t trained_bytes = 0;    ///< parameters with a gradient
    int64_t parameter_bytes = 0;  ///< all parameters and gradients
    int64_t total() const { return per_parameter * trained_bytes; }
    int64_t missing() const { return total() - made_bytes; }
};

/// Counts the lines that created about the same number of bytes: each creates one tensor for each parameter.
int64_t count_states(const OomCase& oom, const std::vector<AllocationIndex>& made) {
    std::map<FrameId, int64_t> by_line;
    for (const AllocationIndex a : made) {
        by_line[oom.stacks().innermost(oom.allocations().stack[a])] += oom.bytes(a);
    }
    int64_t most = 0;
    for (const auto& [line, bytes] : by_line) {
        most = std::max(most, bytes);
    }
    return std::count_if(by_line.begin(), by_line.end(), [&](const auto& line) {
        return static_cast<double>(line.second) >= least_part_of_state * static_cast<double>(most);
    });
}

/// Returns nothing if the state is not as large as the parameters, as that of Adafactor.
std::optional<StateInMaking> find_state(const OomCase& oom) {
    const std::vector<bool> creates = stacks_with_frame(oom.stacks(), [&](const Frame& frame) {
        return is_torch_function(oom.stacks(), frame, "optim/", "_init_group");
    });
    if (!creates[oom.oom().stack]) {
        return std::nullopt;
    }
    StateInMaking state;
    std::set<uint64_t> gradient_sizes;
    for (const AllocationIndex a : oom.alive()) {
        const Category category = oom.category(a);
        if (creates[oom.allocations().stack[a]]) {
            state.made.push_back(a);
        } else if (category == Category::gradient) {
            state.trained_bytes += oom.bytes(a);
            gradient_sizes.insert(oom.allocations().requested[a]);
        }
        state.parameter_bytes += category == Category::gradient || category == Category::parameter ? oom.bytes(a) : 0;
    }
    state.made_bytes = oom.bytes(state.made);
    state.per_parameter = count_states(oom, state.made);
    const bool are_like_gradients =
        gradient_sizes.contains(oom.oom().size) || gradient_sizes.empty() || state.made.empty() ||
        std::any_of(state.made.begin(), state.made.end(),
                    [&](AllocationIndex a) { return gradient_sizes.contains(oom.allocations().requested[a]); });
    return are_like_gradients ? std::optional(std::move(state)) : std::nullopt;
}

/// Returns "AdamW"; "" if no span of step() was recorded.
std::string name_of_optimizer(const OomCase& oom) {
    const int64_t time = oom.context().device().time_of_state(oom.analysis().before);
    for (const Annotation& span : oom.context().trace().annotations) {
        if (span.start <= time && time <= span.end && is_optimizer_step(span)) {
            return optimizer_class(span);
        }
    }
    return {};
}

void describe(const OomCase& oom, const Words& words, const StateInMaking& state, OomAnswer& answer) {
    const std::string name = name_of_optimizer(oom);
    std::string text = name.empty() ? words("The optimizer was creating its state, as it does at its first step().")
                                    : words("{optimizer} was creating its state, as it does at its first step().",
                                            with("optimizer", name));
    if (state.trained_bytes == 0 || state.missing() <= 0) {
        answer.text.push_back(std::move(text));
        return;
    }
    const int64_t rest = oom.in_use() - state.parameter_bytes - state.made_bytes;
    const std::string sizes = words.plural(
        state.per_parameter,
        "It keeps {n} tensor for each parameter, as large as its gradient: {total} together, of which {made} exist "
        "and {missing} are missing.",
        "It keeps {n} tensors for each parameter, each as large as its gradient: {total} together, of which {made} "
        "exist and {missing} are missing.",
        with("total", format_bytes(state.total())), with("made", format_bytes(state.made_bytes)),
        with("missing", format_bytes(state.missing())));
    text = words.sentences({std::move(text), sizes});
    if (rest < state.missing()) {
        text = words.sentences(
            {text, words("A smaller batch does not help: parameters, gradients and this state use all but {rest} of "
                         "the memory.",
                         with("rest", format_bytes(rest)))});
    }
    answer.text.push_back(std::move(text));
}

/// Adds a fix after which the whole state takes `bytes`.
void add_smaller_state(OomAnswer& answer, const OomCase& oom, const Words& words, const StateInMaking& state,
                       std::string text, std::string code, int64_t bytes) {
    const bool fits = oom.capacity() && oom.in_use() - state.made_bytes + bytes <= *oom.capacity();
    if (fits) {
        text = words.sentences({std::move(text), words("The whole state would then have fit.")});
    }
    const int64_t freed =
        state.total() > 0 ? state.made_bytes - state.made_bytes * bytes / state.total() : state.made_bytes;
    answer.fixes.push_back({{std::move(text), std::move(code), freed, {}}, fits});
}

void add_fixes(const OomCase& oom, const Words& words, const StateInMaking& state, OomAnswer& answer) {
    const int64_t in_8_bits = state.total() / part_of_8_bits;
    add_smaller_state(
        answer, oom, words, state,
        words("Use an optimizer with 8-bit state, which needs about a quarter: {bytes} instead of {total}.",
              with("bytes", format_bytes(in_8_bits)), with("total", format_bytes(state.total()))),
        "import bitsandbytes\noptimizer = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=1e-3)", in_8_bits);
    add_smaller_state(answer, oom, words, state,
                      words("Use an optimizer with almost no state, such as Adafactor or SGD without momentum."),
                      "optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-3)", 0);
    add_fix(answer, words("If the parameters are float32, bfloat16 halves parameters, gradients and state."),
            "model = model.to(torch.bfloat16)");
    add_fix(answer, words("With several GPUs the state can be sharded, as FSDP and ZeroRedundancyOptimizer do."),
            "optimizer = torch.distributed.optim.ZeroRedundancyOptimizer(\n"
            "    model.parameters(), optimizer_class=torch.optim.AdamW, lr=1e-3)");
}

/// PyTorch's foreach implementations compute the update of all parameters at once, in temporaries as large as they.
void add_foreach_temporaries(const OomCase& oom, const Words& words, OomAnswer& answer) {
    const std::vector<bool> is_foreach = stacks_with_frame(oom.stacks(), [&](const Frame& frame) {
        return is_torch_function(oom.stacks(), frame, "optim/") &&
               plain_name(oom.stacks().string(frame.function)).starts_with("_multi_tensor_");
    });
    if (!is_foreach[oom.oom().stack]) {
        return;
    }
    int64_t bytes = 0;
    for (const AllocationIndex a : oom.alive()) {
        bytes += is_foreach[oom.allocations().stack[a]] ? oom.bytes(a) : 0;
    }
    answer.text.push_back(
        words("step() computes the update of all parameters at once, in temporaries that are as large as they: {bytes} "
              "at the error.",
              with("bytes", format_bytes(bytes))));
    add_fix(answer, oom, words, words("Let the optimizer update in place, without these temporaries."),
            "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)", bytes);
}

}  // namespace

void oom_advice::optimizer_state(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    if (!oom.is_optimizer_step()) {
        return;
    }
    add_foreach_temporaries(oom, words, answer);
    if (const auto state = find_state(oom); state && !state->made.empty()) {
        describe(oom, words, *state, answer);
        add_fixes(oom, words, *state, answer);
    }
}

}  // namespace tidemark
