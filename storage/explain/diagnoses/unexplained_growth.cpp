// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory rises to the end, but no line allocates more with each iteration, and no other finding accounts for the rise.
#include <algorithm>
#include <map>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/late_memory.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 1 << 20;
constexpr int64_t least_fraction = 20;  ///< 1 / 20 of the allocated memory
constexpr size_t warm_up = 2;           ///< iterations
constexpr size_t most_lines = 3;

/// A line that has more memory at the end than after the warm-up.
struct RisingLine {
    StackId stack = 0;  ///< of the line; the one with most bytes
    int64_t bytes = 0;
};

std::set<StackId> accounted_stacks(const Findings& findings) {
    std::set<StackId> stacks;
    for (const Finding& finding : findings) {
        stacks.insert(finding.accounts_for.begin(), finding.accounts_for.end());
    }
    return stacks;
}

/// Returns the lines, most bytes first.
std::vector<RisingLine> rising_lines(const AnalysisContext& context, const Findings& earlier) {
    const SurvivingAllocations& surviving = context.surviving_allocations();
    const std::set<StackId> accounted = accounted_stacks(earlier);
    const size_t first = warm_up / surviving.iterations_per_slice();
    std::map<FrameId, RisingLine> by_line;
    for (const Site& site : surviving.sites()) {
        if (site.count == 0 || site.level.size() <= first || accounted.contains(site.stack) ||
            is_accounted_for(context, site)) {
            continue;
        }
        RisingLine& line = by_line[context.trace().stacks.site(site.stack)];
        line.stack = line.bytes == 0 ? site.stack : line.stack;
        line.bytes += site.level.back() - site.level[first];
    }
    std::vector<RisingLine> lines;
    for (const auto& [frame, line] : by_line) {
        if (line.bytes > 0) {
            lines.push_back(line);
        }
    }
    std::sort(lines.begin(), lines.end(), [](const RisingLine& a, const RisingLine& b) { return a.bytes > b.bytes; });
    return lines;
}

/// Returns "4.00 MiB from train.py:12 main" for the first lines.
std::string lines_in_words(const AnalysisContext& context, const std::vector<RisingLine>& lines, const Words& words) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < std::min(lines.size(), most_lines); ++i) {
        parts.push_back(words("{bytes} from {line}", with("bytes", format_bytes(lines[i].bytes)),
                              with("line", line_of(context.trace(), lines[i].stack))));
    }
    return words.list(parts);
}

Finding make_finding(const AnalysisContext& context, const std::vector<RisingLine>& lines, int64_t bytes,
                     const Words& words) {
    const auto iteration = with("iteration", iteration_words(context.iterations().source(), words));
    const auto amount = with("bytes", format_bytes(bytes));
    Finding finding = diagnoses::unexplained_growth.new_finding();
    finding.confidence = Confidence::possible;
    finding.basis = words("The allocator's events show the rise, not whether it would go on.");
    finding.bytes = bytes;
    finding.component = ComponentKind::requested;
    set_line(finding, context, lines.front().stack);
    finding.title = words("memory rises by {bytes} to the end, unevenly", amount);
    finding.text = {
        words("At the end, {bytes} more are allocated than after the warm-up, and no other finding accounts for them. "
              "No line allocates more with each {iteration}, so this may be a cache that fills, or a leak that grows "
              "now and then.",
              amount, iteration),
        words("The rise comes from these lines: {lines}.", with("lines", lines_in_words(context, lines, words)))};
    finding.fixes = {
        {words("Find what retains the results of these lines. If it is a cache, it needs a limit."), "", bytes, {}}};
    finding.unknowns = {words("A longer recording shows whether the rise ends.")};
    finding.evidence = {
        at_event(context, words("Accumulated by {time_point}", with("time_point", time_point_name(context, words))),
                 context.now())};
    return finding;
}

void run(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings, Progress&) {
    if (context.quiet_after_allocations()) {
        return;
    }
    const bool has_leak = std::any_of(earlier.begin(), earlier.end(),
                                      [](const Finding& finding) { return finding.severity == Severity::leak; });
    if (has_leak || context.out_of_memory() || context.iterations().empty() || !context.rises_to_the_end() ||
        context.has_bounded_growth()) {
        return;
    }
    const std::vector<RisingLine> lines = rising_lines(context, earlier);
    int64_t bytes = 0;
    for (const RisingLine& line : lines) {
        bytes += line.bytes;
    }
    const int64_t allocated = context.curves().value(Series::allocated, context.now());
    if (bytes >= least_bytes && bytes * least_fraction >= allocated) {
        findings.push_back(make_finding(context, lines, bytes, words));
    }
}

}  // namespace

const Diagnosis diagnoses::unexplained_growth{FindingKind::unexplained_growth, Severity::pattern,
                                              DiagnosisPhase::remainder, run, DiagnosisScope::any_program};

}  // namespace tidemark
