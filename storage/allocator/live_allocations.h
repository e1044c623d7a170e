// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The allocations that have not been freed, by address. Millions may be alive, so each takes about 40 bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "storage/allocator/address_index.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// An allocation whose row has no end yet.
struct LiveAllocation {
    LiveAllocation(const FileAllocation& allocation, uint32_t id_of_row, bool is_pending_free)
        : address(allocation.address),
          size(allocation.block_size),
          requested(allocation.requested & UINT64_MAX >> 1),
          is_pending(is_pending_free),
          id(id_of_row),
          stack(allocation.stack) {}

    uint64_t address, size;   ///< bytes
    uint64_t requested : 63;  ///< bytes
    bool is_pending : 1;      ///< its free was requested
    uint32_t id;              ///< of its row: FoldSink::LifetimeId
    StackId stack;
};
static_assert(sizeof(LiveAllocation) == 32);

/// At most one allocation per address. Not thread-safe.
class LiveAllocations {
public:
    /// Returns nullptr if there is none. The next change of the table invalidates the pointer.
    LiveAllocation* find(uint64_t address) {
        const uint32_t number = index_.find(all_, address);
        return number == AddressIndex::none ? nullptr : &all_[number];
    }
    const LiveAllocation* find(uint64_t address) const { return const_cast<LiveAllocations*>(this)->find(address); }

    /// Adds an allocation, or replaces the one at its address.
    void set(const LiveAllocation& allocation) {
        if (LiveAllocation* const found = find(allocation.address)) {
            *found = allocation;
            return;
        }
        all_.push_back(allocation);
        index_.add(all_, static_cast<uint32_t>(all_.size() - 1));
    }

    /// Removes the allocation at an address and returns it; nothing if there is none.
    std::optional<LiveAllocation> take(uint64_t address) {
        const uint32_t number = index_.find(all_, address);
        if (number == AddressIndex::none) {
            return std::nullopt;
        }
        const LiveAllocation taken = all_[number];
        index_.remove(address, number);
        if (const auto last = static_cast<uint32_t>(all_.size() - 1); number != last) {
            index_.renumber(all_[last].address, last, number);
            all_[number] = all_[last];
        }
        all_.pop_back();
        return taken;
    }

    // In any order.
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }

private:
    std::deque<LiveAllocation> all_;  ///< without gaps; a vector would need twice the memory whenever it grows
    AddressIndex index_;
};

}  // namespace tidemark
