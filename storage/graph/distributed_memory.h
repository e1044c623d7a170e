// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory that PyTorch's wrappers for several GPUs (DistributedDataParallel, FSDP, DTensor) allocate. The recorder sees
// no tensors in it: FSDP gathers parameters into memory of its own, and a DTensor hides the memory of its part.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

/// What the wrapper uses the memory for, by the functions on the stack that allocated it.
enum class DistributedUse : uint8_t {
    other,
    tensor,         ///< the part of a DTensor
    communication,  ///< buckets of gradients, and buffers of collectives
    reduction,      ///< of FSDP's gradients: a buffer, or what becomes the gradients of this rank
    unsharded,      ///< parameters that FSDP gathered from all ranks
};

/// Returns the use of each stack. Visits each stack once.
std::vector<DistributedUse> distributed_uses(const StackTable& stacks);

/// Returns, by allocation, whether it is a gradient of FSDP or of a DTensor: what a backward pass allocated for their
/// parameters, and what still exists when the next step() of an optimizer ends. `is_parameter`: by allocation.
std::vector<bool> distributed_gradients(const Trace& trace, const DeviceHistory& device,
                                        const std::vector<DistributedUse>& uses,
                                        const std::function<bool(AllocationIndex)>& is_parameter);

}  // namespace tidemark
