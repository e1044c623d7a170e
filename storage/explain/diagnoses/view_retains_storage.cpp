// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Small views retain large storages that no longer become more: a table of examples, a bank of prototypes.
#include <algorithm>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/retention.h"
#include "storage/explain/small_views.h"
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
};

/// Returns the views of the container that retains most bytes by them.
Views find_views(const AnalysisContext& context) {
    const GraphContext& graph = *context.graph();
    const SmallViews small(graph.tables());
    std::map<std::string, Views> by_container;
    for (const AllocationIndex a : allocated_at(context, context.now())) {
        const Retention retention = retention_of(graph, {context.device_position(), a});
        const auto view = retention.referrer && !retention.through_graph ? small.of(*retention.referrer) : std::nullopt;
        if (view) {
            Views& views = by_container[container_key(graph, retention)];
            views.referrer = views.storages.empty() ? retention.referrer : views.referrer;
            views.storages.push_back(a);
            views.views += view->bytes;
            views.bytes += static_cast<int64_t>(context.device().allocations.block_size[a]);
        }
    }
    const auto most = std::max_element(by_container.begin(), by_container.end(),
                                       [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
    return most == by_container.end() ? Views() : std::move(most->second);
}

Finding make_finding(const AnalysisContext& context, const Views& views, const Words& words) {
    const GraphTables& tables = context.graph()->tables();
    Finding finding = diagnoses::view_retains_storage.new_finding();
    finding.confidence = Confidence::likely;
    finding.basis = words("A heap scan found the views, and the sizes of their storages.");
    finding.bytes = views.bytes;
    finding.count = static_cast<int64_t>(views.storages.size());
    finding.component = ComponentKind::requested;
    finding.referrer = referrer_words(tables, words, *views.referrer);
    set_line(finding, context, context.device().allocations.stack[views.storages.front()]);
    const auto count = with("views", words.plural(finding.count, "{n} view", "{n} views"));
    const auto bytes = with("bytes", format_bytes(views.views)), storage = with("storage", format_bytes(views.bytes));
    finding.title = words("{views} of {bytes} in total retain {storage}", count, bytes, storage);
    finding.text = {
        words("Slices, selected rows and the results of chunk(), split() and detach() are views: they "
              "share the storage of the tensor that they come from, and retain all of it. The views are in "
              "{referrer}; their storages come from {line}.",
              with("referrer", finding.referrer), with("line", finding.line))};
    finding.evidence = {at_allocation(context, words("A storage that a view retains"), views.storages.front())};
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
