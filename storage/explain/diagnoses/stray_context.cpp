// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #21: a context on a device that the program hardly uses: a tensor or a call without a device went to another GPU.
#include <algorithm>
#include <optional>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/suggested_change.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// A device with larger tensors at the end is in use.
constexpr int64_t most_tensors = 1 << 20;
/// A device with more events than this part of the main device's is in use: 1 / 50.
constexpr EventNumber least_event_fraction = 50;
/// Every context takes at least this much.
constexpr int64_t least_context = 64 << 20;

const DeviceHistory* history_of(const Trace& trace, int device) { return trace.device(device); }

int64_t peak_of(const DeviceHistory* history) {
    int64_t allocated = 0, peak = 0;
    if (history) {
        for (const EventRef& ref : history->event_ref) {
            const auto bytes = ref.action() == Action::alloc || ref.action() == Action::free_requested
                                   ? static_cast<int64_t>(history->allocations.block_size[ref.index()])
                                   : 0;
            allocated += ref.action() == Action::alloc ? bytes : -bytes;
            peak = std::max(peak, allocated);
        }
    }
    return peak;
}

/// Returns the process's memory on the device without tensors: measured, or NVML's highest figure minus PyTorch's
/// memory.
int64_t context_of(const Trace& trace, int device) {
    int64_t measured = 0;
    for (const DriverAllocation& a : trace.driver_allocations) {
        measured += a.device == device && (a.kind == DriverMemoryKind::context || a.kind == DriverMemoryKind::kernels)
                        ? static_cast<int64_t>(a.bytes)
                        : 0;
    }
    if (measured > 0) {
        return measured;
    }
    const std::optional<int64_t> own =
        trace.nvml_pid ? trace.nvml_pid
                       : (trace.processes.empty() ? std::nullopt : std::optional(trace.processes.front().pid));
    int64_t highest = 0;
    for (const Sample& sample : trace.samples) {
        if (own && sample.device == device && sample.pid == own) {
            highest = std::max(highest, sample.used_bytes);
        }
    }
    return highest;
}

std::vector<int> devices_of(const Trace& trace) {
    std::vector<int> devices;
    devices.reserve(trace.driver_allocations.size() + trace.samples.size());
    for (const DriverAllocation& a : trace.driver_allocations) {
        devices.push_back(a.device);
    }
    for (const Sample& sample : trace.samples) {
        devices.push_back(sample.device);
    }
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    return devices;
}

/// Returns the bytes that are allocated when the recording ends.
int64_t left_of(const DeviceHistory* history) {
    int64_t bytes = 0;
    for (AllocationIndex a = 0; history && a < history->allocations.size(); ++a) {
        const bool is_left = history->allocations.free_event[a] == never;
        bytes += is_left ? static_cast<int64_t>(history->allocations.block_size[a]) : 0;
    }
    return bytes;
}

struct Stray {
    int device = 0;
    int64_t context = 0, tensors = 0;  ///< tensors: the most at one time
    const DeviceHistory* history = nullptr;
};

std::optional<Stray> stray_on(const Trace& trace, int device) {
    Stray stray{device, context_of(trace, device), 0, history_of(trace, device)};
    if (device < 0 || device == trace.main_device().device || stray.context < least_context) {
        return std::nullopt;
    }
    stray.tensors = peak_of(stray.history);
    const EventNumber events = stray.history ? stray.history->event_count() : 0;
    const bool is_small = stray.tensors <= most_tensors && stray.tensors * 4 <= peak_of(&trace.main_device());
    const bool was_brief =
        left_of(stray.history) <= most_tensors && events <= trace.main_device().event_count() / least_event_fraction;
    return is_small || was_brief ? std::optional(stray) : std::nullopt;
}

void add_evidence(Finding& finding, const AnalysisContext& context, const Stray& stray, const Words& words) {
    if (!stray.history || stray.history->allocations.size() == 0) {
        return;
    }
    const StackId stack = stray.history->allocations.stack[0];
    set_line(finding, context, stack);
    Evidence first;
    first.text = words("The first tensor on GPU {device}: {bytes} from {line}", with("device", stray.device),
                       with("bytes", format_bytes(static_cast<int64_t>(stray.history->allocations.requested[0]))),
                       with("line", finding.line));
    first.time = stray.history->alloc_time(0);
    first.stack = stack;
    first.allocation = {static_cast<uint32_t>(stray.history - context.trace().devices.data()), 0};
    finding.evidence.push_back(std::move(first));
}

/// Returns whether torch.load made the first tensor on the device.
bool was_loaded(const AnalysisContext& context, const Stray& stray) {
    if (!stray.history || stray.history->allocations.size() == 0) {
        return false;
    }
    return has_torch_function(context.trace().stacks, stray.history->allocations.stack[0], "serialization.py");
}

std::vector<Fix> fixes_of(const AnalysisContext& context, const Stray& stray, const Words& words) {
    const bool is_load = was_loaded(context, stray);
    const Fix load{words("Load checkpoints and create helper tensors on the GPU in use, or on the CPU."),
                   "torch.load(path, map_location=\"cpu\")",
                   stray.context,
                   {},
                   is_load ? load_on_host_diff(context.trace(), stray.history->allocations.stack[0]) : std::string()};
    const Fix set_device{words("Set the GPU of the process before anything else uses CUDA."),
                         "torch.cuda.set_device(local_rank)",
                         stray.context,
                         {}};
    const Fix visible{words("Make only the GPU that it works on visible to the process."),
                      fmt::format("CUDA_VISIBLE_DEVICES={} python train.py", context.trace().main_device().device),
                      stray.context,
                      {}};
    return is_load ? std::vector{load, set_device, visible} : std::vector{set_device, visible, load};
}

Finding make_finding(const AnalysisContext& context, const Stray& stray, const Words& words) {
    Finding finding = diagnoses::stray_context.new_finding();
    finding.confidence = Confidence::likely;
    finding.basis = words(
        "The process has a context on this GPU and hardly any tensor; that the program does not need it is inferred.");
    finding.bytes = stray.context;
    finding.count = 1;
    if (stray.device == context.device().device) {
        finding.component = ComponentKind::context;
    }
    const auto device = with("device", stray.device);
    const auto bytes = with("bytes", format_bytes(stray.context));
    finding.title = words("GPU {device} is hardly used, but a CUDA context takes {bytes} on it", device, bytes);
    finding.text = {
        words("The program works on GPU {main}, but it also touched GPU {device}, where its tensors never exceeded "
              "{tensors}. The first touch creates a CUDA context, which takes {bytes} until the process ends.",
              with("main", context.trace().main_device().device), device, with("tensors", format_bytes(stray.tensors)),
              bytes)};
    add_evidence(finding, context, stray, words);
    finding.evidence.push_back(
        stray.device == context.device().device
            ? at_component(context, words("The CUDA context"), ComponentKind::context)
            : at_component(context, words("What the program uses on its own GPU"), ComponentKind::requested));
    finding.fixes = fixes_of(context, stray, words);
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const bool is_main = &context.device() == &context.trace().main_device();
    for (const int device : devices_of(context.trace())) {
        // Both devices report it: the one that does the work, and the one with the stray context.
        if (!is_main && device != context.device().device) {
            continue;
        }
        if (const auto stray = stray_on(context.trace(), device)) {
            findings.push_back(make_finding(context, *stray, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::stray_context{FindingKind::stray_context, Severity::waste, DiagnosisPhase::observation, run};

}  // namespace tidemark
