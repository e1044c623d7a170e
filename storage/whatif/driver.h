// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The source of the model's memory. Corresponds to cudaMalloc, cudaFree and the driver's virtual memory calls.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/allocator/block_map.h"

namespace tidemark {

class Driver {
public:
    virtual ~Driver() = default;

    /// Returns the address of a new segment; nothing if out of memory.
    virtual std::optional<uint64_t> allocate(uint64_t size, const SegmentOwner& owner) = 0;
    virtual void free(uint64_t address, uint64_t size) = 0;

    /// Reserves a range of addresses without memory, for expandable segments of this owner.
    virtual uint64_t reserve_addresses(uint64_t size, const SegmentOwner& owner) = 0;
    /// Maps memory into a part of such a range. Returns false if out of memory.
    virtual bool map(uint64_t address, uint64_t size) = 0;
    virtual void unmap(uint64_t address, uint64_t size) = 0;
};

}  // namespace tidemark
