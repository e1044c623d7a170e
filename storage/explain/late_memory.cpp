// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/late_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "storage/explain/private_pools.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 1 << 20;
constexpr int64_t least_fraction = 20;  ///< 1 / 20 of the allocated memory
constexpr size_t warm_up = 2;           ///< iterations
constexpr size_t fewest_slices = 8;

/// Returns the bytes by which the site's level rose after the warm-up, and at which it stayed for the last quarter.
int64_t late_bytes(const Site& site, size_t first) {
    const auto last = site.level.end() - static_cast<std::ptrdiff_t>(site.level.size() / 4);
    const int64_t lowest = std::min(*std::min_element(last, site.level.end()), site.bytes);
    return lowest - site.level[first];
}

/// Returns whether the level no longer rises in the last quarter by a large part of the rise.
bool is_settled(const Site& site, int64_t rise) {
    const auto lowest_of_last = [&](size_t slices) {
        return *std::min_element(site.level.end() - static_cast<std::ptrdiff_t>(slices), site.level.end());
    };
    const size_t quarter = site.level.size() / 4;
    return (lowest_of_last(quarter / 2) - lowest_of_last(quarter)) * 4 <= rise;
}

/// Returns the slice in which the level passes a part of the rise for the last time.
size_t slice_of_rise(const Site& site, size_t first, double part_of_rise) {
    const int64_t level = site.level[first] + std::llround(part_of_rise);
    size_t slice = site.level.size() - 1;
    while (slice > first && site.level[slice - 1] > level) {
        --slice;
    }
    return slice;
}

/// Returns whether the level stays near the top of the rise. What went far above it and was freed then, such as a
/// list that is cut, has not risen once. `slices`: without the last one of a loop that was found from stacks, which
/// contains what the program does after it.
bool stays_at_level(const Site& site, size_t first, int64_t rise, size_t slices) {
    return *std::max_element(site.level.begin() + static_cast<std::ptrdiff_t>(first),
                             site.level.begin() + static_cast<std::ptrdiff_t>(slices)) <=
           site.level[first] + rise + rise / 2;
}

/// Returns whether the container that retains it also retains a leak suspect, which other lines allocate.
bool is_retained_with_a_suspect(const AnalysisContext& context, const SampledRetention& late) {
    const Referrer* referrer = late.retention.referrer;
    if (!referrer) {
        return false;
    }
    const std::string container = container_key(*context.graph(), late.retention);
    return std::any_of(context.suspects().begin(), context.suspects().end(), [&](const LeakSuspect& suspect) {
        const bool is_same_path = suspect.referrer && suspect.referrer->links == referrer->links;
        return is_same_path || (!container.empty() && container == container_key(*context.graph(), suspect.retention));
    });
}

/// Returns whether it is retained by a reference cycle over a traceback.
bool is_by_traceback(const AnalysisContext& context, const LateMemory& late) {
    const Referrer* referrer = late.retention.retention.referrer;
    return referrer && is_cycle(*referrer) &&
           context.graph()->text(referrer->links[0].name).find("traceback") != std::string::npos;
}

bool has_name(const LateMemory& late) { return late.retention.retention.referrer != nullptr; }

void join(LateMemory& one, const LateMemory& other) {
    one.sites.insert(one.sites.end(), other.sites.begin(), other.sites.end());
    one.bytes += other.bytes;
    one.allocations.insert(one.allocations.end(), other.allocations.begin(), other.allocations.end());
}

/// Returns how well the referrer names a stored exception: by what stores it, as a part of a cycle, not at all.
int exception_rank(const LateMemory& late) {
    return !is_by_exception(late) ? 2 : is_cycle(*late.retention.retention.referrer) ? 1 : 0;
}

/// A scan after the functions of an exception's frames have returned finds a reference cycle over its traceback: memory
/// of the same iteration belongs to the exception. A batch shows its rise one iteration later, when the next one
/// exists.
void join_exceptions(const AnalysisContext& context, std::vector<LateMemory>& all) {
    std::stable_sort(all.begin(), all.end(),
                     [](const LateMemory& a, const LateMemory& b) { return exception_rank(a) < exception_rank(b); });
    if (all.empty() || !is_by_exception(all.front())) {
        return;
    }
    LateMemory& first = all.front();
    all.erase(std::remove_if(all.begin() + 1, all.end(),
                             [&](const LateMemory& late) {
                                 const bool is_same = late.since >= first.since && late.since <= first.since + 1 &&
                                                      is_by_traceback(context, late);
                                 if (is_same) {
                                     join(first, late);
                                 }
                                 return is_same;
                             }),
              all.end());
}

