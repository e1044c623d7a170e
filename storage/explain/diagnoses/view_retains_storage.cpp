// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Small views retain large storages that no longer become more: a table of examples, a bank of prototypes, a queue of
// the last ones.
#include <algorithm>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/retention.h"
#include "storage/explain/small_views.h"
#include "storage/explain/storing_line.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// An arena has one storage and many views. Here each view retains a storage of its own.
constexpr size_t fewest_storages = 3;
constexpr int64_t least_bytes = 1 << 20;
constexpr int64_t least_fraction = 10;  ///< 1 / 10 of the allocated memory

/// Small views in one container.
struct Views {
    std::vector<AllocationIndex> storages;
    const Referrer* referrer = nullptr;  ///< of the first
    int64_t views = 0, bytes = 0;        ///< of the views, of their storages
    bool is_inferred = false;            ///< the scan found earlier views, which these have replaced

    void add(const AnalysisContext& context, AllocationIndex storage, const Referrer& of, const View& view) {
        referrer = storages.empty() ? &of : referrer;
        storages.push_back(storage);
        views += view.bytes;
        bytes += static_cast<int64_t>(context.device().allocations.block_size[storage]);
    }
};
using ViewsByContainer = std::map<std::string, Views>;

/// Adds the views that a scan found of memory that exists at the context's time point.
void add_found(const AnalysisContext& context, const SmallViews& small, ViewsByContainer& by_container) {
    const GraphContext& graph = *context.graph();
    for (const AllocationIndex a : allocated_at(context, context.now())) {
        const Retention retention = retention_of(graph, {context.device_position(), a});
        const auto view = retention.referrer && !retention.through_graph ? small.of(*retention.referrer) : std::nullopt;
        if (view) {
            by_container[container_key(graph, retention)].add(context, a, *retention.referrer, *view);
        }
    }
}

/// Returns the last complete scan before the context's time point that found anything; nothing if there is none.
std::optional<uint32_t> last_complete_scan(const AnalysisContext& context) {
    const std::vector<HeapScan>& scans = context.graph()->tables().scans;
    for (size_t scan = scans.size(); scan-- > 0;) {
        if (scans[scan].time <= context.now_time() && scans[scan].tensors > 0 &&
            scans[scan].reason != ScanReason::growing_sites) {
            return static_cast<uint32_t>(scan);
        }
    }
    return std::nullopt;
}

/// Memory that one stack allocated: what a scan found, and what has been allocated since then.
struct Generations {
    size_t scanned = 0;  ///< allocations at the scan
    std::map<AllocationIndex, const Referrer*> views;
    std::vector<AllocationIndex> now;  ///< later ones, found by no scan, that exist at the context's time point
};

std::map<StackId, Generations> generations_around(const AnalysisContext& context, const SmallViews& small,
                                                  uint32_t scan) {
    const DeviceHistory& device = context.device();
    const GraphTables& tables = context.graph()->tables();
    const EventNumber scanned = device.events_until(tables.scans[scan].time);
    std::map<StackId, Generations> by_stack;
    for (const Referrer& referrer : tables.referrers) {
        if (referrer.scan == scan && referrer.allocation && referrer.allocation.device == context.device_position() &&
            small.of(referrer)) {
            const AllocationIndex a = referrer.allocation.index;
            by_stack[device.allocations.stack[a]].views.try_emplace(a, &referrer);
        }
    }
    const Allocations& all = device.allocations;
    for (AllocationIndex a = 0; a < all.size() && all.alloc_event[a] < context.now(); ++a) {
        const auto found = by_stack.find(all.stack[a]);
        if (found != by_stack.end() && all.alloc_event[a] < scanned) {
            found->second.scanned += all.free_event[a] >= scanned;
        } else if (found != by_stack.end() && all.free_event[a] >= context.now() &&
                   !context.graph()->referrers.of(AllocationRef{context.device_position(), a})) {
            found->second.now.push_back(a);
        }
    }
    return by_stack;
}

