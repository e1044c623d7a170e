// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Tracks the driver memory of this process: finds the sizes of frees, and the end of physical memory.
//
// Receives the beginnings and ends of driver calls of all threads, and returns the changes. Another thread may get an
// address or a handle before the call that freed it returns. So a ticket, taken at the beginning of a free, identifies
// the memory that the call frees.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recorder/core/records.h"

namespace tidemark::recorder {

/// The content of one TIDEMARK_DRIVER record.
struct DriverChange {
    tidemark_driver_action action = TIDEMARK_DRIVER_ALLOC;
    tidemark_memory memory = TIDEMARK_MEMORY_DEVICE;
    int device = 0;
    uint64_t address = 0, size = 0, handle = 0;
    uint64_t ticks = 0;
    int recording = 0;      ///< that of its allocation, 0: allocated while none ran
    uint64_t sequence = 0;  ///< of its first event
    uint8_t events = 0;     ///< number of its events
};
using DriverChanges = std::vector<DriverChange>;

/// Not thread-safe.
class DriverMemory {
public:
    /// Arrays and physical memory have handles instead of addresses. Their events get addresses from here on, which no
    /// other memory has.
    static constexpr uint64_t first_made_address = uint64_t{1} << 60;

    struct Place {
        tidemark_memory memory = TIDEMARK_MEMORY_DEVICE;
        int device = 0;
        const void* context = nullptr;  ///< its destruction frees the memory; nullptr: the memory outlives contexts
    };

    /// Sets the number of the recording that runs now; 0: none.
    void set_recording(int number) { recording_ = number; }

    void allocated(uint64_t address, uint64_t size, const Place& place, DriverChanges& changes);
    /// Begins a free. Returns the ticket for freed().
    uint64_t ticket(uint64_t address) const;
    /// Ends a free. `unknown`: the kind assumed for memory older than the recording.
    void freed(uint64_t address, uint64_t ticket, const Place& unknown, DriverChanges& changes);

    void physical_created(uint64_t handle, uint64_t size, const Place& place, DriverChanges& changes);
    void physical_retained(uint64_t handle);
    uint64_t physical_ticket(uint64_t handle) const;
    void physical_released(uint64_t handle, uint64_t ticket, DriverChanges& changes);
    void mapped(uint64_t address, uint64_t size, uint64_t handle, int device, DriverChanges& changes);
    void unmapped(uint64_t address, uint64_t size, DriverChanges& changes);

    /// Sets the current size of a pool.
    void set_pool_bytes(uint64_t pool, uint64_t bytes, int device, DriverChanges& changes);
    void pool_destroyed(uint64_t pool, DriverChanges& changes);

    struct Block {
        int device = 0;
        uint64_t address = 0;  ///< of its events
    };
    /// Returns the device memory of the running recording that contains an address.
    std::optional<Block> block_at(uint64_t address) const;

    /// Ends the memory of a destroyed context.
    void context_destroyed(const void* context, DriverChanges& changes);

private:
    struct Allocation {
        Place place;
        uint64_t size = 0, ticket = 0, made_address = 0;
        int recording = 0;
    };
    struct Physical : Allocation {
        int references = 1, maps = 0;
    };
    struct Mapping {
        uint64_t size = 0, handle = 0;
        int device = 0;
    };
    struct Pool {
        uint64_t bytes = 0;
        int device = 0;
    };
    using Allocations = std::map<uint64_t, Allocation>;
    Allocation made(const Place& place, uint64_t size);
    static DriverChange change_of(tidemark_driver_action action, uint64_t address, const Allocation& allocation);
    std::optional<Block> block_of(uint64_t address, const Allocation& allocation) const;
    void end(Allocations::iterator allocation, DriverChanges& changes);
    void end_overlapped(uint64_t address, uint64_t size, DriverChanges& changes);
    void report_if_freed(uint64_t handle, DriverChanges& changes);
    void unmap(std::map<uint64_t, Mapping>::iterator mapping, DriverChanges& changes);

    Allocations allocations_;
    std::unordered_map<uint64_t, Physical> physical_;
    std::map<uint64_t, Mapping> mappings_;
    std::unordered_map<uint64_t, Pool> pools_;
    uint64_t last_ticket_ = 0, next_made_address_ = first_made_address;
    int recording_ = 0;
};

}  // namespace tidemark::recorder
