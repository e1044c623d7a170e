// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/driver/driver_memory.h"

#include <iterator>

#include "recorder/core/ring.h"

namespace tidemark::recorder {
namespace {

DriverChange change(tidemark_driver_action action, tidemark_memory memory, int device, uint64_t address, uint64_t size,
                    uint64_t handle = 0) {
    return {action, memory, device, address, size, handle, ticks()};
}

/// Returns whether the memory's address is that of its bytes. Arrays and physical memory have handles.
bool has_address(tidemark_memory memory) {
    return memory != TIDEMARK_MEMORY_ARRAY && memory != TIDEMARK_MEMORY_PHYSICAL;
}

bool takes_device_memory(tidemark_memory memory) {
    return memory == TIDEMARK_MEMORY_DEVICE || memory == TIDEMARK_MEMORY_ASYNC || memory == TIDEMARK_MEMORY_MANAGED;
}

/// Returns the range (with a size, by its first address) that contains an address; nullptr: none.
template <class Ranges>
const typename Ranges::value_type* containing(const Ranges& ranges, uint64_t address) {
    const auto next = ranges.upper_bound(address);
    if (next == ranges.begin()) {
        return nullptr;
    }
    const auto& before = *std::prev(next);
    return address - before.first < before.second.size ? &before : nullptr;
}

}  // namespace

DriverChange DriverMemory::change_of(tidemark_driver_action action, uint64_t address, const Allocation& allocation) {
    DriverChange made = change(action, allocation.place.memory, allocation.place.device, address, allocation.size);
    made.recording = allocation.recording;
    made.handle = allocation.made_address;
    return made;
}

DriverMemory::Allocation DriverMemory::made(const Place& place, uint64_t size) {
    constexpr uint64_t alignment = 512;
    Allocation allocation{place, size, ++last_ticket_, 0, recording_};
    if (!has_address(place.memory)) {
        allocation.made_address = next_made_address_;
        next_made_address_ += (size + alignment) / alignment * alignment;
    }
    return allocation;
}

void DriverMemory::end(Allocations::iterator allocation, DriverChanges& changes) {
    changes.push_back(change_of(TIDEMARK_DRIVER_FREE, allocation->first, allocation->second));
    allocations_.erase(allocation);
}

/// Ends allocations that are still listed here: they were freed during a pause, or by a call that has not returned yet.
void DriverMemory::end_overlapped(uint64_t address, uint64_t size, DriverChanges& changes) {
    auto next = allocations_.lower_bound(address);
    if (next != allocations_.begin()) {
        const auto before = std::prev(next);
        if (has_address(before->second.place.memory) && address - before->first < before->second.size) {
            end(before, changes);
        }
    }
    while (next != allocations_.end() && (next->first == address || next->first - address < size)) {
        const auto ended = next++;
        if (ended->first == address || has_address(ended->second.place.memory)) {
            end(ended, changes);
        }
    }
}

void DriverMemory::allocated(uint64_t address, uint64_t size, const Place& place, DriverChanges& changes) {
    end_overlapped(address, has_address(place.memory) ? size : 0, changes);
    changes.push_back(change_of(TIDEMARK_DRIVER_ALLOC, address, allocations_[address] = made(place, size)));
}

uint64_t DriverMemory::ticket(uint64_t address) const {
    const auto found = allocations_.find(address);
    return found == allocations_.end() ? 0 : found->second.ticket;
}

void DriverMemory::freed(uint64_t address, uint64_t ticket, const Place& unknown, DriverChanges& changes) {
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) {
        if (ticket == 0) {
            changes.push_back(change(TIDEMARK_DRIVER_FREE, unknown.memory, unknown.device, address, 0));
        }
        return;
    }
    if (found->second.ticket == ticket) {
        end(found, changes);
    }
}

void DriverMemory::physical_created(uint64_t handle, uint64_t size, const Place& place, DriverChanges& changes) {
    if (const auto old = physical_.find(handle); old != physical_.end()) {
        old->second.references = old->second.maps = 0;
        report_if_freed(handle, changes);
    }
    changes.push_back(change_of(TIDEMARK_DRIVER_ALLOC, handle, physical_[handle] = {made(place, size)}));
}

