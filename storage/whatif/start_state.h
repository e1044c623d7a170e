// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The state of the allocator model before a history's first event.
#pragma once

#include <vector>

#include "storage/trace/trace.h"
#include "storage/whatif/caching_allocator.h"

namespace tidemark {

/// Gives the model the memory and the blocks of the state at event 0. `pools`: of each segment. `block_of` gets the
/// block of each allocation that is alive then.
void adopt_start_state(const DeviceHistory& device, const std::vector<uint32_t>& pools, CachingAllocator& allocator,
                       std::vector<BlockIndex>& block_of);

/// Bytes of the device, for address ranges: as recorded, or more than any has.
uint64_t device_bytes(const DeviceHistory& device);

}  // namespace tidemark
