// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #15: enough memory was free, but split into free gaps that are too small: the allocator took more from the driver, or
// an out-of-memory error followed.
#include <algorithm>
#include <iterator>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/experiments.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/free_gap_finder.h"
#include "storage/explain/gap_neighbors.h"
#include "storage/explain/oom/oom_analysis.h"
#include "storage/explain/pinned_gaps.h"
#include "storage/explain/reserved_growth.h"
#include "storage/explain/retention.h"
#include "storage/explain/stream_caches.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr size_t most_named = 3;  ///< blocks that are named one by one

std::string block_words(const AnalysisContext& context, const Words& words, AllocationIndex a) {
    const Allocations& allocations = context.device().allocations;
    const auto bytes = with("bytes", format_bytes(static_cast<int64_t>(allocations.block_size[a])));
    const auto line = with("line", line_of(context.trace(), allocations.stack[a]));
    const Referrer* referrer =
        context.graph() ? context.graph()->referrers.in_python(AllocationRef{context.device_position(), a}) : nullptr;
    return referrer ? words("{bytes} from {line}, retained by {referrer}", bytes, line,
                            with("referrer", referrer_words(context.graph()->tables(), words, *referrer)))
                    : words("{bytes} from {line}", bytes, line);
}

void name_block(Finding& finding, const AnalysisContext& context, const Words& words, AllocationIndex a,
                std::vector<std::string>& named) {
    if (named.size() < most_named && a != no_allocation) {
        named.push_back(block_words(context, words, a));
        finding.evidence.push_back(
            at_allocation(context, words("Blocks the gap: {block}", with("block", named.back())), a));
    }
}

/// Names the blocks that keep the emptiest segments from being returned. Used if no segment is as large as the request.
void name_blocks_of_segments(Finding& finding, const AnalysisContext& context, const OomAnalysis& oom_analysis,
                             const Words& words) {
    std::vector<const SegmentState*> segments;
    for (const SegmentState& segment : oom_analysis.state.segments) {
        if (!segment.cached() && segment.free() > segment.size / 2) {
            segments.push_back(&segment);
        }
    }
    std::sort(segments.begin(), segments.end(), [](const auto* a, const auto* b) { return a->free() > b->free(); });
    int64_t in_use = 0;
    std::vector<std::string> named;
    for (const SegmentState* segment : segments) {
        in_use += static_cast<int64_t>(segment->allocated + segment->pending);
        for (const Block& block : segment->blocks) {
            name_block(finding, context, words, block.allocation, named);
        }
    }
    if (!named.empty()) {
        finding.text.push_back(
            words("Blocks of {bytes} in total occupy otherwise mostly free memory ({segments}), which can neither be "
                  "used as a whole nor returned to the driver. Blocks in the largest: {named}.",
                  with("segments", words.plural(static_cast<int64_t>(segments.size()), "{n} segment", "{n} segments")),
                  with("bytes", format_bytes(in_use)), with("named", words.list(named))));
    }
}

/// Names the blocks that keep a free gap from being large enough.
void name_blocking_blocks(Finding& finding, const AnalysisContext& context, const OomAnalysis& oom_analysis,
                          const Words& words) {
    const GapCandidate window = cheapest_gap(oom_analysis.state, oom_analysis.oom.size);
    if (window.size == 0 || window.blocks.empty()) {
        name_blocks_of_segments(finding, context, oom_analysis, words);
        return;
    }
    std::vector<std::string> named;
    for (const AllocationIndex a : window.blocks) {
        name_block(finding, context, words, a, named);
    }
    const auto count = static_cast<int64_t>(window.blocks.size());
    finding.text.push_back(words("A large enough free gap would need these {bytes} to be free ({blocks}): {named}.",
                                 with("blocks", words.plural(count, "{n} block", "{n} blocks")),
                                 with("bytes", format_bytes(window.in_use)), with("named", words.list(named))));
}

/// Returns the allocator settings that let the request fit: they avoid the fragmentation.
std::vector<Fix> settings_that_fit(const Findings& earlier) {
    std::vector<Fix> settings;
    if (const Finding* failure = find_finding(earlier, FindingKind::out_of_memory)) {
        std::copy_if(failure->fixes.begin(), failure->fixes.end(), std::back_inserter(settings), is_allocator_setting);
    }
    return settings;
}

