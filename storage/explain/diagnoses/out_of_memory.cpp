// S9, #15: the autopsy of an out-of-memory error: what was asked, what was free and where, who had the rest, and what
// would have made it fit.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/diagnoses/all.h"
#include "storage/explain/experiments.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/free_gap_finder.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr size_t most_named = 3;  ///< blocks or lines that are told one by one

struct OomAnalysis {
    const OtherEvent& oom;
    EventNumber before;
    MemoryState state;
    int64_t free_on_device;

    OomAnalysis(const AnalysisContext& context, const OtherEvent& event)
        : oom(event),
          before(event.event),
          state(memory_state(context.device(), context.analysis().live(), event.event)),
          free_on_device(static_cast<int64_t>(event.address)) {}

    int64_t asked() const { return static_cast<int64_t>(oom.size); }
    int64_t free_inside() const { return static_cast<int64_t>(state.free_in_gaps + state.free_in_cached_segments); }
    /// There was enough, but in pieces.
    bool is_fragmented() const { return free_inside() >= asked(); }
};

std::string inside_words(const OomAnalysis& oom_analysis, const Words& words) {
    if (oom_analysis.free_inside() == 0) {
        return words("PyTorch had {reserved} reserved, all of it in use.",
                     with("reserved", format_bytes(static_cast<int64_t>(oom_analysis.state.reserved))));
    }
    return words(
        "PyTorch had {reserved} reserved. {free} of it was free, in {gaps}, the largest of {largest}.",
        with("reserved", format_bytes(static_cast<int64_t>(oom_analysis.state.reserved))),
        with("free", format_bytes(oom_analysis.free_inside())),
        with("holes", words.plural(oom_analysis.state.gaps, "{n} hole between tensors", "{n} holes between tensors")),
        with("largest", format_bytes(static_cast<int64_t>(oom_analysis.state.largest_gap))));
}

std::string device_words(const OomAnalysis& oom_analysis, const Words& words) {
    const auto free = with("free", format_bytes(oom_analysis.free_on_device));
    return oom_analysis.free_on_device > oom_analysis.asked()
               ? words(
                     "The device itself had {free} left: it was a limit set for the process (memory fraction) that "
                     "refused.",
                     free)
               : words("The device had {free} left.", free);
}

/// What lies around the moment on the device beside PyTorch.
std::string others_words(const AnalysisContext& context, const Words& words) {
    std::vector<std::string> parts;
    for (const Component& component : context.row().components) {
        if (component.bytes > 0 && component.kind >= ComponentKind::library) {
            const auto bytes = with("bytes", format_bytes(component.bytes));
            switch (component.kind) {
                case ComponentKind::library:
                    parts.push_back(words("{bytes} {library}", bytes, with("library", component.name)));
                    break;
                case ComponentKind::context: parts.push_back(words("{bytes} CUDA context", bytes)); break;
                case ComponentKind::kernels: parts.push_back(words("{bytes} kernels", bytes)); break;
                case ComponentKind::other_processes:
                    parts.push_back(words("{bytes} process {pid}", bytes, with("pid", component.pid)));
                    break;
                default: break;
            }
        }
    }
    return parts.empty() ? std::string()
                         : words("Beside PyTorch's allocator: {parts}.", with("parts", words.list(parts)));
}

std::string block_words(const AnalysisContext& context, const Words& words, AllocationIndex a) {
    const Allocations& allocations = context.device().allocations;
    const auto bytes = with("bytes", format_bytes(static_cast<int64_t>(allocations.block_size[a])));
    const auto line = with("line", line_of(context.trace(), allocations.stack[a]));
    const Referrer* referrer =
        context.graph() ? context.graph()->referrers.in_python(AllocationRef{context.device_position(), a}) : nullptr;
    return referrer ? words("{bytes} from {line}, held by {referrer}", bytes, line,
                            with("referrer", referrer_words(context.graph()->tables(), words, *referrer)))
                    : words("{bytes} from {line}", bytes, line);
}

void name_block(Finding& finding, const AnalysisContext& context, const Words& words, AllocationIndex a,
                std::vector<std::string>& named) {
    if (named.size() < most_named && a != no_allocation) {
        named.push_back(block_words(context, words, a));
        finding.evidence.push_back(
            at_allocation(context, words("In the way: {block}", with("block", named.back())), a));
    }
}

/// No segment is as large as the request: what keeps those with most free memory from going back to the driver.
void add_pins_of_segments(Finding& finding, const AnalysisContext& context, const OomAnalysis& oom_analysis,
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
        finding.text.push_back(words(
            "{segments} are mostly free, but a few blocks, {bytes} in all, keep them from being used as a whole or "
            "given back. Those in the largest: {named}.",
            with("segments", words.plural(static_cast<int64_t>(segments.size()), "{n} segment", "{n} segments")),
            with("bytes", format_bytes(in_use)), with("named", words.list(named))));
    }
}

/// Fragmentation: the blocks that are in the way.
void add_pins(Finding& finding, const AnalysisContext& context, const OomAnalysis& oom_analysis, const Words& words) {
    const Window window = cheapest_window(oom_analysis.state, oom_analysis.oom.size);
    if (window.size == 0 || window.blocks.empty()) {
        add_pins_of_segments(finding, context, oom_analysis, words);
        return;
    }
    std::vector<std::string> named;
    for (const AllocationIndex a : window.blocks) {
        name_block(finding, context, words, a, named);
    }
    const auto count = static_cast<int64_t>(window.blocks.size());
    finding.text.push_back(
        words("{blocks} with {bytes} in all stand in the way of a hole that is large enough: {named}.",
              with("blocks", words.plural(count, "{n} block", "{n} blocks")),
              with("bytes", format_bytes(window.in_use)), with("named", words.list(named))));
}

