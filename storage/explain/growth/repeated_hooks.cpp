// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/growth/repeated_hooks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/retention.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

constexpr size_t fewest_levels = 5;

/// A function that a module's call runs beside forward(): the stack of the call, and the function's name and file.
using Hook = std::tuple<StackId, StringId, StringId>;

/// The allocations of a hook.
struct HookRuns {
    std::vector<int64_t> counts;  ///< of each call of the module
    std::vector<AllocationIndex> made;
};

/// Returns the hook whose function allocated, directly or through PyTorch; nothing if there is none.
std::optional<Hook> hook_of(const StackTable& stacks, StackId stack) {
    constexpr std::string_view module = "nn/modules/module.py";
    const FrameId own = calling_frame(stacks, stack);
    while (stack != 0 && stacks.stack(stack).frame != own) {
        stack = stacks.stack(stack).caller;
    }
    const StackId caller = stack == 0 ? 0 : stacks.stack(stack).caller;
    if (own == 0 || caller == 0) {
        return std::nullopt;
    }
    const Frame &function = stacks.frame(own), &call = stacks.frame(stacks.stack(caller).frame);
    const bool is_call =
        is_torch_function(stacks, call, module, "_call_impl") || is_torch_function(stacks, call, module, "inner");
    return is_call && plain_name(stacks.string(function.function)) != "forward"
               ? std::optional(Hook{caller, function.function, function.file})
               : std::nullopt;
}

std::map<Hook, HookRuns> runs_of_hooks(const AnalysisContext& context) {
    const StackTable& stacks = context.trace().stacks;
    // Only of stacks that allocate: all callers of a very deep one would take minutes.
    std::unordered_map<StackId, std::optional<Hook>> hooks;
    const Allocations& allocations = context.device().allocations;
    std::map<Hook, HookRuns> runs;
    std::map<int64_t, std::optional<Hook>> last_of_thread;
    for (AllocationIndex a = 0; a < allocations.size() && allocations.alloc_event[a] < context.now(); ++a) {
        const auto [known, is_new] = hooks.try_emplace(allocations.stack[a]);
        if (is_new) {
            known->second = hook_of(stacks, known->first);
        }
        const std::optional<Hook>& hook = known->second;
        std::optional<Hook>& last = last_of_thread[context.trace().origins[allocations.origin[a]].thread];
        if (hook) {
            HookRuns& own = runs[*hook];
            if (last != hook) {
                own.counts.push_back(0);
            }
            ++own.counts.back();
            own.made.push_back(a);
        }
        last = hook;
    }
    return runs;
}

/// Returns the allocations of one hook, if the counts of the calls rise in levels: by as much each time, or by
/// multiples of the first one. Otherwise 0. The last call may have been cut short.
int64_t allocations_of_one(std::vector<int64_t> counts) {
    counts.pop_back();
    std::vector<int64_t> rises;
    for (size_t i = 1; i < counts.size(); ++i) {
        if (counts[i] != counts[i - 1]) {
            rises.push_back(counts[i] - counts[i - 1]);
        }
    }
    if (rises.size() + 1 < fewest_levels || *std::min_element(rises.begin(), rises.end()) < 0) {
        return 0;
    }
    const int64_t first = counts.front(), rise = rises.front();
    if (first % rise == 0 && std::all_of(rises.begin(), rises.end(), [&](int64_t each) { return each == rise; })) {
        return rise;
    }
    return std::all_of(rises.begin(), rises.end(), [&](int64_t each) { return each % first == 0; }) ? first : 0;
}

/// Returns the highest bytes of these allocations that existed at once.
int64_t most_at_once(const AnalysisContext& context, const std::vector<AllocationIndex>& made) {
    const Allocations& allocations = context.device().allocations;
    std::map<EventNumber, int64_t> changes;
    for (const AllocationIndex a : made) {
        changes[allocations.alloc_event[a]] += static_cast<int64_t>(allocations.block_size[a]);
        changes[allocations.free_event[a]] -= static_cast<int64_t>(allocations.block_size[a]);
    }
    int64_t bytes = 0, most = 0;
    for (const auto& [event, change] : changes) {
        bytes += change;
        most = std::max(most, bytes);
    }
    return most;
}

