// S6, #20: the CUDA context and its kernels, which every process pays for before its first tensor.
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
/// Of what the process has; libraries that every program uses take most of the rest.
constexpr double least_share = 0.7;

/// Sums over layers of the process.
struct Parts {
    int64_t context = 0, kernels = 0;
    int64_t allocator = 0;  ///< reserved
    int64_t requested = 0, rounding = 0;
    int64_t process = 0;

    int64_t own() const { return context + kernels; }
    double share() const { return static_cast<double>(own()) / static_cast<double>(process); }
};

Parts parts_of(const BreakdownRow& row) {
    Parts parts;
    for (const Component& component : row.components) {
        switch (component.kind) {
            case ComponentKind::context: parts.context += component.bytes; break;
            case ComponentKind::kernels: parts.kernels += component.bytes; break;
            case ComponentKind::other_processes:
            case ComponentKind::unknown: continue;
            case ComponentKind::library: break;
            default: parts.allocator += component.bytes;
        }
        parts.requested += component.kind == ComponentKind::requested ? component.bytes : 0;
        parts.rounding += component.kind == ComponentKind::rounding ? component.bytes : 0;
        parts.process += component.bytes;
    }
    return parts;
}

/// Nobody else had an answer, and the program's tensors are next to nothing: this is what the person wonders about.
bool is_the_answer(const AnalysisContext& context, const Parts& parts, const Findings& others) {
    const int64_t tensors = context.curves().peak(Series::allocated).max - find_workspaces(context).bytes;
    return !is_memory_explained(others) && tensors * 100 < parts.own() && parts.share() >= least_share;
}

bool was_measured(const AnalysisContext& context) {
    const auto& all = context.trace().driver_allocations;
    return std::any_of(all.begin(), all.end(), [&](const DriverAllocation& a) {
        return a.kind == "context" && a.device == context.device().device;
    });
}

/// The way of a few bytes up to the smallest piece the driver gives.
std::string small_tensors(const AnalysisContext& context, const Parts& parts, const Words& words) {
    const auto requested = with("requested", format_bytes(parts.requested));
    const auto blocks = with("blocks", format_bytes(parts.requested + parts.rounding));
    const auto reserved = with("reserved", format_bytes(context.curves().value(Series::reserved, context.now())));
    return words(
        "The program's tensors ask for {requested}; PyTorch hands memory out in blocks of 512 B and their multiples, "
        "here "
        "{blocks}, and takes it from the driver in segments of 2 MiB or more, here {reserved}.",
        requested, blocks, reserved);
}

void report(Finding& finding, const AnalysisContext& context, const Parts& parts, const Words& words) {
    finding.text.push_back(words(
        "A process that uses the GPU has a CUDA context there: the driver's own tables and the code of the kernels. "
        "It takes {bytes} before the first tensor, and no setting of PyTorch's memory makes it smaller.",
        with("bytes", format_bytes(parts.context))));
    if (parts.kernels > 0) {
        finding.text.push_back(words(
            "Kernels are loaded when they are first used; that added {bytes}. It stays, and ends when every kernel "
            "was used once.",
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
    link(words("The context: {bytes}", with("bytes", format_bytes(parts.context))), ComponentKind::context);
    if (parts.kernels > 0) {
        link(words("Loaded kernels: {bytes}", with("bytes", format_bytes(parts.kernels))), ComponentKind::kernels);
    }
    link(words("What the program's tensors asked for: {bytes}", with("bytes", format_bytes(parts.requested))),
         ComponentKind::requested);
}

void run(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings, Progress&) {
    const Parts parts = parts_of(context.row());
    if (parts.own() < least_context) {
        return;
    }
    Finding finding = diagnoses::cuda_context.new_finding();
    finding.severity = is_the_answer(context, parts, earlier) ? Severity::pattern : Severity::background;
    finding.confidence = was_measured(context) ? Confidence::certain : Confidence::likely;
    finding.basis = was_measured(context)
                        ? words(
                              "NVML's figure for the process when the driver made the context, and each time it had "
                              "loaded kernels.")
                        : words(
                              "What NVML showed for the process beyond PyTorch's memory at first; libraries' own "
                              "memory may be part of it.");
    finding.bytes = parts.own();
    finding.component = ComponentKind::context;
    const auto bytes = with("bytes", format_bytes(parts.own()));
    finding.title = finding.severity == Severity::pattern
                        ? words("{share} of it is the CUDA context: {bytes}, whatever the program does",
                                with("share", Words::percent(parts.share())), bytes)
                        : words("the CUDA context and its kernels take {bytes}", bytes);
    report(finding, context, parts, words);
    add_evidence(finding, context, parts, words);
    finding.fixes = {
        {words("Nothing needs mending. Only fewer processes cost fewer contexts: end those that are done, and hide the "
               "GPU from those that do not need it."),
         "CUDA_VISIBLE_DEVICES=\"\" python preprocess.py",
         {},
         {}}};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::cuda_context{FindingKind::cuda_context, Severity::background, Phase::remainder, run};

}  // namespace tidemark
