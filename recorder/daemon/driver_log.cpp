// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/driver_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "storage/base/units.h"

namespace tidemark::recorder {

namespace {

constexpr std::array<DriverMemoryKind, TIDEMARK_MEMORY_ARRAY + 1> kinds{
    DriverMemoryKind::device, DriverMemoryKind::async,  DriverMemoryKind::pool,    DriverMemoryKind::physical,
    DriverMemoryKind::mapped, DriverMemoryKind::pinned, DriverMemoryKind::managed, DriverMemoryKind::array};
constexpr int64_t always = INT64_MAX;
constexpr size_t most_gaps = 10'000, most_levels = 4096;

/// Returns whether memory of a kind takes bytes of the device. Memory of cudaMallocAsync does not: its pool does.
bool takes_device_memory(uint8_t memory) {
    return memory != TIDEMARK_MEMORY_MAPPED && memory != TIDEMARK_MEMORY_PINNED && memory != TIDEMARK_MEMORY_ASYNC;
}

/// Physical memory outlives contexts; pools belong to devices.
bool ends_with_context(uint8_t memory) {
    return memory != TIDEMARK_MEMORY_PHYSICAL && memory != TIDEMARK_MEMORY_MAPPED && memory != TIDEMARK_MEMORY_POOL;
}

}  // namespace

void DriverLog::on_record(const tidemark_record& record, const ThreadDefinitions& thread) {
    const int64_t time = clock_.time_of(record.ticks);
    Device& device = devices_[record.driver.device];
    const bool is_known_kind = record.driver.memory < kinds.size() && record.driver.size <= largest_size;
    switch (record.detail) {
        case TIDEMARK_DRIVER_ALLOC:
            if (is_known_kind) {
                allocated(record, thread);
            }
            break;
        case TIDEMARK_DRIVER_FREE:
            if (is_known_kind && record.driver.memory == TIDEMARK_MEMORY_POOL) {
                pool_changed(record, thread, false);
            } else if (is_known_kind) {
                freed(record);
            }
            break;
        case TIDEMARK_DRIVER_CONTEXT_CREATED:
            ++device.contexts;
            device.last_context = time;
            break;
        case TIDEMARK_DRIVER_CONTEXT_DESTROYED: context_destroyed(record.driver.device, time); break;
        case TIDEMARK_DRIVER_MODULE_LOADED: device.modules.push_back({time, record.driver.size}); break;
        case TIDEMARK_DRIVER_CAPTURE_ON:
            is_recorded_ = true;
            if (unrecorded_since_ && unrecorded_.size() < most_gaps) {
                unrecorded_.emplace_back(*unrecorded_since_, time);
            }
            unrecorded_since_.reset();
            break;
        case TIDEMARK_DRIVER_CAPTURE_OFF:
            if (is_recorded_ && !unrecorded_since_) {
                unrecorded_since_ = time;
            }
            break;
        default: break;
    }
    device.last_change = std::max(device.last_change, time);
}

void DriverLog::allocated(const tidemark_record& record, const ThreadDefinitions& thread) {
    if (record.driver.memory == TIDEMARK_MEMORY_POOL) {
        pool_changed(record, thread, true);
        return;
    }
    Device& device = devices_[record.driver.device];
    end(device, record.driver.memory, record.driver.address, clock_.time_of(record.ticks));
    put(device, record, thread, record.driver.size);
}

/// A pool has one row for each of its sizes.
void DriverLog::pool_changed(const tidemark_record& record, const ThreadDefinitions& thread, bool more) {
    Device& device = devices_[record.driver.device];
    const auto& live = device.live[TIDEMARK_MEMORY_POOL];
    const auto found = live.find(record.driver.address);
    const uint64_t before = found == live.end() ? 0 : found->second.size;
    const uint64_t change = record.driver.size;
    const uint64_t after = more ? std::min(before + change, largest_size) : change < before ? before - change : 0;
    end(device, TIDEMARK_MEMORY_POOL, record.driver.address, clock_.time_of(record.ticks));
    if (after > 0) {
        put(device, record, thread, after);
    }
}

void DriverLog::put(Device& device, const tidemark_record& record, const ThreadDefinitions& thread, uint64_t bytes) {
    const auto& driver = record.driver;
    const ThreadDefinitions* stack_thread = driver.stack_thread == 0 ? &thread : definitions_.find(driver.stack_thread);
    DriverAllocation row;
    row.kind = kinds[driver.memory];
    row.device = driver.memory == TIDEMARK_MEMORY_PINNED ? -1 : driver.device;
    row.address = driver.address;
    row.bytes = bytes;
    row.time = clock_.time_of(record.ticks);
    row.source = writer_.stacks().string(thread.text(driver.source));
    row.stack =
        stack_thread == nullptr ? 0 : stack_thread->stack(driver.stack).value_or(ThreadDefinitions::Stack()).stack;
    Live& live = device.live[driver.memory][driver.address];
    live = {writer_.driver_allocated(row, no_segment), bytes, driver.handle, row.time, false};
    change_bytes(device, driver.memory, static_cast<int64_t>(bytes), row.time);
    match_record(device, driver.memory, driver.address, live);
}

void DriverLog::freed(const tidemark_record& record) {
    const int64_t time = clock_.time_of(record.ticks);
    Device& device = devices_[record.driver.device];
    if (device.live[record.driver.memory].contains(record.driver.address)) {
        end(device, record.driver.memory, record.driver.address, time);
        return;
    }
    // The device of a free may differ from that of the alloc: both name the current device.
    for (auto& [id, other] : devices_) {
        end(other, record.driver.memory, record.driver.address, time);
    }
}

void DriverLog::end(Device& device, uint8_t memory, uint64_t address, int64_t time) {
    const auto found = device.live[memory].find(address);
    if (found != device.live[memory].end()) {
        writer_.driver_freed(found->second.id, time);
        change_bytes(device, memory, -static_cast<int64_t>(found->second.size), time);
        device.last_change = std::max(device.last_change, time);
        device.live[memory].erase(found);
    }
}

void DriverLog::change_bytes(Device& device, uint8_t memory, int64_t bytes, int64_t time) {
    if (!takes_device_memory(memory)) {
        return;
    }
    device.bytes += bytes;
    device.levels.emplace_back(time, device.bytes);
    if (device.levels.size() > most_levels) {
        device.bytes_before_levels = device.levels.front().second;
        device.levels.pop_front();
    }
}

void DriverLog::context_destroyed(int id, int64_t time) {
    Device& device = devices_[id];
    for (uint8_t memory = 0; memory < kinds.size(); ++memory) {
        while (ends_with_context(memory) && !device.live[memory].empty()) {
            end(device, memory, device.live[memory].begin()->first, time);
        }
    }
}

void DriverLog::segments_changed(int id, const std::vector<SegmentChange>& changes) {
    Device& device = devices_[id];
    for (const SegmentChange& change : changes) {
        if (!change.is_added) {
            device.segments.erase(change.address);
            device.last_change = std::max(device.last_change, change.time);
            continue;
        }
        const bool from_before = change.time == before_all_times;
        const KnownSegment segment{change.address + change.size, change.position, from_before ? always : change.time};
        device.segments[change.address] = segment;
        match_segment(device, change.address, segment);
        if (!from_before) {
            device.last_change = std::max(device.last_change, change.time);
        }
    }
}

void DriverLog::match(Device& device, uint8_t memory, Live& live, uint32_t position) {
    if (live.is_matched) {
        return;
    }
    live.is_matched = true;
    writer_.driver_in_segment(live.id, position);
    if (memory == TIDEMARK_MEMORY_MAPPED) {
        auto& physical = device.live[TIDEMARK_MEMORY_PHYSICAL];
        if (const auto found = physical.find(live.handle); found != physical.end() && !found->second.is_matched) {
            found->second.is_matched = true;
            writer_.driver_in_segment(found->second.id, position);
        }
    }
}

// The driver allocates memory before the allocator reports the segment. An older segment had the address before.
void DriverLog::match_record(Device& device, uint8_t memory, uint64_t address, Live& live) {
    if (memory != TIDEMARK_MEMORY_DEVICE && memory != TIDEMARK_MEMORY_MAPPED) {
        return;
    }
    auto segment = device.segments.upper_bound(address);
    if (segment == device.segments.begin()) {
        return;
    }
    --segment;
    const bool covers = memory == TIDEMARK_MEMORY_DEVICE ? segment->first == address : address < segment->second.end;
    if (covers && segment->second.time >= live.time) {
        match(device, memory, live, segment->second.position);
    }
}

void DriverLog::match_segment(Device& device, uint64_t address, const KnownSegment& segment) {
    auto& whole = device.live[TIDEMARK_MEMORY_DEVICE];
    if (const auto found = whole.find(address); found != whole.end() && found->second.time <= segment.time) {
        match(device, TIDEMARK_MEMORY_DEVICE, found->second, segment.position);
    }
    auto& mapped = device.live[TIDEMARK_MEMORY_MAPPED];
    auto map = mapped.upper_bound(address);
    if (map != mapped.begin() && std::prev(map)->first + std::prev(map)->second.size > address) {
        --map;
    }
    for (; map != mapped.end() && map->first < segment.end; ++map) {
        if (map->second.time <= segment.time) {
            match(device, TIDEMARK_MEMORY_MAPPED, map->second, segment.position);
        }
    }
}

std::optional<int64_t> DriverLog::bytes_on(int device) const {
    if (!is_recorded_ || unrecorded_since_) {
        return std::nullopt;
    }
    const auto found = devices_.find(device);
    return found == devices_.end() ? 0 : found->second.bytes;
}

std::optional<int64_t> DriverLog::least_bytes_on(int id, int64_t from, int64_t until) const {
    if (!bytes_on(id)) {
        return std::nullopt;
    }
    const auto found = devices_.find(id);
    if (found == devices_.end()) {
        return 0;
    }
    int64_t before = found->second.bytes_before_levels, least = INT64_MAX;
    for (const auto& [time, bytes] : found->second.levels) {
        if (time < from) {
            before = bytes;
        } else if (time <= until) {
            least = std::min(least, bytes);
        }
    }
    return std::min(before, least);
}

int64_t DriverLog::last_change(int device) const {
    const auto found = devices_.find(device);
    return found == devices_.end() ? INT64_MIN / 2 : found->second.last_change;
}

std::vector<int> DriverLog::devices() const {
    std::vector<int> known;
    for (const auto& [id, device] : devices_) {
        known.push_back(id);
    }
    return known;
}

int64_t DriverLog::contexts_on(int device) const {
    const auto found = devices_.find(device);
    return found == devices_.end() ? 0 : found->second.contexts;
}

int64_t DriverLog::last_context_on(int device) const {
    const auto found = devices_.find(device);
    return found == devices_.end() ? 0 : found->second.last_context;
}

std::span<const DriverLog::ModuleLoad> DriverLog::modules_on(int device) const {
    const auto found = devices_.find(device);
    return found == devices_.end() ? std::span<const ModuleLoad>() : std::span<const ModuleLoad>(found->second.modules);
}

std::vector<std::pair<int64_t, int64_t>> DriverLog::gaps(int64_t end) const {
    auto all = unrecorded_;
    if (unrecorded_since_) {
        all.emplace_back(*unrecorded_since_, end);
    }
    return all;
}

}  // namespace tidemark::recorder
