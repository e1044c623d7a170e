// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory grows, and the recording does not show what retains it.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/gpu_library.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    Finding finding = suspect_finding(context, suspect, words);
    finding.title = finding.line.empty() ? words("memory grows; the stack of its allocations was not recorded")
                                         : words("memory from {line} grows", with("line", finding.line));
    finding.text = {words("Every {iteration} retains another {bytes} from {line}: {total} so far.",
                          with("iteration", iteration_words(suspect.iterations->source(), words)),
                          with("bytes", format_bytes(suspect.per_iteration)), with("line", finding.line),
                          with("total", format_bytes(suspect.bytes)))};
    finding.fixes = {{words("Find what retains the result of this line beyond its iteration: a list, a dict, an "
                            "attribute, or a loss that is accumulated with its graph."),
                      "", suspect.bytes, suspect.per_iteration}};
    const GpuLibrary library = gpu_library_of(context.trace(), finding.stack);
    if (library != GpuLibrary::pytorch && !context.has_pytorch()) {
        if (std::string note = pool_note(library, words); !note.empty()) {
            finding.text.push_back(std::move(note));
        }
        finding.fixes = fixes_of_driver_growth(library, suspect.bytes, suspect.per_iteration, words);
        const bool was_scanned = context.graph() && (library == GpuLibrary::cupy || library == GpuLibrary::numba);
        finding.unknowns = {was_scanned ? words("The heap scan found no referrer of these arrays.")
                                        : words("What refers to the memory was not recorded.")};
    } else if (!context.graph()) {
        finding.unknowns = {words("The referrers of these tensors were not recorded; `tidemark record` finds them.")};
    } else {
        finding.unknowns = {words("The heap scan found no referrer of these tensors: C++ code may refer to them.")};
    }
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::unexplained_growth{FindingKind::unexplained_growth, classify};

}  // namespace tidemark
