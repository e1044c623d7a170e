// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A small view retains the whole storage of the tensor that it is a part of.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/small_views.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer || !is_view(*suspect.referrer) || suspect.through_graph()) {
        return std::nullopt;
    }
    const GraphTables& tables = context.graph()->tables();
    const std::optional<View> view = SmallViews(tables).of(*suspect.referrer);
    if (!view) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    // A scan for growing memory finds one tensor of each storage. Others may show the rest of it.
    const bool is_complete = tables.scans[suspect.referrer->scan].reason != ScanReason::growing_sites;
    finding.confidence = is_complete ? Confidence::certain : Confidence::likely;
    const auto views = with("views", words.plural(suspect.count, "{n} view", "{n} views"));
    const auto bytes = with("bytes", format_bytes(view->bytes)), storage = with("storage", format_bytes(view->storage));
    const auto referrer = with("referrer", finding.referrer);
    finding.title = words("{views} of {bytes} retain storages of {storage}; {referrer} retains the views", views, bytes,
                          storage, referrer);
    finding.text = {
        words(
            "Slices, selected rows and the results of chunk(), split() and detach() are views: they share the storage "
            "of the tensor that they come from. As long as one view of {bytes} exists, all {storage} of its storage "
            "stay allocated.",
            bytes, storage),
        retained_so_far(suspect, words)};
    finding.fixes =
        fixes_of_views(referrer_expression(tables, suspect.paths), *view, suspect.bytes, suspect.per_iteration, words);
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::view_retains_storage{FindingKind::view_retains_storage, classify};

}  // namespace tidemark
