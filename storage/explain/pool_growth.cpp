// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/pool_growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/gpu_library.h"
#include "storage/explain/pooled_sighting.h"
#include "storage/explain/storing_line.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 1 << 20;
constexpr int64_t least_fraction = 20;  ///< 1 / 20 of all arrays that the last scan found
constexpr size_t fewest_scans = 3;      ///< in a row that find more and more
/// The first of these scans finds at most so much of what the last one finds: 7 / 8.
constexpr int64_t most_before = 7, of_parts = 8;

using Sightings = std::vector<PooledSighting>;

/// Returns the same text for the same container, whatever element a path leads to.
std::string container_of(const Referrer& path) {
    std::string key;
    for (const PathLink& link : path.links) {
        key += fmt::format("{} {} {} {}\n", word_of(link.kind), is_element(link) ? 0 : link.name, link.function,
                           link.file);
    }
    return key;
}

/// Returns the time until which scans count. The context's time point is that of an event, and the pool may cause none.
int64_t end_of(const AnalysisContext& context) {
    return context.has_chosen_time_point() ? context.now_time() : context.trace().duration;
}

/// Returns what the scans up to that time found, by container and time. The scan at the end comes after the functions
/// whose variables retain arrays.
std::map<std::string, Sightings> sightings_of(const AnalysisContext& context) {
    const GraphTables& tables = context.graph()->tables();
    std::map<std::string, Sightings> found;
    for (const Referrer& referrer : tables.referrers) {
        const HeapScan& scan = tables.scans[referrer.scan];
        if (scan.reason == ScanReason::end || scan.time > end_of(context)) {
            continue;
        }
        if (auto sighting = pooled_sighting(tables, referrer)) {
            found[container_of(sighting->path)].push_back(std::move(*sighting));
        }
    }
    return found;
}

bool is_more(const PooledSighting& before, const PooledSighting& after) {
    return before.arrays.count < after.arrays.count && before.arrays.bytes < after.arrays.bytes;
}

/// Returns the last scans in a row of which each found more than the one before; empty if they are too few.
Sightings growing_part(const Sightings& all) {
    size_t begin = all.size() - 1;
    while (begin > 0 && is_more(all[begin - 1], all[begin])) {
        --begin;
    }
    return all.size() - begin < fewest_scans ? Sightings()
                                             : Sightings(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end());
}

/// What the last scan found in all containers. By default, JAX allocates most of the GPU at its start, so the size of
/// its pool says nothing.
struct LastScan {
    int64_t time = 0, bytes = 0;
};

LastScan last_scan_of(const std::map<std::string, Sightings>& containers) {
    LastScan last;
    for (const auto& [key, sightings] : containers) {
        last.time = std::max(last.time, sightings.back().time);
    }
    for (const auto& [key, sightings] : containers) {
        last.bytes += sightings.back().time == last.time ? sightings.back().arrays.bytes : 0;
    }
    return last;
}

bool grows(const Sightings& part, const LastScan& last) {
    if (part.empty() || part.back().time != last.time) {
        return false;
    }
    const int64_t bytes = part.back().arrays.bytes;
    return bytes >= std::max(least_bytes, last.bytes / least_fraction) &&
           part.front().arrays.bytes / most_before <= bytes / of_parts;
}

/// Returns the container that fills as a group: the sightings lead to different elements of it.
ReferrerGroup container_group(const GraphTables& tables, const Sightings& part) {
    std::vector<const Referrer*> by_age;
    for (const PooledSighting& sighting : part) {
        by_age.push_back(&sighting.path);
    }
    ReferrerGroup group = growth_group(tables, by_age);
    group.last_index = group.first_index;  // the elements that the scans named are examples
    return group;
}

std::vector<Evidence> evidence_of(const Sightings& part, const Words& words) {
    std::vector<Evidence> evidence;
    for (const PooledSighting* sighting : {&part.front(), &part[part.size() / 2], &part.back()}) {
        evidence.push_back(pooled_evidence(*sighting, words));
    }
    return evidence;
}

Finding finding_of(const AnalysisContext& context, const Sightings& part, const Words& words) {
    const GraphTables& tables = context.graph()->tables();
    const PooledSighting &first = part.front(), &last = part.back();
    const ReferrerGroup group = container_group(tables, part);
    const std::string expression = referrer_expression(tables, group);
    Finding finding = finding_of_pooled(context, last, words);
    finding.since = first.time;
    finding.referrer = referrer_words(tables, words, group);
    const auto arrays = with("arrays", arrays_words(last.arrays.count, words));
    finding.title = words("{arrays} retained by {referrer}", arrays, with("referrer", finding.referrer));
    finding.text = {
        words("Of the memory in the library's pool, {bytes} in {arrays} are retained by {referrer}. "
              "{duration} before, they were {bytes_before} in {arrays_before}: with each heap scan, they "
              "are more.",
              with("bytes", format_bytes(last.arrays.bytes)), arrays, with("referrer", finding.referrer),
              with("duration", format_duration(last.time - first.time)),
              with("bytes_before", format_bytes(first.arrays.bytes)),
              with("arrays_before", arrays_words(first.arrays.count, words)))};
    add_storing_line(finding, context, group.links, container_end(group.links), words);
    for (const PathLink& link : group.links) {
        finding.path.push_back({RetentionStep::Kind::reference, link_words(tables, words, link)});
    }
    const bool is_dict = group.varying && group.links[*group.varying].kind == PathLinkKind::item;
    const std::string copy = host_copy_of(GpuLibrary::jax, "array");
    finding.fixes = {
        {words("If the GPU no longer needs the arrays: keep them in host memory."),
         is_dict ? fmt::format("{}[key] = {}", expression, copy) : fmt::format("{}.append({})", expression, copy),
         finding.bytes,
         {}},
        {words("Or clear {referrer} after its contents were used.", with("referrer", "`" + expression + "`")),
         fmt::format("{}.clear()", expression),
         finding.bytes,
         {}}};
    finding.evidence = evidence_of(part, words);
    return finding;
}

}  // namespace

Findings pool_growth(const AnalysisContext& context, const Words& words) {
    Findings findings;
    if (!context.graph()) {
        return findings;
    }
    const auto containers = sightings_of(context);
    const LastScan last = last_scan_of(containers);
    if (2 * last.time < end_of(context)) {
        return findings;  // what grew then may have ended
    }
    for (const auto& [key, sightings] : containers) {
        const Sightings part = growing_part(sightings);
        if (grows(part, last)) {
            findings.push_back(finding_of(context, part, words));
        }
    }
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.bytes > b.bytes; });
    return findings;
}

}  // namespace tidemark