constexpr double nearly_full = 0.9;  ///< reserved memory, relative to the device

Fix order_fix(const Words& words) {
    return {words("Allocate long-lived tensors before the large temporaries."), "", {}, {}};
}

/// Returns whether others, and libraries of this program, lack the memory that the allocator keeps.
bool fills_device(const AnalysisContext& context, int64_t reserved) {
    const int64_t total = context.device().total_bytes;
    return total > 0 && static_cast<double>(reserved) > nearly_full * static_cast<double>(total);
}

/// Free memory in whole segments is not lost: the allocator returns it to the driver before it fails, and larger or
/// smaller requests of later work may fit.
Finding make_finding(const AnalysisContext& context, const ReservedGrowth& growth, const Words& words,
                     Progress& progress) {
    const Allocations& allocations = context.device().allocations;
    Finding finding = diagnoses::fragmentation.new_finding();
    finding.severity = fills_device(context, growth.reserved) ? Severity::waste : Severity::pattern;
    finding.basis = words("Each request to the driver, and the free memory at that time, was recorded.");
    finding.bytes = growth.reserved - growth.allocated;
    finding.count = growth.segments;
    finding.component = ComponentKind::free_in_segments;
    set_line(finding, context, allocations.stack[growth.request]);
    const auto reserved = with("reserved", format_bytes(growth.reserved));
    const auto allocated = with("allocated", format_bytes(growth.allocated));
    finding.title =
        words("fragmentation: {reserved} were reserved, but at most {allocated} allocated", reserved, allocated);
    finding.text = {
        words("{segments} of {bytes} in total came from the driver although at least as much memory was free as was "
              "requested: it was in gaps that are too small, or belonged to another stream. The last time, {line} "
              "requested {request} while {free} were free.",
              with("segments", words.plural(growth.segments, "{n} segment", "{n} segments")),
              with("bytes", format_bytes(growth.bytes)), with("line", finding.line),
              with("request", format_bytes(static_cast<int64_t>(allocations.block_size[growth.request]))),
              with("free", format_bytes(growth.free))),
        words("Such gaps remain when sizes change from {iteration} to {iteration}, or when small tensors that stay are "
              "allocated between large ones that do not.",
              with("iteration", iteration_words(context.iterations().source(), words)))};
    if (finding.severity == Severity::pattern) {
        finding.text.push_back(
            words("Most of the free memory can be used again: PyTorch returns segments without tensors to the driver "
                  "when a request would fail otherwise, and torch.cuda.empty_cache() returns them at once. Until then, "
                  "other programs cannot use them."));
    }
    finding.evidence = {at_event(context, words("The state before the last such segment"), growth.last),
                        at_allocation(context, words("The request that caused it"), growth.request)};
    add_expandable_fix(finding, context, words, progress);
    finding.fixes.push_back(order_fix(words));
    finding.fixes.push_back(
        {words("Pad inputs to a few fixed sizes, so that freed blocks fit the next request."), "", {}, {}});
    return finding;
}

/// Returns the groups, most bytes of gaps first.
std::vector<GapNeighbors> pins_of(const AnalysisContext& context, const PinnedGaps& gaps) {
    const GraphContext* graph = context.graph();
    std::vector<GapNeighbors> groups;
    for (const PinnedSegment& segment : gaps.segments) {
        GapNeighbors& group = add_gap(groups, context, segment.largest, segment.free);
        if (graph && !group.referrer) {
            group.referrer = retention_of(*graph, {context.device_position(), segment.largest}).referrer;
        }
    }
    sort_by_free(groups);
    return groups;
}

