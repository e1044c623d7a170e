// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #18: cuDNN allocates a very large workspace for one convolution, mostly when it tries algorithms.
#include <algorithm>
#include <string_view>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// Every convolution has smaller workspaces, or workspaces that hardly raise the peak.
constexpr int64_t least_bytes = 64 << 20;
constexpr double least_share = 0.3;

bool uses_cudnn(std::string_view op) {
    return op.find("conv") != std::string_view::npos || op.find("Conv") != std::string_view::npos ||
           op.find("cudnn") != std::string_view::npos || op.find("rnn") != std::string_view::npos;
}

struct Bursts {
    AllocationIndex largest = no_allocation;
    int64_t bytes = 0;      ///< of the workspace
    int64_t tensors = 0;    ///< peak without such workspaces
    int64_t usual = 0;      ///< largest workspace in the last iteration
    int64_t count = 0;      ///< workspaces at least half as large
    EventNumber last = -1;  ///< the last of those
};

/// Returns whether this is a workspace: memory that is freed in the next event is no result, because nothing can read
/// it.
bool is_scratch(const Allocations& allocations, AllocationIndex a) {
    return allocations.alloc_event[a] >= 0 && allocations.free_event[a] == allocations.alloc_event[a] + 1 &&
           static_cast<int64_t>(allocations.block_size[a]) >= least_bytes;
}

/// Returns the peak of allocated memory without such workspaces.
int64_t peak_without(const DeviceHistory& device, const std::vector<bool>& is_cudnn) {
    const Allocations& allocations = device.allocations;
    int64_t sum = 0, peak = 0;
    for (AllocationIndex a = 0; a < allocations.size() && allocations.alloc_event[a] < 0; ++a) {
        sum += static_cast<int64_t>(allocations.block_size[a]);
    }
    for (const EventRef ref : device.event_ref) {
        const bool is_alloc = ref.action() == Action::alloc;
        if (!is_alloc && ref.action() != Action::free_requested) {
            continue;
        }
        const AllocationIndex a = ref.index();
        if (is_cudnn[allocations.origin[a]] && is_scratch(allocations, a)) {
            continue;
        }
        const auto bytes = static_cast<int64_t>(allocations.block_size[a]);
        sum += is_alloc ? bytes : -bytes;
        peak = std::max(peak, sum);
    }
    return peak;
}

Bursts find_bursts(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    std::vector<bool> is_cudnn(context.trace().origins.size());
    std::transform(context.trace().origins.begin(), context.trace().origins.end(), is_cudnn.begin(),
                   [](const Origin& origin) { return uses_cudnn(origin.op); });
    std::vector<AllocationIndex> scratch;
    Bursts bursts;
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        if (!is_cudnn[allocations.origin[a]] || !is_scratch(allocations, a)) {
            continue;
        }
        scratch.push_back(a);
        if (static_cast<int64_t>(allocations.block_size[a]) > bursts.bytes) {
            bursts.largest = a;
            bursts.bytes = static_cast<int64_t>(allocations.block_size[a]);
        }
    }
    if (scratch.empty()) {
        return bursts;
    }
    bursts.tensors = peak_without(context.device(), is_cudnn);
    const EventNumber last_iteration = context.iterations().empty() ? never : context.iterations().all().back().first;
    for (const AllocationIndex a : scratch) {
        const auto bytes = static_cast<int64_t>(allocations.block_size[a]);
        if (bytes * 2 >= bursts.bytes) {
            ++bursts.count;
            bursts.last = allocations.alloc_event[a];
        }
        bursts.usual = allocations.alloc_event[a] >= last_iteration ? std::max(bursts.usual, bytes) : bursts.usual;
    }
    return bursts;
}

/// Returns whether it happened only at the beginning, when cuDNN tried algorithms.
bool was_trial(const AnalysisContext& context, const Bursts& bursts) {
    return context.iterations().size() >= 4 &&
           context.iterations().at(bursts.last) < static_cast<int64_t>(context.iterations().size()) / 2;
}

void report(Finding& finding, const AnalysisContext& context, const Bursts& bursts, const Words& words) {
    const auto& origin = context.trace().origins[context.device().allocations.origin[bursts.largest]];
    finding.text = {
        words("{op} allocated a workspace of {bytes} and freed it before any other event: scratch memory of one cuDNN "
              "algorithm, not a result. Allocated memory reached {peak} with it; without it, {tensors} at most.",
              with("op", origin.op), with("bytes", format_bytes(bursts.bytes)),
              with("peak", format_bytes(context.peak().max)), with("tensors", format_bytes(bursts.tensors)))};
    if (was_trial(context, bursts)) {
        finding.text.push_back(
            words("This happened {times}, only at the beginning: with torch.backends.cudnn.benchmark, cuDNN tries "
                  "several algorithms for each new shape, including those that need much memory. Later workspaces took "
                  "{usual} at most.",
                  with("times", words.plural(bursts.count, "{n} time", "{n} times")),
                  with("usual", format_bytes(bursts.usual))));
    } else {
        finding.text.push_back(
            words("This happened {times} during the run; PyTorch caches the memory for the next time.",
                  with("times", words.plural(bursts.count, "{n} time", "{n} times"))));
    }
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const Bursts bursts = find_bursts(context);
    const int64_t peak = context.peak().max;
    if (bursts.largest == no_allocation ||
        static_cast<double>(peak - bursts.tensors) < least_share * static_cast<double>(peak)) {
        return;
    }
    Finding finding = diagnoses::workspace_burst.new_finding();
    // Trial workspaces are returned to the driver and are not allocated again.
    finding.severity = was_trial(context, bursts) ? Severity::pattern : Severity::waste;
    finding.confidence = Confidence::certain;
    finding.basis =
        words("The allocator's events show that the op allocated the memory and freed it in the next event.");
    finding.bytes = bursts.bytes;
    finding.count = bursts.count;
    finding.since = context.device().alloc_time(bursts.largest);
    set_line(finding, context, context.device().allocations.stack[bursts.largest]);
    finding.title = words("a convolution workspace of {bytes} existed for the time of one operation",
                          with("bytes", format_bytes(bursts.bytes)));
    report(finding, context, bursts, words);
    const EventNumber made = context.device().allocations.alloc_event[bursts.largest];
    finding.evidence = {at_allocation(context, words("The workspace exists"), bursts.largest),
                        at_event(context, words("The workspace is freed one event later"), made + 2)};
    const int64_t saved = bursts.bytes - bursts.usual;
    const auto fix = [&](std::string text, const char* code) {
        finding.fixes.push_back({std::move(text), code, saved > 0 ? std::optional(saved) : std::nullopt, {}});
    };
    if (was_trial(context, bursts)) {
        fix(words("Turn the trials of cuDNN off; it may then select slower algorithms."),
            "torch.backends.cudnn.benchmark = False");
    }
    fix(words("Limit cuDNN to algorithms with a smaller workspace; the number is in MiB."),
        "os.environ[\"CUDNN_CONV_WSCAP_DBG\"] = \"256\"  # before the first convolution");
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::workspace_burst{FindingKind::workspace_burst, Severity::waste, DiagnosisPhase::observation,
                                           run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
