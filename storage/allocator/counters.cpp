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

}  // namespace tidemark