void report_pinned_gaps(Finding& finding, const AnalysisContext& context, const PinnedGaps& gaps,
                        const std::vector<GapNeighbors>& pins, const Words& words) {
    const auto free = with("free", format_bytes(gaps.free));
    std::vector<std::string> named;
    for (size_t p = 0; p < std::min(pins.size(), most_named); ++p) {
        const auto referrer = with("referrer", neighbor_words(context, words, pins[p]));
        named.push_back(
            words("{bytes} beside tensors of {referrer}", with("bytes", format_bytes(pins[p].free)), referrer));
        finding.evidence.push_back(
            at_allocation(context, words("A tensor that keeps a gap: {referrer}", referrer), pins[p].example));
    }
    finding.title = words("fragmentation: {free} lie in gaps between tensors that stay", free);
    finding.text = {
        words("{segments} contain tensors that stay ({in_use}) and {free} of free memory in gaps between them. Nothing "
              "was allocated in these gaps any more, while PyTorch took other memory from the driver: later requests "
              "are too large for them.",
              with("segments", words.plural(static_cast<int64_t>(gaps.segments.size()), "{n} segment", "{n} segments")),
              with("in_use", format_bytes(gaps.in_use)), free),
        words("torch.cuda.empty_cache() cannot return these gaps to the driver, because a segment with a tensor stays "
              "as a whole. Most gaps: {named}.",
              with("named", words.list(named)))};
}

/// Adds the fixes, those that save most first.
void add_pinned_fixes(Finding& finding, const AnalysisContext& context, const PinnedGaps& gaps, const Words& words,
                      Progress& progress) {
    add_expandable_fix(finding, context, words, progress);
    if (2 * gaps.of_same_line > gaps.free) {
        finding.fixes.push_back(
            {words("Make only the tensors that stay: the gaps had other tensors of the same line, which the program "
                   "dropped later."),
             "",
             gaps.of_same_line,
             {}});
    }
    finding.fixes.push_back(
        {words("Allocate one tensor for everything that stays before the large temporaries, and copy into it."),
         "",
         gaps.free,
         {}});
    std::stable_sort(finding.fixes.begin(), finding.fixes.end(), [&](const Fix& a, const Fix& b) {
        // A setting is simpler than a change of the program: what avoids most of the gaps is enough.
        const auto avoids_most = [&](const Fix& fix) { return 2 * fix.bytes.value_or(0) > gaps.free; };
        return avoids_most(a) > avoids_most(b);
    });
    finding.fixes.push_back(
        {words(
             "Process the largest inputs first, or move what stays to the CPU: then freed blocks fit later requests."),
         "",
         {},
         {}});
}

Finding make_finding(const AnalysisContext& context, const PinnedGaps& gaps, const Words& words, Progress& progress) {
    Finding finding = diagnoses::fragmentation.new_finding();
    finding.basis = words("The allocator's events were replayed: every block and every free gap is known.");
    finding.bytes = gaps.free;
    finding.count = static_cast<int64_t>(gaps.segments.size());
    finding.component = ComponentKind::free_in_segments;
    const std::vector<GapNeighbors> pins = pins_of(context, gaps);
    const StackId stack = context.device().allocations.stack[pins.front().example];
    set_line(finding, context, stack);
    finding.referrer = pins.front().referrer ? neighbor_words(context, words, pins.front()) : std::string();
    finding.evidence = {at_event(context,
                                 words("The gaps at {time_point}", with("time_point", time_point_name(context, words))),
                                 context.now())};
    report_pinned_gaps(finding, context, gaps, pins, words);
    add_pinned_fixes(finding, context, gaps, words, progress);
    return finding;
}

Finding make_finding(const AnalysisContext& context, const StreamCaches& caches, const Words& words) {
    Finding finding = diagnoses::fragmentation.new_finding();
    finding.basis = words("The stream of each segment, and what was allocated in it, was recorded.");
    finding.bytes = caches.reserved - caches.in_use;
    finding.count = caches.streams;
    finding.component = ComponentKind::cached_segments;
    set_line(finding, context, context.device().allocations.stack[caches.largest]);
    set_since(finding, context.iterations(), caches.since);
    const auto streams = with("streams", format_count(caches.streams));
    const auto reserved = with("reserved", format_bytes(caches.reserved));
    finding.title =
        words("fragmentation: {reserved} are reserved for {streams} streams that are used one after another", reserved,
              streams);
    finding.text = {
        words("The program made new CUDA streams in its iterations and allocated on {streams} of them, last at {line}. "
              "The allocator keeps freed memory for the stream that used it, so a new stream needs new memory: "
              "{reserved} are reserved for these streams, of which at most {used} were allocated at once.",
              streams, with("line", line_of(context.trace(), context.device().allocations.stack[caches.newest])),
              reserved, with("used", format_bytes(caches.in_use))),
        words("The growth ends when all 32 streams of PyTorch's pool have been used; then streams repeat. The memory "
              "stays reserved.")};
    finding.evidence = {
        at_allocation(context, words("The first allocation of the stream that was used last"), caches.newest)};
    finding.fixes = {{words("Create the stream once, before the loop, and use the same stream in each iteration."),
                      "stream = torch.cuda.Stream()  # once\nwith torch.cuda.stream(stream):",
                      finding.bytes,
                      {}},
                     {words("Allocate the buffers once and reuse them."), "", {}, {}}};
    return finding;
}

