// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/surviving_allocations.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "storage/explain/paused_details.h"

namespace tidemark {
namespace {

constexpr size_t most_slices = 256;
constexpr size_t retained_of_site = 4096;

void keep_oldest_and_newest(std::vector<AllocationIndex>& now) {
    if (now.size() > retained_of_site) {
        const auto half = static_cast<std::ptrdiff_t>(retained_of_site / 2);
        now.erase(now.begin() + half, now.end() - half);
    }
}

/// Returns the sum of sites with the same line. The first has most bytes.
Site sum_of(std::span<const Site* const> sites) {
    Site sum = *sites.front();
    for (const Site* site : sites.subspan(1)) {
        std::transform(sum.level.begin(), sum.level.end(), site->level.begin(), sum.level.begin(), std::plus<>());
        sum.bytes += site->bytes;
        sum.count += site->count;
        sum.total_bytes += site->total_bytes;
        sum.total_count += site->total_count;
        sum.now.insert(sum.now.end(), site->now.begin(), site->now.end());
    }
    sum.trend = find_trend(sum.level);
    std::sort(sum.now.begin(), sum.now.end());
    keep_oldest_and_newest(sum.now);
    return sum;
}

bool is_rising(const Site* site) { return site->trend.shape == Shape::rising && site->count > 0; }

/// Returns the sum of the sites if it rises, without those that stay at a level higher than the rise: they take no part
/// in it. `of_line`: the sites of one line, most bytes first.
std::optional<Site> rising_sum(std::vector<const Site*> of_line) {
    Site sum = sum_of(of_line);
    if (!is_rising(&sum)) {
        return std::nullopt;
    }
    const size_t erased = std::erase_if(of_line, [&](const Site* site) {
        return site->trend.shape == Shape::flat && site->level.back() > sum.trend.rise;
    });
    if (erased > 0) {
        sum = sum_of(of_line);
    }
    return is_rising(&sum) ? std::optional(std::move(sum)) : std::nullopt;
}

/// `sites`: most bytes first.
std::vector<Site> find_rising_lines(const std::vector<Site>& sites, const StackTable& stacks) {
    std::map<std::pair<FrameId, bool>, std::vector<const Site*>> by_line;
    for (const Site& site : sites) {
        if (const FrameId line = stacks.site(site.stack); line != 0) {
            by_line[{line, site.is_backward}].push_back(&site);
        }
    }
    std::vector<Site> rising;
    for (const auto& [line, of_line] : by_line) {
        if (of_line.size() > 1 && of_line.front()->count > 0 &&
            std::none_of(of_line.begin(), of_line.end(), is_rising)) {
            if (std::optional<Site> sum = rising_sum(of_line)) {
                rising.push_back(std::move(*sum));
            }
        }
    }
    return rising;
}

/// Collects the sites and the changes of their levels.
class SiteCounter {
public:
    SiteCounter(const Trace& trace, const DeviceHistory& device, std::vector<EventNumber> ends, EventNumber now)
        : trace_(trace),
          device_(device),
          allocations_(device.allocations),
          paused_(trace),
          ends_(std::move(ends)),
          now_(now) {}

