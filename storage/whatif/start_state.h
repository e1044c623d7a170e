// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The state of the allocator model before a history's first event.
#pragma once

#include <vector>

#include "storage/trace/trace.h"
#include "storage/whatif/caching_allocator.h"

namespace tidemark {

/// Adds the memory and the blocks of the state at event 0 to the model. `pools`: pool of each segment. Sets `block_of`
/// for each allocation that is alive then.
void adopt_start_state(const DeviceHistory& device, const std::vector<uint32_t>& pools, CachingAllocator& allocator,
                       std::vector<BlockIndex>& block_of);

/// Returns the bytes of the device, for address ranges: as recorded, or more than any device has.
uint64_t device_bytes(const DeviceHistory& device);

}  // namespace tidemark
