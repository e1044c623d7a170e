// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #26: reference cycles retain tensors until Python's garbage collector runs: a sawtooth.
#include <algorithm>
#include <unordered_map>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// A collection that frees less does not matter.
constexpr int64_t least_bytes = 1 << 20;
/// A single collection may be a coincidence, or the end of the program.
constexpr size_t fewest_collections = 2;
/// Collections must free at least this part of a line's freed memory.
constexpr double least_part = 0.8;

struct Collection {
    const Annotation* span = nullptr;
    EventNumber first = 0, last = 0;  ///< states of its events
    int64_t bytes = 0;                ///< freed by it
};

struct Cycles {
    std::vector<Collection> collections;  ///< those that freed memory, by time
    std::unordered_map<StackId, int64_t> freed;
    std::vector<const Site*> sites;  ///< sites whose memory is freed by collections; most total bytes first
    int64_t pending = 0;             ///< their allocated bytes now
    int64_t count = 0;               ///< their allocations now
};

void add_frees(const AnalysisContext& context, Collection& collection, Cycles& cycles) {
    const DeviceHistory& device = context.device();
    for (EventNumber event = collection.first; event < collection.last; ++event) {
        const EventRef ref = device.event_ref[static_cast<size_t>(event)];
        if (ref.action() == Action::free_requested) {
            const auto bytes = static_cast<int64_t>(device.allocations.block_size[ref.index()]);
            collection.bytes += bytes;
            cycles.freed[device.allocations.stack[ref.index()]] += bytes;
        }
    }
}

void add_collections(const AnalysisContext& context, Cycles& cycles) {
    for (const Annotation& span : context.trace().annotations) {
        if (!span.closed || span.kind != AnnotationKind::garbage_collection) {
            continue;
        }
        Collection collection{&span, context.device().events_until(span.start), context.device().events_until(span.end),
                              0};
        // Events after the context's time point belong to the program's end.
        if (collection.first < context.now()) {
            add_frees(context, collection, cycles);
        }
        if (collection.bytes >= least_bytes) {
            cycles.collections.push_back(collection);
        }
    }
}

Cycles find(const AnalysisContext& context) {
    Cycles cycles;
    add_collections(context, cycles);
    if (cycles.collections.size() < fewest_collections) {
        return cycles;
    }
    for (const Site& site : context.surviving_allocations().sites()) {
        const auto freed = cycles.freed.find(site.stack);
        const auto freed_bytes = static_cast<double>(site.total_bytes - site.bytes);
        if (freed != cycles.freed.end() && freed_bytes > 0 &&
            static_cast<double>(freed->second) >= least_part * freed_bytes) {
            cycles.sites.push_back(&site);
            cycles.pending += site.bytes;
            cycles.count += site.count;
        }
    }
    std::stable_sort(cycles.sites.begin(), cycles.sites.end(),
                     [](const Site* a, const Site* b) { return a->total_bytes > b->total_bytes; });
    return cycles;
}

int64_t most_freed(const Cycles& cycles) {
    return std::max_element(cycles.collections.begin(), cycles.collections.end(),
                            [](const Collection& a, const Collection& b) { return a.bytes < b.bytes; })
        ->bytes;
}

void report(Finding& finding, const Cycles& cycles, const Words& words) {
    const auto bytes = with("bytes", format_bytes(most_freed(cycles)));
    const auto line = with("line", finding.line);
    finding.title = words("up to {bytes} from {line} stay in reference cycles until garbage collection", bytes, line);
    finding.text = {words("Objects in a reference cycle are not freed with the last variable that refers to them, "
                          "because their reference counts never reach zero. Their tensors stay on the GPU until "
                          "Python's garbage collector runs, and it counts objects, not bytes."),
                    words("Memory was freed by {collections}, up to {bytes} at once, most of it from {line}. Between "
                          "the collections memory grows with each iteration and then falls back.",
                          bytes, line,
                          with("collections", words.plural(static_cast<int64_t>(cycles.collections.size()),
                                                           "{n} garbage collection", "{n} garbage collections")))};
    if (cycles.pending > 0) {
        finding.text.push_back(words("At present {pending} stay until the next collection.",
                                     with("pending", format_bytes(cycles.pending))));
    }
}

void add_evidence(Finding& finding, const AnalysisContext& context, const Cycles& cycles, const Words& words) {
    const Collection& largest =
        *std::max_element(cycles.collections.begin(), cycles.collections.end(),
                          [](const Collection& a, const Collection& b) { return a.bytes < b.bytes; });
    finding.evidence.push_back(at_event(context, words("The state right before a collection"), largest.first));
    Evidence collection = at_event(
        context, words("The collection frees {bytes}", with("bytes", format_bytes(largest.bytes))), largest.last);
    collection.time = largest.span->start;
    collection.until = largest.span->end;
    finding.evidence.push_back(collection);
    if (!cycles.sites.front()->now.empty()) {
        finding.evidence.push_back(at_allocation(context, words("An allocation that stays until the next collection"),
                                                 cycles.sites.front()->now.front()));
    }
}

void add_referrer(Finding& finding, const AnalysisContext& context, const Cycles& cycles, const Words& words) {
    if (context.graph() && !cycles.sites.front()->now.empty()) {
        const AllocationRef pending{context.device_position(), cycles.sites.front()->now.front()};
        const Referrer* referrer = context.graph()->referrers.of(pending);
        if (referrer && is_cycle(*referrer)) {
            finding.referrer = referrer_words(context.graph()->tables(), words, *referrer);
        }
    }
    if (finding.referrer.empty()) {
        finding.unknowns.push_back(
            words("The objects of the reference cycles are unknown. `gc.set_debug(gc.DEBUG_SAVEALL)` keeps what a "
                  "collection finds in `gc.garbage` for inspection."));
    }
}

Finding make_finding(const AnalysisContext& context, const Cycles& cycles, const Words& words) {
    Finding finding = diagnoses::garbage_cycles.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("The memory was freed during garbage collections, which were recorded.");
    finding.bytes = cycles.pending;
    finding.count = cycles.count;
    finding.component = ComponentKind::requested;
    set_line(finding, context, cycles.sites.front()->stack);
    report(finding, cycles, words);
    add_evidence(finding, context, cycles, words);
    add_referrer(finding, context, cycles, words);
    finding.fixes = {
        {words("Break the cycle: replace one of its references by a weak reference."),
         "import weakref\nself.owner = weakref.ref(owner)", most_freed(cycles), std::nullopt},
        {words("Or run the garbage collector in each iteration; this costs time in programs with many objects."),
         "gc.collect()", most_freed(cycles), std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (const Cycles cycles = find(context); !cycles.sites.empty()) {
        findings.push_back(make_finding(context, cycles, words));
    }
}

}  // namespace

const Diagnosis diagnoses::garbage_cycles{FindingKind::garbage_cycles, Severity::waste, DiagnosisPhase::observation,
                                          run};

}  // namespace tidemark
