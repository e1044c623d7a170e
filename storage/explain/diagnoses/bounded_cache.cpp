// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Harmless: a cache, a buffer or a queue fills up in the first iterations and then keeps its size.
#include <algorithm>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/library_advice.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 1 << 20;
/// Filling takes at least this many iterations; allocations of one iteration only are setup.
constexpr size_t fewest_filling = 3;
constexpr int64_t fewest_entries = 4;

struct Cache {
    std::vector<const Site*> sites;  ///< most bytes first
    const Referrer* referrer = nullptr;
    AllocationIndex oldest = no_allocation;
    std::vector<AllocationIndex> entries;
    int64_t bytes = 0, count = 0;
    size_t full = 0;        ///< the slice from which on the size is constant
    bool replaces = false;  ///< new entries are added and old ones are freed
};

bool is_container(const Referrer& referrer) { return container_end(referrer.links) < referrer.links.size(); }

const Referrer* referrer_of(const AnalysisContext& context, const Site& site) {
    if (!context.graph()) {
        return nullptr;
    }
    for (const AllocationIndex a : site.now) {
        if (const Referrer* referrer = context.graph()->referrers.of(AllocationRef{context.device_position(), a})) {
            if (is_container(*referrer)) {
                return referrer;
            }
        }
    }
    return nullptr;
}

/// The part of a site that a cache can hold. Modules, optimizers and workspaces are not caches, whenever they were
/// allocated.
struct Entries {
    std::vector<AllocationIndex> all;  ///< by age
    int64_t bytes = 0;
};

Entries entries_of(const AnalysisContext& context, const Site& site) {
    Entries entries;
    for (const AllocationIndex a : site.now) {
        const Category category =
            context.graph() ? context.graph()->categories.at({context.device_position(), a}, context.now_time())
                            : Category::unknown;
        if (!is_retained_outside_graph(category) && category != Category::workspace) {
            entries.all.push_back(a);
            entries.bytes += static_cast<int64_t>(context.device().allocations.block_size[a]);
        }
    }
    return entries;
}

/// Returns the slice from which on the level stays within one entry of its final value; nothing if it never stabilizes.
std::optional<size_t> full_since(const Site& site, int64_t entry) {
    const int64_t end = site.level.back();
    size_t full = site.level.size();
    while (full > 0 && std::llabs(site.level[full - 1] - end) <= entry) {
        --full;
    }
    size_t filling = 0;
    for (size_t slice = 0; slice < full; ++slice) {
        const int64_t before = slice == 0 ? 0 : site.level[slice - 1];
        filling += site.level[slice] > before;
        if (site.level[slice] < before - entry) {
            return std::nullopt;
        }
    }
    return filling >= fewest_filling && full <= site.level.size() * 3 / 4 ? std::optional(full) : std::nullopt;
}

std::vector<Cache> find(const AnalysisContext& context) {
    std::map<std::string, Cache> caches;
    for (const Site& site : context.surviving_allocations().sites()) {
        if (site.count < fewest_entries || site.level.empty() || site.trend.shape == Shape::rising) {
            continue;
        }
        const Entries entries = entries_of(context, site);
        const auto count = static_cast<int64_t>(entries.all.size());
        const std::optional<size_t> full =
            count < fewest_entries ? std::nullopt : full_since(site, entries.bytes / count);
        if (!full) {
            continue;
        }
        const Referrer* referrer = referrer_of(context, site);
        Cache& cache = caches[referrer ? referrer_expression(context.graph()->tables(), *referrer) : std::string()];
        cache.sites.push_back(&site);
        cache.referrer = cache.referrer ? cache.referrer : referrer;
        cache.oldest = cache.sites.size() == 1 ? entries.all.front() : cache.oldest;
        cache.entries.insert(cache.entries.end(), entries.all.begin(), entries.all.end());
        cache.bytes += entries.bytes;
        cache.count += count;
        cache.full = std::max(cache.full, *full);
        cache.replaces = cache.replaces || site.total_count > site.count;
    }
    std::vector<Cache> found;
    for (auto& [key, cache] : caches) {
        if (cache.bytes >= least_bytes) {
            found.push_back(std::move(cache));
        }
    }
    return found;
}

void report(Finding& finding, const AnalysisContext& context, const Cache& cache, size_t full, const Words& words) {
    const auto bytes = with("bytes", format_bytes(cache.bytes));
    const auto tensors = with("tensors", words.plural(cache.count, "{n} tensor", "{n} tensors"));
    const auto iteration = with("iteration", iteration_name(context.iterations(), words, static_cast<int64_t>(full)));
    finding.title =
        finding.referrer.empty()
            ? words("tensors from {line} filled {bytes} and no longer grow ({tensors})", tensors, bytes,
                    with("line", finding.line))
            : words("{referrer} filled up to {bytes} and no longer grows", with("referrer", finding.referrer), bytes);
    finding.text = {
        words("Memory from {line} grew over the first iterations, to {tensors}. Since {iteration} it stays at {bytes}: "
              "it looks like a leak at first, but is not one.",
              tensors, bytes, iteration, with("line", finding.line))};
    finding.text.push_back(
        cache.replaces
            ? words("New tensors still arrive, and as many old ones are freed: a cache or buffer with a maximum size.")
            : words("No new tensors arrive."));
}

Finding make_finding(const AnalysisContext& context, const Cache& cache, const Words& words) {
    const size_t full =
        std::min(cache.full * context.surviving_allocations().iterations_per_slice(), context.iterations().size() - 1);
    Finding finding = diagnoses::bounded_cache.new_finding();
    finding.confidence = cache.referrer ? Confidence::certain : Confidence::likely;
    finding.basis = words(
        "The allocator's events show growth in the first iterations, then a constant level over {iterations} "
        "iterations.",
        with("iterations", context.iterations().size() - full));
    finding.bytes = cache.bytes;
    finding.memory = memory_of(context, cache.entries, context.now());
    finding.count = cache.count;
    finding.component = ComponentKind::requested;
    set_line(finding, context, cache.sites.front()->stack);
    for (const Site* site : cache.sites) {
        finding.accounts_for.push_back(site->stack);
    }
    if (cache.referrer) {
        finding.referrer = filled_container_words(context.graph()->tables(), words, *cache.referrer);
    }
    report(finding, context, cache, full, words);
    finding.evidence = {
        at_allocation(context, words("The oldest entry"), cache.oldest),
        at_iteration(context, context.iterations(), words("The cache is full"), static_cast<int64_t>(full)),
        at_event(
            context,
            words("The cache has the same size at {time_point}", with("time_point", time_point_name(context, words))),
            context.now())};
    finding.fixes = {{words("If it is too large: reduce the maximum size, or keep the entries in host memory."),
                      "entry = entry.to(\"cpu\")", cache.bytes, std::nullopt}};
    if (std::optional<Fix> fix = library_fix_of_cache(context.trace(), words, finding.stack)) {
        fix->bytes = cache.bytes;
        finding.fixes.insert(finding.fixes.begin(), std::move(*fix));
    }
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    for (const Cache& cache : find(context)) {
        findings.push_back(make_finding(context, cache, words));
    }
}

}  // namespace

const Diagnosis diagnoses::bounded_cache{FindingKind::bounded_cache, Severity::pattern, DiagnosisPhase::observation,
                                         run};

}  // namespace tidemark
