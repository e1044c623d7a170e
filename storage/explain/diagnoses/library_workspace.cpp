// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #19: cuBLAS and other NVIDIA libraries allocate workspaces, one per thread and stream.
#include <algorithm>
#include <array>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/driver_memory.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/workspaces.h"

namespace tidemark {
namespace {

/// Smaller workspaces are not worth a finding.
constexpr int64_t least_bytes = 1 << 20;

struct LibraryWorkspaces {
    Workspaces in_pytorch;
    std::vector<LibraryMemory> libraries;  ///< their memory outside PyTorch's allocator
    int64_t outside_pytorch = 0;

    int64_t bytes() const { return in_pytorch.bytes + outside_pytorch; }
    /// Every program has one stream; each additional stream costs the same again.
    bool is_repeated() const { return in_pytorch.streams > 1; }
};

bool is_math_library(const LibraryMemory& library) {
    constexpr std::array names{"cublas", "cudnn", "cusolver", "cusparse", "cufft"};
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return library.is_of(name); });
}

LibraryWorkspaces find_library_workspaces(const AnalysisContext& context) {
    LibraryWorkspaces found{find_workspaces(context), {}, 0};
    for (LibraryMemory& library : device_memory_by_library(context)) {
        if (is_math_library(library) && library.bytes > 0 && !library.grows()) {
            found.outside_pytorch += library.bytes;
            found.libraries.push_back(std::move(library));
        }
    }
    return found;
}

/// Returns the stack that allocated most workspaces.
StackId typical_stack(const AnalysisContext& context, const Workspaces& workspaces) {
    std::map<StackId, int64_t> bytes;
    for (const AllocationIndex a : workspaces.all) {
        bytes[context.device().allocations.stack[a]] +=
            static_cast<int64_t>(context.device().allocations.block_size[a]);
    }
    return std::max_element(bytes.begin(), bytes.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

void report(Finding& finding, const LibraryWorkspaces& found, const Words& words) {
    if (!found.in_pytorch.all.empty()) {
        finding.text.push_back(words(
            "PyTorch gives cuBLAS, the library for matrix products, a workspace for each thread and stream at its "
            "first product: {workspaces}, {bytes} in total.",
            with("workspaces",
                 words.plural(static_cast<int64_t>(found.in_pytorch.all.size()), "{n} workspace", "{n} workspaces")),
            with("bytes", format_bytes(found.in_pytorch.bytes))));
    }
    if (found.is_repeated()) {
        finding.text.push_back(words.plural(
            found.in_pytorch.streams, "All workspaces lie on {n} stream; a product on another stream adds one.",
            "The workspaces lie on {n} different streams; a product on another stream adds one."));
    }
    for (const LibraryMemory& library : found.libraries) {
        finding.text.push_back(
            words("{library} also allocated {bytes} from the driver at its first use, outside PyTorch's allocator.",
                  with("library", library.name), with("bytes", format_bytes(library.bytes))));
    }
    finding.text.push_back(
        found.is_repeated()
            ? words("Each workspace is allocated once, does not grow with the data, and stays until the process ends. "
                    "PyTorch has at most 32 streams of a kind, so the number is limited.")
            : words("This memory is allocated once, does not grow with the data, and stays until the process ends."));
}

void add_evidence(Finding& finding, const AnalysisContext& context, const LibraryWorkspaces& found,
                  const Words& words) {
    constexpr size_t shown = 4;
    for (size_t i = 0; i < std::min(shown, found.in_pytorch.all.size()); ++i) {
        const AllocationIndex a = found.in_pytorch.all[i];
        const std::string line = line_of(context.trace(), context.device().allocations.stack[a]);
        const std::string doing = doing_of(context.trace(), words, context.device().allocations.origin[a]);
        const auto bytes =
            with("bytes", format_bytes(static_cast<int64_t>(context.device().allocations.block_size[a])));
        const std::string text =
            !line.empty()    ? words("A workspace of {bytes}, allocated by {line}", bytes, with("line", line))
            : !doing.empty() ? words("A workspace of {bytes}, allocated by {line}", bytes, with("line", doing))
                             : words("A workspace of {bytes}", bytes);
        finding.evidence.push_back(at_allocation(context, text, a));
    }
    for (const LibraryMemory& library : found.libraries) {
        finding.evidence.push_back(
            at_component(context, words("Memory of {library}", with("library", library.name)), ComponentKind::library));
    }
}

void add_fixes(Finding& finding, const AnalysisContext& context, const LibraryWorkspaces& found, const Words& words) {
    const auto& all = found.in_pytorch.all;
    const auto large = std::count_if(all.begin(), all.end(), [&](AllocationIndex a) {
        return static_cast<int64_t>(context.device().allocations.requested[a]) == large_workspace;
    });
    if (found.is_repeated()) {
        finding.fixes.push_back({words("Multiply matrices on fewer streams."), "", {}, {}});
    }
    if (large > 0) {
        finding.fixes.push_back({words("If every MiB counts: give cuBLAS smaller workspaces before the first product; "
                                       "some products become slower."),
                                 "os.environ[\"CUBLAS_WORKSPACE_CONFIG\"] = \":4096:2:16:8\"",
                                 large * (large_workspace - small_workspace),
                                 {}});
    }
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const LibraryWorkspaces found = find_library_workspaces(context);
    if (found.bytes() < least_bytes) {
        return;
    }
    Finding finding = diagnoses::library_workspace.new_finding();
    finding.severity = found.is_repeated() ? Severity::pattern : Severity::background;
    finding.confidence = context.graph() || found.in_pytorch.all.empty() ? Confidence::certain : Confidence::likely;
    finding.basis =
        finding.confidence == Confidence::certain
            ? words("The allocation of each workspace was recorded.")
            : words("The workspaces were recognized by their stack or size, and because they were never freed.");
    finding.bytes = found.bytes();
    finding.memory = memory_of(context, found.in_pytorch.all, context.now());
    finding.count = static_cast<int64_t>(found.in_pytorch.all.size());
    finding.component =
        found.in_pytorch.bytes >= found.outside_pytorch ? ComponentKind::requested : ComponentKind::library;
    const auto bytes = with("bytes", format_bytes(finding.bytes));
    finding.title = found.is_repeated()
                        ? words.plural(found.in_pytorch.streams, "cuBLAS keeps {bytes} of workspaces on {n} stream",
                                       "cuBLAS keeps {bytes} of workspaces, one for each of {n} streams", bytes)
                        : words("cuBLAS and other libraries keep {bytes} of workspaces", bytes);
    if (!found.in_pytorch.all.empty()) {
        set_line(finding, context, typical_stack(context, found.in_pytorch));
    }
    report(finding, found, words);
    add_evidence(finding, context, found, words);
    add_fixes(finding, context, found, words);
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::library_workspace{FindingKind::library_workspace, Severity::background,
                                             DiagnosisPhase::observation, run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
