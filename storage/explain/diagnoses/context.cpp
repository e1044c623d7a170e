// S6, #20: the CUDA context and its kernels, which every process pays for before its first tensor.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/answered.h"
#include "storage/explain/diagnoses/all.h"
#include "storage/explain/telling.h"
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

Parts parts_of(const LedgerRow& row) {
    Parts parts;
    for (const Layer& layer : row.layers) {
        switch (layer.kind) {
            case LayerKind::context: parts.context += layer.bytes; break;
            case LayerKind::kernels: parts.kernels += layer.bytes; break;
            case LayerKind::other_processes:
            case LayerKind::unknown: continue;
            case LayerKind::library: break;
            default: parts.allocator += layer.bytes;
        }
        parts.requested += layer.kind == LayerKind::requested ? layer.bytes : 0;
        parts.rounding += layer.kind == LayerKind::rounding ? layer.bytes : 0;
        parts.process += layer.bytes;
    }
    return parts;
}

/// Nobody else had an answer, and the program's tensors are next to nothing: this is what the person wonders about.
bool is_the_answer(const Case& of, const Parts& parts, const Findings& others) {
    const int64_t tensors = of.curves().peak(Series::allocated).max - find_workspaces(of).bytes;
    return !is_answered(others) && tensors * 100 < parts.own() && parts.share() >= least_share;
}

bool was_measured(const Case& of) {
    const auto& all = of.trace().driver_allocations;
    return std::any_of(all.begin(), all.end(), [&](const DriverAllocation& a) {
        return a.kind == "context" && a.device == of.device().device;
    });
}

/// The way of a few bytes up to the smallest piece the driver gives.
std::string small_tensors(const Case& of, const Parts& parts, const Words& words) {
    const auto requested = with("requested", format_bytes(parts.requested));
    const auto blocks = with("blocks", format_bytes(parts.requested + parts.rounding));
    const auto reserved = with("reserved", format_bytes(of.curves().value(Series::reserved, of.now())));
    return words(
        "The program's tensors ask for {requested}; PyTorch hands memory out in blocks of 512 B and their multiples, "
        "here "
        "{blocks}, and takes it from the driver in segments of 2 MiB or more, here {reserved}.",
        requested, blocks, reserved);
}

void tell(Finding& finding, const Case& of, const Parts& parts, const Words& words) {
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
        finding.text.push_back(small_tensors(of, parts, words));
    }
}

void add_evidence(Finding& finding, const Case& of, const Parts& parts, const Words& words) {
    const auto link = [&](std::string text, LayerKind layer) {
        finding.evidence.push_back(at_layer(of, std::move(text), layer));
    };
    link(words("The context: {bytes}", with("bytes", format_bytes(parts.context))), LayerKind::context);
    if (parts.kernels > 0) {
        link(words("Loaded kernels: {bytes}", with("bytes", format_bytes(parts.kernels))), LayerKind::kernels);
    }
    link(words("What the program's tensors asked for: {bytes}", with("bytes", format_bytes(parts.requested))),
         LayerKind::requested);
}

}  // namespace

void diagnose_context(const Case& of, const Words& words, Findings& findings, Progress&) {
    const Parts parts = parts_of(of.row());
    if (parts.own() < least_context) {
        return;
    }
    Finding finding;
    finding.kind = FindingKind::context;
    finding.verdict = is_the_answer(of, parts, findings) ? Verdict::pattern : Verdict::background;
    finding.confidence = was_measured(of) ? Confidence::certain : Confidence::likely;
    finding.basis = was_measured(of)
                        ? words(
                              "NVML's figure for the process when the driver made the context, and each time it had "
                              "loaded kernels.")
                        : words(
                              "What NVML showed for the process beyond PyTorch's memory at first; libraries' own "
                              "memory may be part of it.");
    finding.bytes = parts.own();
    finding.layer = LayerKind::context;
    const auto bytes = with("bytes", format_bytes(parts.own()));
    finding.title = finding.verdict == Verdict::pattern
                        ? words("{share} of it is the CUDA context: {bytes}, whatever the program does",
                                with("share", Words::percent(parts.share())), bytes)
                        : words("the CUDA context and its kernels take {bytes}", bytes);
    tell(finding, of, parts, words);
    add_evidence(finding, of, parts, words);
    finding.fixes = {
        {words("Nothing needs mending. Only fewer processes cost fewer contexts: end those that are done, and hide the "
               "GPU from those that do not need it."),
         "CUDA_VISIBLE_DEVICES=\"\" python preprocess.py",
         {},
         {}}};
    findings.push_back(std::move(finding));
}

}  // namespace tidemark
