// What is asked of the CUDA driver itself, loaded already by the program: nothing here allocates or synchronizes.
#pragma once

#include <cstdint>
#include <optional>

namespace tidemark::recorder::cuda_driver {

/// Device of the calling thread's context.
std::optional<int> current_device();

/// Bytes a pool holds of its device's memory; `pool` 0: the pool that cuMemAllocAsync uses on `device`, which is put
/// into `pool`.
std::optional<uint64_t> pool_reserved(uint64_t& pool, int device);

/// Size of the allocation that begins at the address; 0: not known.
uint64_t allocation_size(uint64_t address);

}  // namespace tidemark::recorder::cuda_driver
