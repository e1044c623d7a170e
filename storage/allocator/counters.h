// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The counters of torch.cuda.memory_stats(), computed as the allocator computes them. Names and meaning come from
// c10/core/CachingDeviceAllocator.h (DeviceStats) and torch/cuda/memory.py.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidemark {

enum class Metric : uint8_t {
    allocation,      ///< allocations the owner has not freed
    segment,         ///< segments from cudaMalloc (expandable memory adds none)
    active,          ///< blocks allocated or pending free
    inactive_split,  ///< free blocks in segments that are split (expandable memory adds none)
    allocated_bytes,
    reserved_bytes,
    active_bytes,
    inactive_split_bytes,
    requested_bytes,
};
constexpr int metric_count = 9;

/// Returns PyTorch's key: "allocated_bytes".
const char* metric_name(Metric metric);

enum class PoolKind : uint8_t { all, large, small };  // in the order of torch.cuda.memory_summary()
constexpr int pool_kind_count = 3;
/// Returns PyTorch's key: "all", "small_pool", "large_pool".
const char* pool_kind_name(PoolKind kind);

/// Bytes or counts since the trace's first event (PyTorch counts since process start).
struct Stat {
    int64_t current = 0, peak = 0, allocated = 0, freed = 0;

    void increase(int64_t amount) {
        current += amount;
        allocated += amount;
        if (current > peak) {
            peak = current;
        }
    }
    void decrease(int64_t amount) {
        current -= amount;
        freed += amount;
    }
    bool operator==(const Stat&) const = default;
};

struct Counters {
    std::array<std::array<Stat, pool_kind_count>, metric_count> stats{};
    Stat oversize_allocations, oversize_segments;
    int64_t num_alloc_retries = 0, num_ooms = 0, num_device_alloc = 0, num_device_free = 0;

    bool retries_known = true;  ///< false: with these allocator settings events do not show retries

    Stat& at(Metric m, PoolKind p) { return stats[static_cast<size_t>(m)][static_cast<size_t>(p)]; }
    const Stat& at(Metric m, PoolKind p) const { return stats[static_cast<size_t>(m)][static_cast<size_t>(p)]; }

    void increase(Metric m, bool is_large, int64_t amount) {
        at(m, PoolKind::all).increase(amount);
        at(m, is_large ? PoolKind::large : PoolKind::small).increase(amount);
    }
    void decrease(Metric m, bool is_large, int64_t amount) {
        at(m, PoolKind::all).decrease(amount);
        at(m, is_large ? PoolKind::large : PoolKind::small).decrease(amount);
    }
    bool operator==(const Counters&) const = default;
};

/// The number of values in `stats`: current, peak, allocated and freed of each.
constexpr size_t counter_values = size_t{metric_count} * pool_kind_count * 4;
/// Returns the values of `stats`, by metric, then by kind of pool.
std::vector<int64_t> values_of(const Counters& counters);
/// Sets `stats`. Requires counter_values values.
void set_values(Counters& counters, std::span<const int64_t> values);

}  // namespace tidemark