/// Memory without a known referrer that appeared in the same iteration as memory with one belongs to it.
void join_unnamed(std::vector<LateMemory>& sorted) {
    for (size_t i = sorted.size(); i-- > 1;) {
        const LateMemory& late = sorted[i];
        if (!has_name(late) && has_name(sorted.front()) && late.since == sorted.front().since) {
            join(sorted.front(), late);
            sorted.erase(sorted.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
}

class LateMemoryFinder {
public:
    LateMemoryFinder(const AnalysisContext& context, const std::vector<StackId>& explained)
        : context_(context), explained_(explained.begin(), explained.end()) {
        for (const LeakSuspect& suspect : context.suspects()) {
            for (const Site* site : suspect.sites) {
                explained_.insert(site->stack);
            }
        }
    }

    std::vector<LateMemory> find() {
        const SurvivingAllocations& surviving = context_.surviving_allocations();
        first_ = warm_up / surviving.iterations_per_slice();
        for (const Site& site : surviving.sites()) {
            const bool is_known = explained_.contains(site.stack);
            if (site.count > 0 && site.level.size() >= fewest_slices && !is_known) {
                add(site);
            }
        }
        return finish();
    }

private:
    void add(const Site& site) {
        const int64_t bytes = late_bytes(site, first_);
        const bool is_loop = context_.iterations().source() == IterationSource::loop;
        if (bytes <= 0 || site.trend.shape == Shape::rising || !is_settled(site, bytes) ||
            !stays_at_level(site, first_, bytes, site.level.size() - (is_loop ? 1 : 0)) ||
            is_accounted_for(context_, site)) {
            return;
        }
        const SampledRetention sampled =
            typical_retention(site, Growth::of_count, context_.graph(), context_.device_position());
        if (is_retained_with_a_suspect(context_, sampled)) {
            return;
        }
        LateMemory& late = by_key_[sampled.key];
        if (late.sites.empty()) {
            late.retention = sampled;
            const auto iteration_at = [&](double part) {
                return slice_of_rise(site, first_, part * static_cast<double>(bytes)) *
                       context_.surviving_allocations().iterations_per_slice();
            };
            late.since = iteration_at(0.5);
            late.begin = iteration_at(0.1);
            late.end = iteration_at(0.9);
        }
        late.sites.push_back(&site);
        late.bytes += bytes;
        add_allocations(late, site, bytes);
        total_ += bytes;
    }

    /// Adds those of the site's allocations that were made after the warm-up, without what the last iteration works
    /// with: the site may make it, too. If the program makes its memory anew in each iteration, there is nothing else.
    void add_allocations(LateMemory& late, const Site& site, int64_t bytes) const {
        const size_t warm = (first_ + 1) * context_.surviving_allocations().iterations_per_slice();
        const EventNumber begin = context_.iterations()[warm - 1].last;
        const EventNumber last = context_.iterations()[context_.iterations().size() - 1].first;
        std::vector<AllocationIndex> made, older;
        int64_t older_bytes = 0;
        for (const AllocationIndex a : site.now) {
            const EventNumber event = context_.device().allocations.alloc_event[a];
            if (event < begin) {
                continue;
            }
            made.push_back(a);
            if (event < last) {
                older.push_back(a);
                older_bytes += static_cast<int64_t>(context_.device().allocations.block_size[a]);
            }
        }
        const auto& kept = older_bytes * 5 >= bytes * 4 ? older : made;
        late.allocations.insert(late.allocations.end(), kept.begin(), kept.end());
    }

    std::vector<LateMemory> finish() {
        std::vector<LateMemory> found;
        const int64_t allocated = context_.curves().value(Series::allocated, context_.now());
        if (total_ < least_bytes || total_ * least_fraction < allocated) {
            return found;
        }
        for (auto& [key, late] : by_key_) {
            found.push_back(std::move(late));
        }
        join_exceptions(context_, found);
        std::sort(found.begin(), found.end(), [](const LateMemory& a, const LateMemory& b) {
            return std::pair(has_name(a), a.bytes) > std::pair(has_name(b), b.bytes);
        });
        join_unnamed(found);
        return found;
    }

    const AnalysisContext& context_;
    std::set<StackId> explained_;
    size_t first_ = 0;  ///< the slice after the warm-up
    int64_t total_ = 0;
    std::map<std::string, LateMemory> by_key_;
};

}  // namespace

bool is_accounted_for(const AnalysisContext& context, const Site& site) {
    const AllocationIndex newest = site.now.back();
    const uint32_t segment = context.device().allocations.segment[newest];
    if (segment != no_segment && is_private(context, context.device().segments[segment])) {
        return true;
    }
    if (!context.graph()) {
        return false;
    }
    return is_retained_by_model_or_library(
        context.graph()->categories.at({context.device_position(), newest}, context.now_time()));
}

bool is_by_exception(const LateMemory& late) {
    const Referrer* referrer = late.retention.retention.referrer;
    return referrer && leads_through_exception(*referrer);
}

std::vector<LateMemory> find_late_memory(const AnalysisContext& context, const std::vector<StackId>& explained) {
    return LateMemoryFinder(context, explained).find();
}

}  // namespace tidemark