/// Names the tensors of one line beside which most of the free memory lies, if there are several. Returns whether there
/// are.
bool report_neighbors(Finding& finding, const AnalysisContext& context, const OomAnalysis& oom_analysis,
                      const Words& words) {
    const auto neighbors = main_neighbors(context, oom_analysis);
    if (!neighbors) {
        return false;
    }
    set_line(finding, context, context.device().allocations.stack[neighbors->example]);
    finding.referrer = neighbors->referrer ? neighbor_words(context, words, *neighbors) : std::string();
    finding.text.push_back(words.sentences(
        {main_neighbors_words(context, words, *neighbors),
         words("As long as these exist, their segments can neither be returned to the driver nor serve a larger "
               "request.")}));
    finding.evidence.push_back(at_allocation(
        context,
        words("A tensor that keeps a gap: {referrer}", with("referrer", neighbor_words(context, words, *neighbors))),
        neighbors->example));
    finding.fixes.push_back({move_neighbors_words(words), "", neighbors->free, std::nullopt});
    return true;
}

/// Reports memory that the program cannot use again, or else reserved memory that is far above what was allocated.
void run_without_failure(const AnalysisContext& context, const Findings& earlier, const Words& words,
                         Findings& findings, Progress& progress) {
    const size_t before = findings.size();
    if (const auto gaps = find_pinned_gaps(context)) {
        findings.push_back(make_finding(context, *gaps, words, progress));
    }
    if (const auto caches = find_stream_caches(context)) {
        findings.push_back(make_finding(context, *caches, words));
    }
    if (findings.size() > before || find_finding(earlier, FindingKind::reserved_high_water) ||
        find_finding(earlier, FindingKind::pending_free)) {
        return;
    }
    if (const auto growth = find_reserved_growth(context)) {
        findings.push_back(make_finding(context, *growth, words, progress));
    }
}

void run(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings,
         Progress& progress) {
    if (!context.out_of_memory()) {
        run_without_failure(context, earlier, words, findings, progress);
        return;
    }
    const OomAnalysis oom_analysis(context, *context.out_of_memory());
    if (!oom_analysis.is_fragmented()) {
        return;
    }
    Finding finding = diagnoses::fragmentation.new_finding();
    finding.basis =
        words("The allocator's events were replayed: every block and every free gap at that time is known.");
    finding.bytes = oom_analysis.free_in_segments();
    finding.component = ComponentKind::free_in_segments;
    finding.title = words("{free} were free, but in gaps too small for {asked}",
                          with("free", format_bytes(oom_analysis.free_in_segments())),
                          with("asked", format_bytes(oom_analysis.requested())));
    finding.text = {
        words("Free memory lies in {gaps} between blocks in use. A request needs one gap that is large enough; the "
              "largest has {largest}. A few small, long-lived tensors keep large segments from being used as a whole.",
              with("gaps", words.plural(oom_analysis.state.gaps, "{n} free gap", "{n} free gaps")),
              with("largest", format_bytes(static_cast<int64_t>(oom_analysis.state.largest_gap))))};
    const bool has_neighbors = report_neighbors(finding, context, oom_analysis, words);
    if (!has_neighbors) {
        name_blocking_blocks(finding, context, oom_analysis, words);
    }
    finding.evidence.insert(finding.evidence.begin(),
                            at_event(context, words("The state right before the error"), oom_analysis.before));
    const std::vector<Fix> settings = settings_that_fit(earlier);
    finding.fixes.insert(finding.fixes.begin(), settings.begin(), settings.end());
    finding.fixes.push_back(order_fix(words));
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::fragmentation{FindingKind::fragmentation, Severity::waste, DiagnosisPhase::conclusion, run,
                                         DiagnosisScope::caching_allocator};

}  // namespace tidemark
