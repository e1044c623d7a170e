// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/allocator/counters.h"

namespace tidemark {

const char* metric_name(Metric metric) {
    constexpr std::array<const char*, metric_count> names{
        "allocation",      "segment",        "active",       "inactive_split",
        "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes",
        "requested_bytes"};
    return names[static_cast<size_t>(metric)];
}

const char* pool_kind_name(PoolKind kind) {
    constexpr std::array<const char*, pool_kind_count> names{"all", "large_pool", "small_pool"};
    return names[static_cast<size_t>(kind)];
}

std::vector<int64_t> values_of(const Counters& counters) {
    std::vector<int64_t> values;
    values.reserve(counter_values);
    for (const auto& kinds : counters.stats) {
        for (const Stat& stat : kinds) {
            values.insert(values.end(), {stat.current, stat.peak, stat.allocated, stat.freed});
        }
    }
    return values;
}

void set_values(Counters& counters, std::span<const int64_t> values) {
    size_t at = 0;
    for (auto& kinds : counters.stats) {
        for (Stat& stat : kinds) {
            stat = {values[at], values[at + 1], values[at + 2], values[at + 3]};
            at += 4;
        }
    }
}

}  // namespace tidemark
