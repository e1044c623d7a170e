// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/attribution/histogram.h"

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

constexpr int smallest_power = 9;  // PyTorch rounds blocks to 512 bytes
constexpr int largest_power = 50;
constexpr uint64_t microsecond = 1000, second = 1'000'000'000, minute = 60 * second, hour = 60 * minute;

/// Returns 0 and the begins of the bins above it.
std::vector<uint64_t> size_edges() {
    std::vector<uint64_t> edges{0};
    for (int power = smallest_power; power < largest_power; ++power) {
        for (const uint64_t thirds : {3, 4, 5}) {
            edges.push_back(((uint64_t{1} << power) * thirds + 2) / 3);
        }
    }
    return edges;
}

std::vector<uint64_t> time_edges() {
    std::vector<uint64_t> edges{0};
    for (uint64_t decade = microsecond; decade < 10 * second; decade *= 10) {
        for (const uint64_t factor : {1, 2, 5}) {
            edges.push_back(factor * decade);
        }
    }
    for (const uint64_t seconds : {10, 20, 30}) {
        edges.push_back(seconds * second);
    }
    for (const uint64_t unit : {minute, hour}) {
        for (const uint64_t factor : {1, 2, 5, 10, 20, 30}) {
            edges.push_back(factor * unit);
        }
    }
    return edges;
}

std::vector<uint64_t> iteration_edges() {
    std::vector<uint64_t> edges{0, 1};
    for (uint64_t power = 2; power < uint64_t{1} << 32; power *= 2) {
        edges.push_back(power);
        edges.push_back(power + power / 2);
    }
    return edges;
}

uint16_t bin_of(const std::vector<uint64_t>& edges, uint64_t value) {
    return static_cast<uint16_t>(std::upper_bound(edges.begin(), edges.end(), value) - edges.begin() - 1);
}

/// Returns the number of iterations that begin after the event `made` and not after `freed`.
uint64_t iterations_between(std::span<const EventNumber> begins, EventNumber made, EventNumber freed) {
    const auto first = std::upper_bound(begins.begin(), begins.end(), made);
    return static_cast<uint64_t>(std::max<ptrdiff_t>(0, std::upper_bound(first, begins.end(), freed) - first));
}

/// Moves the bins of all allocations so that the first used one is 0. Returns the used bins.
std::vector<HistogramBin> used_bins(const std::vector<uint64_t>& edges, std::vector<uint16_t>& bin_of_row) {
    const auto is_used = [&](uint16_t bin) { return bin < edges.size(); };  // not "never freed"
    size_t first = edges.size(), last = 0;
    for (const uint16_t bin : bin_of_row) {
        if (is_used(bin)) {
            first = std::min<size_t>(first, bin);
            last = std::max<size_t>(last, bin);
        }
    }
    std::vector<HistogramBin> bins;
    for (size_t bin = first; first < edges.size() && bin <= last; ++bin) {
        bins.push_back({edges[bin], bin + 1 < edges.size() ? edges[bin + 1] : UINT64_MAX});
    }
    for (uint16_t& bin : bin_of_row) {
        bin = is_used(bin) ? static_cast<uint16_t>(bin - first) : static_cast<uint16_t>(bins.size());
    }
    return bins;
}

}  // namespace

HistogramAmount& HistogramAmount::operator+=(const HistogramAmount& other) {
    allocations += other.allocations;
    bytes += other.bytes;
    return *this;
}

Histograms::Histograms(const DeviceHistory& device, std::vector<AllocationIndex> allocations,
                       std::span<const EventNumber> iterations)
    : lifetime_kind_(iterations.empty() ? HistogramOf::lifetime : HistogramOf::iterations),
      allocations_(std::move(allocations)) {
    const Allocations& all = device.allocations;
    const std::vector<uint64_t> by_size = size_edges();
    const std::vector<uint64_t> by_lifetime = iterations.empty() ? time_edges() : iteration_edges();
    const auto lifetime = [&](AllocationIndex a) {
        return iterations.empty()
                   ? static_cast<uint64_t>(std::max<int64_t>(0, device.free_time(a).value_or(0) - device.alloc_time(a)))
                   : iterations_between(iterations, all.alloc_event[a], all.free_event[a]);
    };
    size_bin_.reserve(allocations_.size());
    lifetime_bin_.reserve(allocations_.size());
    for (const AllocationIndex a : allocations_) {
        size_bin_.push_back(bin_of(by_size, all.block_size[a]));
        lifetime_bin_.push_back(all.free_event[a] == never ? static_cast<uint16_t>(by_lifetime.size())
                                                           : bin_of(by_lifetime, lifetime(a)));
    }
    if (!allocations_.empty()) {
        sizes_ = used_bins(by_size, size_bin_);
        lifetimes_ = used_bins(by_lifetime, lifetime_bin_);
        lifetimes_.push_back({0, 0, true});
    }
    cells_.resize(sizes_.size() * lifetimes_.size());
    for (size_t i = 0; i < allocations_.size(); ++i) {
        cells_[size_bin_[i] * lifetimes_.size() + lifetime_bin_[i]] +=
            {1, static_cast<int64_t>(all.block_size[allocations_[i]])};
    }
}

std::vector<HistogramAmount> Histograms::by_size(const std::optional<BinRange>& lifetimes) const {
    std::vector<HistogramAmount> amounts(sizes_.size());
    for (size_t size = 0; size < sizes_.size(); ++size) {
        for (size_t lifetime = 0; lifetime < lifetimes_.size(); ++lifetime) {
            if (!lifetimes || lifetimes->contains(lifetime)) {
                amounts[size] += cell(size, lifetime);
            }
        }
    }
    return amounts;
}

std::vector<HistogramAmount> Histograms::by_lifetime(const std::optional<BinRange>& sizes) const {
    std::vector<HistogramAmount> amounts(lifetimes_.size());
    for (size_t size = 0; size < sizes_.size(); ++size) {
        for (size_t lifetime = 0; lifetime < lifetimes_.size(); ++lifetime) {
            if (!sizes || sizes->contains(size)) {
                amounts[lifetime] += cell(size, lifetime);
            }
        }
    }
    return amounts;
}

std::vector<AllocationIndex> Histograms::allocations_in(const std::optional<BinRange>& sizes,
                                                        const std::optional<BinRange>& lifetimes) const {
    std::vector<AllocationIndex> found;
    for (size_t i = 0; i < allocations_.size(); ++i) {
        if ((!sizes || sizes->contains(size_bin_[i])) && (!lifetimes || lifetimes->contains(lifetime_bin_[i]))) {
            found.push_back(allocations_[i]);
        }
    }
    return found;
}

HistogramAmount Histograms::total() const {
    HistogramAmount sum;
    for (const HistogramAmount& amount : cells_) {
        sum += amount;
    }
    return sum;
}

std::vector<AllocationIndex> active_within(const Allocations& all, EventNumber first, EventNumber last) {
    std::vector<AllocationIndex> found;
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        if (all.alloc_event[a] < last && all.free_completed[a] >= first) {
            found.push_back(a);
        }
    }
    return found;
}

}  // namespace tidemark