/// Returns what refers to the hook's memory: the hooks themselves, as far as a scan found that. A variable for what the
/// newest one stored is another referrer of a part. nullptr: no scan found any.
const Referrer* referrer_of(const AnalysisContext& context, const HookRuns& hook) {
    const GraphContext& graph = *context.graph();
    const Referrer* newest = nullptr;
    for (const Referrer& referrer : graph.tables().referrers) {
        const bool is_by_hook = std::any_of(referrer.links.begin(), referrer.links.end(),
                                            [](const PathLink& link) { return link.kind == PathLinkKind::hook; });
        if (is_by_hook && has_name(referrer) && referrer.allocation.device == context.device_position() &&
            std::binary_search(hook.made.begin(), hook.made.end(), referrer.allocation.index) &&
            graph.tables().scans[referrer.scan].time <= context.now_time()) {
            newest = &referrer;
        }
    }
    const StackId stack = context.device().allocations.stack[hook.made.back()];
    return newest ? newest : outermost_referrer(graph, context.device_position(), stack, context.now_time());
}

/// `one`: the allocations of one hook.
Finding make_finding(const AnalysisContext& context, const HookRuns& hook, int64_t one, const Words& words) {
    const Allocations& allocations = context.device().allocations;
    const AllocationIndex newest = hook.made.back();
    Finding finding;
    finding.kind = FindingKind::hook_retains_activations;
    finding.severity = Severity::leak;
    finding.confidence = Confidence::likely;
    finding.basis = words("The hook's allocations in each call of the module were counted.");
    finding.bytes = most_at_once(context, hook.made);
    finding.count = hook.counts[hook.counts.size() - 2] / one;
    finding.component = ComponentKind::requested;
    set_line(finding, context, allocations.stack[newest]);
    if (context.graph()) {
        const Referrer* referrer = referrer_of(context, hook);
        finding.referrer = referrer ? referrer_words(context.graph()->tables(), words, *referrer) : std::string();
    }
    const std::string& name = context.trace().origins[allocations.origin[newest]].module;
    const auto module = with("module", name.empty() ? words("a module") : words("module `{name}`", with("name", name)));
    const auto line = with("line", finding.line);
    const auto times = with("times", words.plural(finding.count, "{n} time", "{n} times"));
    finding.title = words("one call of {module} runs the hook {line} {times}", module, line, times);
    const auto first = with("first", words.plural(hook.counts.front() / one, "{n} time", "{n} times"));
    finding.text = {
        words("A call of {module} ran the hook {line} {first} at first, and now runs it {times}: it is "
              "registered again and again, and never removed. Every run allocates, so the peak rises even if "
              "the memory is freed in between: at most {bytes} of it existed at once.",
              module, line, first, times, with("bytes", format_bytes(finding.bytes)))};
    finding.evidence = {at_allocation(context, words("The first run of the hook"), hook.made.front()),
                        at_allocation(context, words("The last run of the hook"), newest)};
    finding.fixes = {{words("Remove the hook before it is registered again, or register it only once."),
                      "handle = module.register_forward_hook(hook)\n...\nhandle.remove()", finding.bytes,
                      std::nullopt}};
    return finding;
}

}  // namespace

std::vector<Finding> repeated_hooks(const AnalysisContext& context, const Words& words) {
    std::vector<Finding> findings;
    for (const auto& [hook, runs] : runs_of_hooks(context)) {
        if (const int64_t one = allocations_of_one(runs.counts); one > 0) {
            findings.push_back(make_finding(context, runs, one, words));
        }
    }
    return findings;
}

}  // namespace tidemark