    std::vector<Site> count() {
        for (AllocationIndex a = 0; a < allocations_.size(); ++a) {
            add(a);
        }
        for (size_t i = 0; i < sites_.size(); ++i) {
            finish(sites_[i], requested_[i]);
        }
        std::sort(sites_.begin(), sites_.end(), [](const Site& a, const Site& b) { return a.bytes > b.bytes; });
        return std::move(sites_);
    }

private:
    void add(AllocationIndex a) {
        if (has_paused_details(a)) {
            return;  // it would form one site with all others, which nothing else has in common
        }
        const EventNumber made = allocations_.alloc_event[a], freed = allocations_.free_event[a];
        const auto bytes = static_cast<int64_t>(allocations_.block_size[a]);
        const auto requested = static_cast<int64_t>(allocations_.requested[a]);
        Site& site = site_of(a);
        site.total_bytes += bytes;
        ++site.total_count;
        if (made < now_ && now_ <= freed) {
            site.bytes += bytes;
            ++site.count;
            site.now.push_back(a);
        }
        while (slice_ < ends_.size() && ends_[slice_] <= made) {
            ++slice_;  // allocations are sorted by alloc event
        }
        if (slice_ == ends_.size() || freed < ends_[slice_]) {
            return;
        }
        std::vector<int64_t>& level_requested = requested_[static_cast<size_t>(&site - sites_.data())];
        site.level[slice_] += bytes;
        level_requested[slice_] += requested;
        const auto free_slice =
            static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), freed) - ends_.begin());
        if (free_slice < ends_.size()) {
            site.level[free_slice] -= bytes;
            level_requested[free_slice] -= requested;
        }
    }

    bool has_paused_details(AllocationIndex a) const {
        return paused_.any() && allocations_.stack[a] == 0 && paused_.contains(device_.alloc_time(a));
    }

    Site& site_of(AllocationIndex a) {
        const StackId stack = allocations_.stack[a];
        const uint32_t origin = allocations_.origin[a];
        const bool is_backward = trace_.origins[origin].phase == Phase::backward;
        const auto [found, is_new] = by_key_.try_emplace(uint64_t{stack} << 1 | is_backward, sites_.size());
        if (is_new) {
            Site& site = sites_.emplace_back();
            site.stack = stack;
            site.is_backward = is_backward;
            site.origin = origin;
            site.level.resize(ends_.size());
            requested_.emplace_back(ends_.size());
        }
        return sites_[found->second];
    }

    /// Determines the trend. Blocks vary by up to 1 MiB without growth, so what was requested decides whether it rises.
    static void finish(Site& site, std::vector<int64_t>& requested) {
        std::partial_sum(site.level.begin(), site.level.end(), site.level.begin());
        std::partial_sum(requested.begin(), requested.end(), requested.begin());
        const Trend of_requested = find_trend(requested);
        site.trend = find_trend(site.level);
        if (of_requested.shape == Shape::rising && site.trend.shape != Shape::rising) {
            site.level = std::move(requested);
            site.trend = of_requested;
        } else if (of_requested.shape != Shape::rising) {
            site.trend = of_requested;
        }
        keep_oldest_and_newest(site.now);
    }

    const Trace& trace_;
    const DeviceHistory& device_;
    const Allocations& allocations_;
    const PausedDetails paused_;
    std::vector<EventNumber> ends_;  ///< states at which the slices end
    EventNumber now_;
    size_t slice_ = 0;  ///< the first slice that ends after the allocation
    std::vector<Site> sites_;
    std::vector<std::vector<int64_t>> requested_;  ///< by site: bytes requested at the ends of slices
    std::unordered_map<uint64_t, size_t> by_key_;
};

}  // namespace

std::vector<AllocationIndex> allocations_of(const Site& site, const Trace& trace, const DeviceHistory& device) {
    const Allocations& allocations = device.allocations;
    std::vector<AllocationIndex> found;
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        const bool is_backward = trace.origins[allocations.origin[a]].phase == Phase::backward;
        if (allocations.stack[a] == site.stack && is_backward == site.is_backward) {
            found.push_back(a);
        }
    }
    return found;
}

SurvivingAllocations::SurvivingAllocations(const Trace& trace, const DeviceHistory& device,
                                           const Iterations& iterations, EventNumber now)
    : iterations_per_slice_(std::max<size_t>(1, (iterations.size() + most_slices - 1) / most_slices)) {
    std::vector<EventNumber> ends;
    for (size_t end = iterations_per_slice_; end <= iterations.size(); end += iterations_per_slice_) {
        ends.push_back(iterations[end - 1].last);
    }
    sites_ = SiteCounter(trace, device, std::move(ends), now).count();
    rising_lines_ = find_rising_lines(sites_, trace.stacks);
}

}  // namespace tidemark
