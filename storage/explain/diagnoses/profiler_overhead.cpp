// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #34: a profiler or recorder takes GPU memory while it runs.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/driver_memory.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// NVML counts in pages.
constexpr int64_t least_bytes = 1 << 20;

struct Stretch {
    int64_t from = 0, until = 0;
};

std::vector<Stretch> stretches_of(const Trace& trace) {
    std::vector<Stretch> found;
    for (const DataGap& data_gap : trace.data_gaps) {
        if (data_gap.reason == DataGapReason::cupti_paused) {
            found.push_back({data_gap.number("from_ns"), data_gap.number("until_ns")});
        }
    }
    return found;
}

/// Returns the unexplained memory at the last sample before `time`: the nearest one may be later.
std::optional<int64_t> unexplained_before(const AnalysisContext& context, int64_t time) {
    const std::vector<Sample>& samples = context.trace().samples;
    auto sample =
        std::lower_bound(samples.begin(), samples.end(), time, [](const Sample& s, int64_t t) { return s.time < t; });
    while (sample != samples.begin()) {
        --sample;
        if (sample->device == context.device().device && !sample->pid) {
            return unexplained_at(context, sample->time);
        }
    }
    return std::nullopt;
}

/// Returns the highest increase of unexplained memory during the stretches; nothing if NVML was not sampled then.
std::optional<int64_t> measured_during(const AnalysisContext& context, const std::vector<Stretch>& stretches) {
    std::optional<int64_t> most;
    for (const Sample& sample : context.trace().samples) {
        const auto around = std::find_if(stretches.begin(), stretches.end(), [&](const Stretch& stretch) {
            return stretch.from <= sample.time && sample.time < stretch.until;
        });
        if (sample.device != context.device().device || sample.pid || around == stretches.end()) {
            continue;
        }
        const auto before = unexplained_before(context, around->from), during = unexplained_at(context, sample.time);
        if (before && during) {
            most = std::max(most.value_or(0), *during - *before);
        }
    }
    return most;
}

bool is_profiler(const LibraryMemory& library) {
    constexpr std::array names{"cupti", "nvperf", "kineto", "nsys", "ToolsInjection"};
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return library.is_of(name); });
}

/// Returns the bytes that a profiler's library allocated outside PyTorch's allocator.
int64_t recorded_of_profilers(const AnalysisContext& context) {
    int64_t bytes = 0;
    for (const LibraryMemory& library : device_memory_by_library(context)) {
        bytes += is_profiler(library) ? library.bytes : 0;
    }
    return bytes;
}

void add_stretches(Finding& finding, const AnalysisContext& context, const std::vector<Stretch>& stretches,
                   const Words& words) {
    constexpr size_t shown = 3;
    for (size_t i = 0; i < std::min(shown, stretches.size()); ++i) {
        Evidence stretch = at_event(
            context,
            words("A profiler ran for {time}", with("time", format_duration(stretches[i].until - stretches[i].from))),
            context.device().events_until(stretches[i].from));
        stretch.time = stretches[i].from;
        stretch.until = stretches[i].until;
        finding.evidence.push_back(std::move(stretch));
    }
}

void report(Finding& finding, std::optional<int64_t> measured, const Words& words) {
    finding.text = {
        words("A profiler such as torch.profiler collects GPU activity in buffers, which may lie on the GPU. The "
              "buffers are freed when the profiler ends; a run without a profiler does not need them.")};
    if (measured && *measured >= least_bytes) {
        finding.text.push_back(
            words("While it ran, NVML showed up to {bytes} for the process that nothing else explains.",
                  with("bytes", format_bytes(*measured))));
    } else if (measured) {
        finding.text.push_back(words("While it ran, NVML showed no unexplained memory for the process."));
    }
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const std::vector<Stretch> stretches = stretches_of(context.trace());
    const int64_t recorded = recorded_of_profilers(context);
    if (stretches.empty() && recorded < least_bytes) {
        return;
    }
    const auto measured = measured_during(context, stretches);
    Finding finding = diagnoses::profiler_overhead.new_finding();
    finding.bytes = std::max(recorded, measured.value_or(0));
    finding.severity = finding.bytes >= least_bytes ? Severity::waste : Severity::background;
    finding.confidence = recorded > 0 ? Confidence::certain : Confidence::likely;
    finding.basis = recorded > 0 ? words("The profiler's own driver calls were recorded.")
                                 : words("The program's profiler used CUPTI, the driver's interface for tools.");
    finding.count = static_cast<int64_t>(stretches.size());
    finding.component = recorded > 0 ? ComponentKind::library : ComponentKind::unknown;
    finding.title = finding.bytes >= least_bytes
                        ? words("a profiler takes {bytes}", with("bytes", format_bytes(finding.bytes)))
                    : measured ? words("a profiler ran and took almost no GPU memory")
                               : words("a profiler ran and may have taken GPU memory");
    report(finding, measured, words);
    if (!measured && recorded == 0) {
        finding.unknowns.push_back(
            words("The profiler's memory was not measured: the recorder had paused CUPTI for the profiler, and NVML "
                  "was not sampled meanwhile."));
    }
    if (!stretches.empty()) {
        finding.since = stretches.front().from;
        add_stretches(finding, context, stretches, words);
    } else {
        finding.evidence.push_back(at_component(context, words("Memory of the profiler"), ComponentKind::library));
    }
    if (finding.bytes >= least_bytes) {
        finding.fixes = {{words("Profile only a few steps, and measure memory without the profiler."),
                          "torch.profiler.schedule(wait=5, warmup=1, active=3, repeat=1)",
                          {},
                          {}}};
    }
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::profiler_overhead{FindingKind::profiler_overhead, Severity::waste,
                                             DiagnosisPhase::observation, run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
