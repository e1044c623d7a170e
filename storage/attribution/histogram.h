// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Histograms of allocations by size and by lifetime, in log-scaled bins.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

enum class HistogramOf : uint8_t {
    size,        ///< bytes of the block
    lifetime,    ///< ns from the allocation to the request to free it
    iterations,  ///< number of iterations that began in between
};

/// Allocations with from <= value < to. UINT64_MAX as `to`: no limit.
struct HistogramBin {
    uint64_t from = 0, to = 0;
    bool never_freed = false;  ///< the last bin of lifetimes: those without an end; from and to are 0
    bool operator==(const HistogramBin&) const = default;
};

struct HistogramAmount {
    int64_t allocations = 0;
    int64_t bytes = 0;  ///< of the blocks
    HistogramAmount& operator+=(const HistogramAmount& other);
    bool operator==(const HistogramAmount&) const = default;
};

/// Bins from `first` to `last`, both included.
struct BinRange {
    size_t first = 0, last = 0;
    bool contains(size_t bin) const { return first <= bin && bin <= last; }
    bool operator==(const BinRange&) const = default;
};

/// Counts allocations by size and by lifetime together, so that a range of one shows its part of the other without
/// another visit of the allocations. Immutable. Thread: any. Keeps no references.
///
/// Sizes have three bins per power of two, times those of clocks (1, 2, 5; minutes and hours), iterations two bins per
/// power of two. Bins before the first and behind the last allocation are left out; "never freed" always exists. An
/// allocation that is older than the history counts from the first event.
class Histograms {
public:
    Histograms() = default;
    /// `allocations`: ascending. `iterations`: the states in which iterations begin, ascending, for lifetimes in
    /// iterations; empty: lifetimes in time.
    Histograms(const DeviceHistory& device, std::vector<AllocationIndex> allocations,
               std::span<const EventNumber> iterations = {});

    /// Returns what the second axis counts.
    HistogramOf lifetime_kind() const { return lifetime_kind_; }
    const std::vector<HistogramBin>& sizes() const { return sizes_; }
    const std::vector<HistogramBin>& lifetimes() const { return lifetimes_; }
    /// Returns an amount for each bin of sizes, of the allocations within these lifetimes.
    std::vector<HistogramAmount> by_size(const std::optional<BinRange>& lifetimes = {}) const;
    /// Returns an amount for each bin of lifetimes, of the allocations within these sizes.
    std::vector<HistogramAmount> by_lifetime(const std::optional<BinRange>& sizes = {}) const;
    /// Returns the allocations within both ranges, ascending.
    std::vector<AllocationIndex> allocations_in(const std::optional<BinRange>& sizes,
                                                const std::optional<BinRange>& lifetimes) const;
    HistogramAmount total() const;

private:
    const HistogramAmount& cell(size_t size, size_t lifetime) const {
        return cells_[size * lifetimes_.size() + lifetime];
    }

    HistogramOf lifetime_kind_ = HistogramOf::lifetime;
    std::vector<HistogramBin> sizes_, lifetimes_;
    std::vector<HistogramAmount> cells_;  ///< [size bin][lifetime bin]
    std::vector<AllocationIndex> allocations_;
    std::vector<uint16_t> size_bin_, lifetime_bin_;  ///< of each of these allocations
};

/// Returns the allocations that are active in any state from `first` to `last`, ascending.
std::vector<AllocationIndex> active_within(const Allocations& all, EventNumber first, EventNumber last);

}  // namespace tidemark