/// Full: who has it.
void add_owners(Finding& finding, const AnalysisContext& context, const Words& words) {
    std::vector<std::string> named;
    for (const Site& site : context.surviving_allocations().sites()) {
        if (named.size() == most_named || site.bytes * 20 < context.curves().value(Series::allocated, context.now())) {
            break;
        }
        named.push_back(words("{bytes} in {tensors} from {line}", with("bytes", format_bytes(site.bytes)),
                              with("tensors", words.plural(site.count, "{n} tensor", "{n} tensors")),
                              with("line", line_of(context.trace(), site.stack))));
        finding.evidence.push_back(at_allocation(context, named.back(), site.now.back()));
    }
    if (!named.empty()) {
        finding.text.push_back(words("Most of what is in use: {named}.", with("named", words.list(named))));
    }
    for (const LeakSuspect& suspect : context.suspects()) {
        if (suspect.referrer && suspect.bytes * 4 > context.curves().value(Series::allocated, context.now())) {
            finding.referrer = referrer_words(context.graph()->tables(), words, *suspect.referrer);
            finding.text.push_back(words("{bytes} of it piled up round after round in {referrer}: see that finding.",
                                         with("bytes", format_bytes(suspect.bytes)),
                                         with("referrer", finding.referrer)));
        }
    }
}

void add_experiments(Finding& finding, const AnalysisContext& context, const OomAnalysis& oom_analysis,
                     const Words& words, Progress& progress) {
    const Experiments experiments = try_settings(context, words, oom_analysis.before, progress);
    if (!experiments.was_tried) {
        finding.unknowns.push_back(experiments.why_not);
        return;
    }
    std::vector<std::string> in_vain;
    for (const Experiment& experiment : experiments.tried) {
        const auto peak = with("peak", format_bytes(experiment.outcome.peak_reserved));
        const auto change = with("change", experiment.text);
        if (experiment.outcome.fits) {
            finding.fixes.push_back({words("It would have fitted {change}: {peak} reserved at most.", change, peak),
                                     experiment.code,
                                     {},
                                     {}});
        } else {
            in_vain.push_back(experiment.text);
        }
    }
    if (!in_vain.empty()) {
        finding.text.push_back(words("Replayed with other settings, it fails all the same: {settings}.",
                                     with("settings", words.list(in_vain))));
    }
    if (experiments.capacity && !experiments.capacity->is_exact) {
        finding.unknowns.push_back(
            words("How much the process could have had at most is not known exactly; {bytes} were "
                  "taken for it.",
                  with("bytes", format_bytes(experiments.capacity->bytes))));
    }
}

void add_fragmentation(const AnalysisContext& context, const OomAnalysis& oom_analysis, const Finding& failure,
                       const Words& words, Findings& findings) {
    Finding finding;
    finding.kind = FindingKind::fragmentation;
    finding.severity = Severity::waste;
    finding.basis = words("Replayed from the allocator's events: every block and every hole at that moment.");
    finding.bytes = oom_analysis.free_inside();
    finding.component = ComponentKind::free_in_segments;
    finding.title = words("{free} were free, but in pieces too small for {asked}",
                          with("free", format_bytes(oom_analysis.free_inside())),
                          with("asked", format_bytes(oom_analysis.asked())));
    finding.text = {
        words("Free memory lies in {gaps} between blocks that are in use; a request needs one hole that is large "
              "enough, and the largest is {largest}. A few small tensors that live long keep large segments "
              "from being used as a whole.",
              with("holes", words.plural(oom_analysis.state.gaps, "{n} hole", "{n} holes")),
              with("largest", format_bytes(static_cast<int64_t>(oom_analysis.state.largest_gap))))};
    add_pins(finding, context, oom_analysis, words);
    finding.evidence.insert(finding.evidence.begin(),
                            at_event(context, words("The state right before the error"), oom_analysis.before));
    finding.fixes = failure.fixes;
    finding.fixes.push_back({words("Make what lives long before the large temporaries, or first."), "", {}, {}});
    findings.push_back(std::move(finding));
}

}  // namespace

void diagnose_out_of_memory(const AnalysisContext& context, const Words& words, Findings& findings,
                            Progress& progress) {
    if (!context.out_of_memory()) {
        return;
    }
    const OomAnalysis oom_analysis(context, *context.out_of_memory());
    Finding finding;
    finding.kind = FindingKind::out_of_memory;
    finding.severity = Severity::failure;
    finding.basis = words("The error is an event of the allocator; the state before it was replayed block by block.");
    finding.bytes = oom_analysis.asked();
    finding.since = context.device().time_of_state(oom_analysis.before);
    set_line(finding, context, oom_analysis.oom.stack);
    const auto asked = with("asked", format_bytes(oom_analysis.asked()));
    finding.title = finding.line.empty()
                        ? words("out of memory: {asked} were asked for", asked)
                        : words("out of memory: {asked} were asked for by {line}", asked, with("line", finding.line));
    finding.text = {words.sentences({inside_words(oom_analysis, words), device_words(oom_analysis, words)})};
    if (const std::string others = others_words(context, words); !others.empty()) {
        finding.text.push_back(others);
    }
    finding.evidence.push_back(at_event(context, words("The state right before the error"), oom_analysis.before));
    add_owners(finding, context, words);
    add_experiments(finding, context, oom_analysis, words, progress);
    if (oom_analysis.is_fragmented()) {
        add_fragmentation(context, oom_analysis, finding, words, findings);
    }
    findings.push_back(std::move(finding));
}

}  // namespace tidemark
