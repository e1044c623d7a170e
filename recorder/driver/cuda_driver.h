// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Queries the CUDA driver of the program. No function allocates or synchronizes.
#pragma once

#include <cstdint>
#include <optional>

namespace tidemark::recorder::cuda_driver {

/// Returns the device of the calling thread's context.
std::optional<int> current_device();

/// Returns the bytes of device memory that a pool has reserved. If `pool` is 0, sets it to the pool that
/// cuMemAllocAsync uses on `device`.
std::optional<uint64_t> pool_reserved(uint64_t& pool, int device);

/// Returns the size in bytes of the allocation that begins at the address; 0: unknown.
uint64_t allocation_size(uint64_t address);

}  // namespace tidemark::recorder::cuda_driver
