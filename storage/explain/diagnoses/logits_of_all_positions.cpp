// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A language model computes logits for all positions of a prompt, but the program uses those of one position.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

using namespace std::string_view_literals;

constexpr int64_t least_bytes = 64 << 20;
constexpr int64_t least_fraction = 10;  ///< 1 / 10 of the peak of allocated memory
/// Logits that are this many times as large must be followed by work of the same size.
constexpr uint64_t least_ratio = 8;

bool is_model(const StackTable& stacks, const Frame& frame) {
    constexpr std::array functions{"ForCausalLM.forward"sv, "LMHeadModel.forward"sv};
    const std::string& name = stacks.string(frame.function);
    return std::any_of(functions.begin(), functions.end(), [&](std::string_view end) { return name.ends_with(end); });
}

/// Returns whether the model itself requested this memory, as its head does: other layers belong to the model below it.
bool is_of_head(const StackTable& stacks, StackId stack) {
    const auto is_layer = [&](const Frame& frame) { return is_torch_function(stacks, frame, "nn/modules/"); };
    while (stack != 0) {
        const FrameId id = stacks.stack(stack).frame;
        if (is_python(stacks.role(id)) && !is_layer(stacks.frame(id))) {
            return is_model(stacks, stacks.frame(id));
        }
        stack = stacks.stack(stack).caller;
    }
    return false;
}

/// Logits, and the largest memory that the program's own code requested before it called the model again.
struct Call {
    AllocationIndex logits = no_allocation;
    AllocationIndex use = no_allocation;
};

/// Returns the calls of language models with a later use of their logits, by time.
std::vector<Call> calls_of_models(const AnalysisContext& context) {
    const StackTable& stacks = context.trace().stacks;
    const Allocations& allocations = context.device().allocations;
    const std::vector<bool> in_model =
        stacks_with_frame(stacks, [&](const Frame& frame) { return is_model(stacks, frame); });
    std::vector<Call> calls;
    Call call;
    const auto is_larger = [&](AllocationIndex a, AllocationIndex b) {
        return b == no_allocation || allocations.requested[a] > allocations.requested[b];
    };
    for (AllocationIndex a = 0; a < allocations.size() && allocations.alloc_event[a] < context.now(); ++a) {
        const StackId stack = allocations.stack[a];
        if (in_model[stack]) {
            if (call.use != no_allocation) {
                calls.push_back(call);
                call = {};
            }
            if (is_of_head(stacks, stack)) {
                call.logits = is_larger(a, call.logits) ? a : call.logits;
            } else if (call.logits != no_allocation &&
                       allocations.requested[a] * least_ratio >= allocations.requested[call.logits]) {
                call.logits = no_allocation;  // the model itself computes a loss from all of them
            }
        } else if (call.logits != no_allocation && is_larger(a, call.use)) {
            call.use = a;
        }
    }
    if (call.use != no_allocation) {
        calls.push_back(call);
    }
    return calls;
}

/// The smallest and the largest logits that are followed by work of the same size.
struct Found {
    Call smallest, largest;
};

/// Returns the proof that only a part of the logits is used: much larger ones, of a longer prompt, do not change the
/// size of the work that follows.
std::optional<Found> find(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    const auto bytes = [&](const Call& call) { return allocations.requested[call.logits]; };
    std::map<std::pair<FrameId, uint64_t>, Found> groups;  // by line of the use and its bytes
    for (const Call& call : calls_of_models(context)) {
        const FrameId line = context.trace().stacks.site(allocations.stack[call.use]);
        Found& found = groups.try_emplace({line, allocations.requested[call.use]}, Found{call, call}).first->second;
        found.smallest = bytes(call) < bytes(found.smallest) ? call : found.smallest;
        found.largest = bytes(call) > bytes(found.largest) ? call : found.largest;
    }
    const auto largest = std::max_element(groups.begin(), groups.end(), [&](const auto& a, const auto& b) {
        return bytes(a.second.largest) < bytes(b.second.largest);
    });
    if (largest == groups.end()) {
        return std::nullopt;
    }
    const Found& found = largest->second;
    const int64_t peak = context.peak().max;
    const bool is_large = static_cast<int64_t>(bytes(found.largest)) >= std::max(least_bytes, peak / least_fraction);
    const bool is_proven = bytes(found.largest) >= least_ratio * bytes(found.smallest) &&
                           bytes(found.largest) >= least_ratio * allocations.requested[found.largest.use];
    return is_large && is_proven ? std::optional(found) : std::nullopt;
}

Finding make_finding(const AnalysisContext& context, const Found& found, const Words& words) {
    const Allocations& allocations = context.device().allocations;
    const auto bytes = [&](AllocationIndex a) { return static_cast<int64_t>(allocations.requested[a]); };
    Finding finding = diagnoses::logits_of_all_positions.new_finding();
    finding.confidence = Confidence::likely;
    finding.basis = words("The sizes of the logits and of what the program allocates after them were compared.");
    finding.bytes = bytes(found.largest.logits) - bytes(found.smallest.logits);
    finding.component = ComponentKind::requested;
    set_line(finding, context, allocations.stack[found.largest.logits]);
    const auto logits = with("logits", format_bytes(bytes(found.largest.logits)));
    finding.title = words("the model computes {logits} of logits, but only a part of them is used", logits);
    finding.text = {
        words("{line} computes the logits of all positions of the prompt: {logits}. The work that follows at {use} "
              "requests {used} at most, the same as after logits of {few}. So it uses one position only, or a fixed "
              "number of them.",
              with("line", finding.line), logits,
              with("use", line_of(context.trace(), allocations.stack[found.largest.use])),
              with("used", format_bytes(bytes(found.largest.use))),
              with("few", format_bytes(bytes(found.smallest.logits)))),
        words("Logits of one position have as many elements as the vocabulary, so a long prompt needs far more memory "
              "than its activations. A variable keeps all of them until it is assigned again.")};
    finding.evidence = {at_allocation(context, words("The logits of all positions"), found.largest.logits),
                        at_allocation(context, words("The largest request that uses them"), found.largest.use),
                        at_allocation(context, words("Smaller logits with the same use"), found.smallest.logits)};
    finding.fixes = {{words("Compute only the logits of the last position."),
                      "outputs = model(input_ids=ids, use_cache=True, logits_to_keep=1)", finding.bytes, std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (const auto found = find(context)) {
        findings.push_back(make_finding(context, *found, words));
    }
}

}  // namespace

const Diagnosis diagnoses::logits_of_all_positions{FindingKind::logits_of_all_positions, Severity::waste,
                                                   DiagnosisPhase::observation, run};

}  // namespace tidemark
