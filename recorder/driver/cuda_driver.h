// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Queries the CUDA driver of the program. No function allocates device memory or synchronizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tidemark::recorder::cuda_driver {

struct DeviceFacts {
    std::string name, pci_bus_id, uuid;  ///< "0000:65:00.0", "GPU-…"
    uint64_t total_bytes = 0;
};
/// Returns the facts of a device of this process, by its CUDA number.
std::optional<DeviceFacts> facts_of(int device);

/// Returns the device of the calling thread's context.
std::optional<int> current_device();

/// Returns the bytes of device memory that a pool has reserved. If `pool` is 0, sets it to the pool that
/// cuMemAllocAsync uses on `device`.
std::optional<uint64_t> pool_reserved(uint64_t& pool, int device);

/// Returns the size in bytes of the allocation that begins at the address; 0: unknown.
uint64_t allocation_size(uint64_t address);

}  // namespace tidemark::recorder::cuda_driver