/// Adds the views of a container that has replaced all its entries since the scan, as a queue of fixed length does: all
/// memory of their stacks was retained by views, but for that of the iteration at work, and as much of it exists again.
void add_replaced(const AnalysisContext& context, const SmallViews& small, ViewsByContainer& by_container) {
    const std::optional<uint32_t> scan = last_complete_scan(context);
    if (!scan) {
        return;
    }
    for (auto& [stack, memory] : generations_around(context, small, *scan)) {
        const size_t views = memory.views.size();
        if (views < fewest_storages || memory.scanned > views + 1 || memory.now.size() * 4 < views * 3) {
            continue;
        }
        const Referrer& typical = *std::next(memory.views.begin(), static_cast<std::ptrdiff_t>(views / 2))->second;
        Retention retention;
        retention.referrer = &typical;
        Views& replaced = by_container[container_key(*context.graph(), retention)];
        replaced.is_inferred = true;
        memory.now.resize(std::min(memory.now.size(), views));
        for (const AllocationIndex a : memory.now) {
            replaced.add(context, a, typical, *small.of(typical));
        }
    }
}

/// Returns the views of the container that retains most bytes by them.
Views find_views(const AnalysisContext& context) {
    const SmallViews small(context.graph()->tables());
    ViewsByContainer by_container;
    add_found(context, small, by_container);
    add_replaced(context, small, by_container);
    const auto most = std::max_element(by_container.begin(), by_container.end(),
                                       [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
    return most == by_container.end() ? Views() : std::move(most->second);
}

Finding make_finding(const AnalysisContext& context, const Views& views, const Words& words) {
    const GraphTables& tables = context.graph()->tables();
    Finding finding = diagnoses::view_retains_storage.new_finding();
    finding.confidence = Confidence::likely;
    finding.basis =
        views.is_inferred
            ? words(
                  "A heap scan found the views, and the sizes of their storages. Since then the container has "
                  "replaced entries by others whose storages were allocated at the same lines.")
            : words("A heap scan found the views, and the sizes of their storages.");
    finding.bytes = views.bytes - views.views;  // what is retained without need
    set_allocations(finding, context, views.storages, context.now());
    finding.referrer = referrer_words(tables, words, *views.referrer);
    const Allocations& all = context.device().allocations;
    const AllocationIndex largest =
        *std::max_element(views.storages.begin(), views.storages.end(),
                          [&](AllocationIndex a, AllocationIndex b) { return all.block_size[a] < all.block_size[b]; });
    set_line(finding, context, all.stack[largest]);
    const auto count = with("views", words.plural(finding.count, "{n} view", "{n} views"));
    const auto bytes = with("bytes", format_bytes(views.views)), storage = with("storage", format_bytes(views.bytes));
    finding.title = words("{views} of {bytes} in total retain {storage}", count, bytes, storage);
    finding.text = {
        words("Slices, selected rows and the results of chunk(), split() and detach() are views: they "
              "share the storage of the tensor that they come from, and retain all of it. The views are in "
              "{referrer}; their storages come from {line}.",
              with("referrer", finding.referrer), with("line", finding.line))};
    add_storing_line(finding, context, views.referrer->links, container_end(views.referrer->links), words);
    finding.evidence = {at_allocation(context, words("A storage that a view retains"), largest)};
    finding.fixes = fixes_of_views(referrer_expression(tables, *views.referrer), {views.views, views.bytes},
                                   views.bytes, {}, words);
    return finding;
}

void run(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings, Progress&) {
    if (!context.graph() || find_finding(earlier, FindingKind::view_retains_storage)) {
        return;
    }
    const Views views = find_views(context);
    const int64_t allocated = context.curves().value(Series::allocated, context.now());
    if (views.storages.size() >= fewest_storages && views.bytes >= least_bytes &&
        views.bytes * least_fraction >= allocated) {
        findings.push_back(make_finding(context, views, words));
    }
}

}  // namespace

const Diagnosis diagnoses::view_retains_storage{FindingKind::view_retains_storage, Severity::waste,
                                                DiagnosisPhase::comparison, run};

}  // namespace tidemark
