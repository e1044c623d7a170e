// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory grows, and the recording does not show what retains it.
#include <algorithm>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/gpu_library.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

constexpr size_t most_lines = 3;

struct Line {
    StackId stack = 0;  ///< of one of its allocations
    int64_t bytes = 0;
};

/// Returns the lines of the suspect's memory, most bytes first.
std::vector<Line> lines_of(const AnalysisContext& context, const LeakSuspect& suspect) {
    const Allocations& allocations = context.device().allocations;
    std::map<FrameId, Line> by_line;
    for (const AllocationIndex a : suspect.allocations) {
        Line& line = by_line[context.trace().stacks.site(allocations.stack[a])];
        line.stack = allocations.stack[a];
        line.bytes += static_cast<int64_t>(allocations.block_size[a]);
    }
    std::vector<Line> lines;
    for (const auto& [frame, line] : by_line) {
        lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.bytes > b.bytes; });
    return lines;
}

std::string lines_in_words(const AnalysisContext& context, const std::vector<Line>& lines, const Words& words) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < std::min(lines.size(), most_lines); ++i) {
        parts.push_back(words("{bytes} from {line}", with("bytes", format_bytes(lines[i].bytes)),
                              with("line", line_of(context.trace(), lines[i].stack))));
    }
    return words("The lines with most of it: {lines}.", with("lines", words.list(parts)));
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    Finding finding = suspect_finding(context, suspect, words);
    const std::vector<Line> lines = lines_of(context, suspect);
    const bool has_other_lines = lines.size() > 1 && !finding.line.empty();
    const auto line =
        with("line", has_other_lines ? words("{line} and other lines", with("line", finding.line)) : finding.line);
    finding.title = finding.line.empty() ? words("memory grows; the stack of its allocations was not recorded")
                                         : words("memory from {line} grows", line);
    const auto total = with("total", format_bytes(suspect.bytes));
    finding.text = {suspect.rises ? words("Memory from {line} stays: {total} so far.", line, total)
                                  : words("Every {iteration} retains another {bytes} from {line}: {total} so far.",
                                          with("iteration", iteration_words(suspect.iterations->source(), words)),
                                          with("bytes", format_bytes(suspect.per_iteration)), line, total)};
    if (has_other_lines) {
        finding.text.push_back(lines_in_words(context, lines, words));
    }
    finding.fixes = {
        {has_other_lines ? words("Find what retains the results of these lines beyond their iteration: a list, a dict, "
                                 "an attribute, or a loss that is accumulated with its graph.")
                         : words("Find what retains the result of this line beyond its iteration: a list, a dict, an "
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
