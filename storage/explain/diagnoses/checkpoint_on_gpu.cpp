// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #30: torch.load put the checkpoint's tensors on the GPU, in addition to those of the model.
#include <algorithm>
#include <unordered_map>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/suggested_change.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// A few small tensors saved along with the weights are not a second copy of a model.
constexpr int64_t least_bytes = 1 << 20;
/// At least this part of the remaining loaded memory must have an equally large tensor in the model.
constexpr double least_matched = 0.5;

/// Returns, by stack, whether torch.load is among its callers.
std::vector<bool> loading_stacks(const StackTable& stacks) {
    return stacks_with_frame(stacks, [&](const Frame& frame) {
        const std::string& function = stacks.string(frame.function);
        return is_torch_function(stacks, frame, "serialization.py") &&
               (function.find("load") != std::string::npos || function.find("restore") != std::string::npos);
    });
}

bool is_of_model(Category category) {
    return category == Category::parameter || category == Category::buffer || category == Category::optimizer_state;
}

struct Loaded {
    std::vector<AllocationIndex> all;  ///< allocated by torch.load, still alive, not part of the model
    int64_t bytes = 0, matched = 0;
};

Loaded find_loaded(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    const std::vector<bool> loading = loading_stacks(context.trace().stacks);
    Loaded loaded;
    if (std::find(loading.begin(), loading.end(), true) == loading.end()) {
        return loaded;
    }
    std::unordered_map<uint64_t, int64_t> model_tensors;  ///< number of the model's tensors, by requested bytes
    context.analysis().live().for_each_active(context.now(), [&](AllocationIndex a) {
        if (allocations.free_event[a] < context.now()) {
            return;
        }
        const Category category =
            context.graph() ? context.graph()->categories.at({context.device_position(), a}, context.now_time())
                            : Category::unknown;
        if (loading[allocations.stack[a]] && !is_of_model(category)) {
            loaded.all.push_back(a);
        } else if (context.graph() ? is_of_model(category) : !loading[allocations.stack[a]]) {
            ++model_tensors[allocations.requested[a]];
        }
    });
    std::sort(loaded.all.begin(), loaded.all.end());
    for (const AllocationIndex a : loaded.all) {
        const auto bytes = static_cast<int64_t>(allocations.block_size[a]);
        int64_t& left = model_tensors[allocations.requested[a]];
        loaded.matched += left > 0 ? bytes : 0;
        left -= left > 0;
        loaded.bytes += bytes;
    }
    return loaded;
}

AllocationIndex largest(const AnalysisContext& context, const Loaded& loaded) {
    const auto& size = context.device().allocations.block_size;
    return *std::max_element(loaded.all.begin(), loaded.all.end(),
                             [&](AllocationIndex a, AllocationIndex b) { return size[a] < size[b]; });
}

void set_referrer(Finding& finding, const AnalysisContext& context, AllocationIndex a, const Words& words) {
    if (!context.graph()) {
        finding.unknowns.push_back(words("The referrer of the loaded tensors was not recorded."));
        return;
    }
    if (const Retention retention = retention_of(*context.graph(), {context.device_position(), a});
        retention.referrer) {
        const ReferrerGroup* group = context.graph()->group_of(retention.referrer);
        finding.referrer = group ? referrer_words(context.graph()->tables(), words, *group)
                                 : referrer_words(context.graph()->tables(), words, *retention.referrer);
    }
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const Loaded loaded = find_loaded(context);
    if (loaded.bytes < least_bytes ||
        static_cast<double>(loaded.matched) < least_matched * static_cast<double>(loaded.bytes)) {
        return;
    }
    const AllocationIndex example = largest(context, loaded);
    Finding finding = diagnoses::checkpoint_on_gpu.new_finding();
    finding.confidence = context.graph() ? Confidence::certain : Confidence::likely;
    finding.basis = context.graph()
                        ? words(
                              "torch.load allocated the tensors; they do not belong to the model and exist beside "
                              "parameters of the same sizes.")
                        : words("torch.load allocated the tensors; they exist beside others of the same sizes.");
    finding.bytes = loaded.bytes;
    set_allocations(finding, context, loaded.all, context.now());
    finding.since = context.device().alloc_time(loaded.all.front());
    set_line(finding, context, context.device().allocations.stack[example]);
    set_referrer(finding, context, example, words);
    const auto bytes = with("bytes", format_bytes(loaded.bytes));
    const auto tensors = with("tensors", words.plural(finding.count, "{n} tensor", "{n} tensors"));
    finding.title = words("torch.load put a second copy of the weights on the GPU: {bytes}", bytes);
    finding.text = {words(
        "torch.load restores tensors on the device they were saved from, unless map_location says otherwise. The GPU "
        "holds {bytes} in {tensors} beside the model's own weights, into which load_state_dict() copied them.",
        tensors, bytes)};
    if (!finding.referrer.empty()) {
        finding.text.push_back(words("They are retained by {referrer}.", with("referrer", finding.referrer)));
    }
    finding.evidence = {
        at_allocation(context, words("The first loaded tensor"), loaded.all.front()),
        at_allocation(
            context,
            words("The largest loaded tensor: {bytes}",
                  with("bytes", format_bytes(static_cast<int64_t>(context.device().allocations.block_size[example])))),
            example),
        at_event(context,
                 words("The loaded tensors still exist at {time_point}",
                       with("time_point", time_point_name(context, words))),
                 context.now())};
    const std::string variable = assigned_variable(context.trace(), finding.stack);
    finding.fixes = {{words("Load the checkpoint into host memory; load_state_dict() copies what it needs to the GPU."),
                      "checkpoint = torch.load(path, map_location=\"cpu\")",
                      loaded.bytes,
                      {},
                      load_on_host_diff(context.trace(), finding.stack)},
                     {words("Delete the checkpoint after the model has loaded it."),
                      "del " + (variable.empty() ? "checkpoint" : variable),
                      loaded.bytes,
                      {}}};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::checkpoint_on_gpu{FindingKind::checkpoint_on_gpu, Severity::waste,
                                             DiagnosisPhase::observation, run};

}  // namespace tidemark
