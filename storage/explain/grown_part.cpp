// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/grown_part.h"

namespace tidemark {
namespace {

constexpr size_t fewest_iterations = 3;

/// Returns the bytes that were made since the state `begin`.
int64_t bytes_since(std::span<const AllocationIndex> memory, const Allocations& allocations, EventNumber begin) {
    int64_t bytes = 0;
    for (const AllocationIndex a : memory) {
        bytes += allocations.alloc_event[a] < begin ? 0 : static_cast<int64_t>(allocations.block_size[a]);
    }
    return bytes;
}

/// Returns whether a part is less than half of the whole.
bool is_small(int64_t part, int64_t whole) { return part * 2 < whole; }

}  // namespace

bool is_of_many_iterations(const Site& site, const Iterations& iterations, const DeviceHistory& device) {
    size_t count = 0;
    int64_t before = -2;
    for (const AllocationIndex a : site.now) {
        const int64_t iteration = iterations.at(device.allocations.alloc_event[a]);
        count += iteration != before;
        before = iteration;
        if (count == fewest_iterations) {
            return true;
        }
    }
    return false;
}

GrownPart grown_part(const Site& site, std::span<const AllocationIndex> memory, const Iterations& iterations,
                     const DeviceHistory& device, size_t since) {
    GrownPart part;
    const int64_t bytes = bytes_since(memory, device.allocations, part.begin);
    if (!is_of_many_iterations(site, iterations, device)) {
        const bool is_replaced = site.trend.rise > 0 && is_small(site.trend.rise, bytes);
        part.share = is_replaced ? static_cast<double>(site.trend.rise) / static_cast<double>(bytes) : 1;
    } else if (const EventNumber begin = iterations[since].first;
               is_small(bytes_since(memory, device.allocations, begin), bytes)) {
        part.begin = begin;
    }
    return part;
}

}  // namespace tidemark
