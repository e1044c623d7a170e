// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/jit_cache_growth.h"

#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/pooled_sighting.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 1 << 20;
/// Scans in a row, the one at the end included, of which each finds more arrays than the one before.
constexpr size_t fewest_scans = 4;
constexpr int64_t least_growth = 2;  ///< of the number of arrays, from the first of these scans to the last

bool leads_into_cache(const GraphTables& tables, const Referrer& path) {
    return std::any_of(path.links.begin(), path.links.end(),
                       [&](const PathLink& link) { return tables.texts[link.name].ends_with(" of WeakrefLRUCache"); });
}

/// Returns what the scan at the end found in the cache; nothing if it found more elsewhere, or there was none.
std::optional<PooledSighting> in_cache_at_end(const GraphTables& tables) {
    std::optional<PooledSighting> most;
    for (const Referrer& referrer : tables.referrers) {
        if (tables.scans[referrer.scan].reason != ScanReason::end) {
            continue;
        }
        auto sighting = pooled_sighting(tables, referrer);
        if (sighting && (!most || sighting->arrays.bytes > most->arrays.bytes)) {
            most = std::move(sighting);
        }
    }
    return most && leads_into_cache(tables, most->path) ? most : std::nullopt;
}

/// Returns the first of the scans up to the last one of which each found more arrays than the one before; nullptr if
/// they are too few, or began late: the start of a program creates its model.
const HeapScan* begin_of_growth(const AnalysisContext& context, const std::vector<HeapScan>& scans) {
    size_t begin = scans.size() - 1;
    while (begin > 0 && scans[begin - 1].tensors < scans[begin].tensors) {
        --begin;
    }
    const HeapScan& first = scans[begin];
    const bool is_long = 2 * (scans.back().time - first.time) > context.trace().duration;
    return scans.size() - begin >= fewest_scans && is_long && least_growth * first.tensors <= scans.back().tensors
               ? &first
               : nullptr;
}

Evidence evidence_of(const HeapScan& scan, const Words& words) {
    Evidence found;
    found.text = words("The heap scan found {arrays}", with("arrays", arrays_words(scan.tensors, words)));
    found.time = scan.time;
    return found;
}

std::vector<Fix> fixes_of(int64_t bytes, const Words& words) {
    return {{words("Pass arrays as arguments that are not static, and let only small constants be static: each object "
                   "that is a static argument, such as `self`, stays in the cache with all its arrays."),
             "@jax.jit\ndef update(params, x, y): ...",
             bytes,
             {}},
            {words("Or empty the caches when such objects are no longer in use. Functions are compiled again then."),
             "jax.clear_caches()",
             bytes,
             {}}};
}

}  // namespace

std::optional<Finding> jit_cache_growth(const AnalysisContext& context, const Words& words) {
    if (!context.graph() || context.graph()->tables().scans.empty() || context.has_chosen_time_point()) {
        return std::nullopt;
    }
    const GraphTables& tables = context.graph()->tables();
    const auto last = in_cache_at_end(tables);
    const HeapScan* first = last ? begin_of_growth(context, tables.scans) : nullptr;
    if (!first || last->arrays.bytes < least_bytes || 2 * last->arrays.count < tables.scans.back().tensors) {
        return std::nullopt;
    }
    Finding finding = finding_of_pooled(context, *last, words);
    finding.since = first->time;
    finding.referrer = words("the cache of jax.jit");
    const auto arrays = with("arrays", arrays_words(last->arrays.count, words));
    finding.title = words("{arrays} retained by the cache of jax.jit", arrays);
    finding.text = {
        words("jax.jit keeps the static arguments of each call in a cache, and with them all that they "
              "refer to: at the end, {bytes} in {arrays}. {duration} before, there were {arrays_before} in "
              "all: with each heap scan, they are more.",
              with("bytes", format_bytes(last->arrays.bytes)), arrays,
              with("duration", format_duration(last->time - first->time)),
              with("arrays_before", arrays_words(first->tensors, words)))};
    for (const PathLink& link : last->path.links) {
        finding.path.push_back({RetentionStep::Kind::reference, link_words(tables, words, link)});
    }
    finding.fixes = fixes_of(finding.bytes, words);
    for (const HeapScan* scan = first; scan->reason != ScanReason::end; ++scan) {
        finding.evidence.push_back(evidence_of(*scan, words));
    }
    finding.evidence.push_back(pooled_evidence(*last, words));
    return finding;
}

}  // namespace tidemark