void DriverMemory::physical_retained(uint64_t handle) {
    if (const auto found = physical_.find(handle); found != physical_.end()) {
        ++found->second.references;
    }
}

uint64_t DriverMemory::physical_ticket(uint64_t handle) const {
    const auto found = physical_.find(handle);
    return found == physical_.end() ? 0 : found->second.ticket;
}

void DriverMemory::physical_released(uint64_t handle, uint64_t ticket, DriverChanges& changes) {
    if (const auto found = physical_.find(handle); found != physical_.end() && found->second.ticket == ticket) {
        --found->second.references;
        report_if_freed(handle, changes);
    }
}

void DriverMemory::mapped(uint64_t address, uint64_t size, uint64_t handle, int device, DriverChanges& changes) {
    unmapped(address, size, changes);
    if (const auto physical = physical_.find(handle); physical != physical_.end()) {
        ++physical->second.maps;
        device = physical->second.place.device;
    }
    mappings_[address] = {size, handle, device};
    changes.push_back(change(TIDEMARK_DRIVER_ALLOC, TIDEMARK_MEMORY_MAPPED, device, address, size, handle));
}

void DriverMemory::unmapped(uint64_t address, uint64_t size, DriverChanges& changes) {
    for (auto next = mappings_.lower_bound(address); next != mappings_.end() && next->first - address < size;) {
        unmap(next++, changes);
    }
}

void DriverMemory::unmap(std::map<uint64_t, Mapping>::iterator mapping, DriverChanges& changes) {
    const auto [address, map] = *mapping;
    mappings_.erase(mapping);
    changes.push_back(change(TIDEMARK_DRIVER_FREE, TIDEMARK_MEMORY_MAPPED, map.device, address, map.size, map.handle));
    if (const auto physical = physical_.find(map.handle); physical != physical_.end() && physical->second.maps > 0) {
        --physical->second.maps;
        report_if_freed(map.handle, changes);
    }
}

void DriverMemory::report_if_freed(uint64_t handle, DriverChanges& changes) {
    const auto found = physical_.find(handle);
    const Physical& physical = found->second;
    if (physical.references <= 0 && physical.maps <= 0) {
        changes.push_back(change_of(TIDEMARK_DRIVER_FREE, handle, physical));
        physical_.erase(found);
    }
}

void DriverMemory::set_pool_bytes(uint64_t pool, uint64_t bytes, int device, DriverChanges& changes) {
    Pool& known = pools_.try_emplace(pool, Pool{0, device}).first->second;
    if (bytes != known.bytes) {
        const bool more = bytes > known.bytes;
        changes.push_back(change(more ? TIDEMARK_DRIVER_ALLOC : TIDEMARK_DRIVER_FREE, TIDEMARK_MEMORY_POOL,
                                 known.device, pool, more ? bytes - known.bytes : known.bytes - bytes));
        known.bytes = bytes;
    }
}

void DriverMemory::pool_destroyed(uint64_t pool, DriverChanges& changes) {
    if (const auto found = pools_.find(pool); found != pools_.end()) {
        set_pool_bytes(pool, 0, found->second.device, changes);
        pools_.erase(pool);
    }
}

std::optional<DriverMemory::Block> DriverMemory::block_at(uint64_t address) const {
    if (const auto* found = containing(allocations_, address);
        found != nullptr && takes_device_memory(found->second.place.memory)) {
        return block_of(found->first, found->second);
    }
    const auto* mapping = containing(mappings_, address);
    const auto physical = mapping == nullptr ? physical_.end() : physical_.find(mapping->second.handle);
    return physical == physical_.end() ? std::nullopt : block_of(physical->second.made_address, physical->second);
}

std::optional<DriverMemory::Block> DriverMemory::block_of(uint64_t address, const Allocation& allocation) const {
    return allocation.recording == recording_ ? std::optional(Block{allocation.place.device, address}) : std::nullopt;
}

void DriverMemory::context_destroyed(const void* context, DriverChanges& changes) {
    for (auto next = allocations_.begin(); next != allocations_.end();) {
        const auto allocation = next++;
        if (allocation->second.place.context == context) {
            end(allocation, changes);
        }
    }
}

}  // namespace tidemark::recorder
