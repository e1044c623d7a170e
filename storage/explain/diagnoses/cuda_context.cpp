// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S6, #20: the CUDA context and its kernels, which every process has before its first tensor.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/explained_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/workspaces.h"

namespace tidemark {
namespace {

/// NVML counts in pages; a context takes hundreds of MiB.
constexpr int64_t least_context = 16 << 20;
/// Part of the process's memory. Libraries that every program uses take most of the rest.
constexpr double least_share = 0.7;

/// Sums over components of the process.
struct Parts {
    int64_t context = 0, kernels = 0;
    int64_t allocator = 0;  ///< reserved bytes
    int64_t requested = 0, rounding = 0;
    int64_t program = 0;  ///< everything but other processes, as the summary counts it

    int64_t own() const { return context + kernels; }
    double share() const { return static_cast<double>(own()) / static_cast<double>(program); }
};

Parts parts_of(const BreakdownRow& row) {
    Parts parts;
    for (const Component& component : row.components) {
        switch (component.kind) {
            case ComponentKind::context: parts.context += component.bytes; break;
            case ComponentKind::kernels: parts.kernels += component.bytes; break;
            case ComponentKind::other_processes: continue;
            case ComponentKind::unknown:
            case ComponentKind::library: break;
            default: parts.allocator += component.bytes;
        }
        parts.requested += component.kind == ComponentKind::requested ? component.bytes : 0;
        parts.rounding += component.kind == ComponentKind::rounding ? component.bytes : 0;
        parts.program += component.bytes;
    }
    return parts;
}

/// Returns whether the context explains most of the memory: no other finding does, and the program's tensors are tiny.
bool is_main_explanation(const AnalysisContext& context, const Parts& parts, const Findings& others) {
    const int64_t tensors = context.peak().max - find_workspaces(context).bytes;
    return !is_memory_explained(others) && tensors * 100 < parts.own() && parts.share() >= least_share;
}

bool was_measured(const AnalysisContext& context) {
    const auto& all = context.trace().driver_allocations;
    return std::any_of(all.begin(), all.end(), [&](const DriverAllocation& a) {
        return a.kind == DriverMemoryKind::context && a.device == context.device().device;
    });
}

/// Explains how a few requested bytes become the smallest segment.
std::string small_tensors(const AnalysisContext& context, const Parts& parts, const Words& words) {
    const auto requested = with("requested", format_bytes(parts.requested));
    const auto blocks = with("blocks", format_bytes(parts.requested + parts.rounding));
    const auto reserved = with("reserved", format_bytes(context.curves().value(Series::reserved, context.now())));
    return words(
        "The program's tensors requested {requested}. PyTorch allocates blocks in multiples of 512 B, here {blocks}, "
        "and takes segments of 2 MiB or more from the driver, here {reserved}.",
        requested, blocks, reserved);
}

/// Names the parts that its share counts, because the summary lists context and kernels one by one.
std::string title_of(Severity severity, const Parts& parts, const Words& words) {
    const auto bytes = with("bytes", format_bytes(parts.own()));
    if (severity == Severity::background) {
        return words("the CUDA context and its kernels take {bytes}", bytes);
    }
    const auto share = with("share", Words::percent(parts.share()));
    return parts.kernels > 0
               ? words(
                     "the CUDA context and its kernels take {share} of the memory: {bytes}, whatever the program does",
                     share, bytes)
               : words("the CUDA context takes {share} of the memory: {bytes}, whatever the program does", share,
                       bytes);
}

void report(Finding& finding, const AnalysisContext& context, const Parts& parts, const Words& words) {
    finding.text.push_back(
        words("Each process that uses a GPU has a CUDA context on it: the driver's tables and the code of the kernels. "
              "The context takes {bytes} before the first tensor, and no memory setting of PyTorch makes it smaller.",
              with("bytes", format_bytes(parts.context))));
    if (parts.kernels > 0) {
        finding.text.push_back(
            words("The driver loads kernels at their first use; this added {bytes}. The memory stays, and stops "
                  "growing when every kernel was used once.",
                  with("bytes", format_bytes(parts.kernels))));
    }
    if (parts.requested * 50 < parts.own() && parts.requested > 0) {
        finding.text.push_back(small_tensors(context, parts, words));
    }
}

void add_evidence(Finding& finding, const AnalysisContext& context, const Parts& parts, const Words& words) {
    const auto link = [&](std::string text, ComponentKind component) {
        finding.evidence.push_back(at_component(context, std::move(text), component));
    };
    link(words("The CUDA context: {bytes}", with("bytes", format_bytes(parts.context))), ComponentKind::context);
    if (parts.kernels > 0) {
        link(words("Loaded kernels: {bytes}", with("bytes", format_bytes(parts.kernels))), ComponentKind::kernels);
    }
    link(words("Requested by the program's tensors: {bytes}", with("bytes", format_bytes(parts.requested))),
         ComponentKind::requested);
}

void run(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings, Progress&) {
    const Parts parts = parts_of(context.row());
    if (parts.own() < least_context) {
        return;
    }
    Finding finding = diagnoses::cuda_context.new_finding();
    finding.severity = is_main_explanation(context, parts, earlier) ? Severity::pattern : Severity::background;
    finding.confidence = was_measured(context) ? Confidence::certain : Confidence::likely;
    finding.basis =
        was_measured(context)
            ? words(
                  "NVML measured the process when the driver created the context and each time it had loaded kernels.")
            : words(
                  "NVML measured the process beyond PyTorch's memory at the start; the figure may include memory of "
                  "libraries.");
    finding.bytes = parts.own();
    finding.component = ComponentKind::context;
    finding.title = title_of(finding.severity, parts, words);
    report(finding, context, parts, words);
    add_evidence(finding, context, parts, words);
    finding.fixes = {{words("No fix is needed. Fewer processes have fewer contexts: end processes that are done, and "
                            "hide the GPU from those that do not need it."),
                      "CUDA_VISIBLE_DEVICES=\"\" python preprocess.py",
                      {},
                      {}}};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::cuda_context{FindingKind::cuda_context, Severity::background, DiagnosisPhase::remainder,
                                        run};

}  // namespace tidemark
