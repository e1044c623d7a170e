// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorder's side of the shared memory. Another process writes it, so counts are copied once when the region is
// mapped, and damaged content never causes an access outside of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "recorder/core/ring.h"
#include "storage/base/result.h"

namespace tidemark::recorder {

class MappedRegion {
public:
    /// Maps the region. Errors (environment): not a region, another version, or smaller than its header says.
    static Result<MappedRegion> map(int file);
    MappedRegion(MappedRegion&& other) noexcept;
    MappedRegion& operator=(MappedRegion&& other) noexcept;
    ~MappedRegion();

    RegionHeader& header() const { return *reinterpret_cast<RegionHeader*>(base_); }
    uint32_t ring_count() const { return ring_count_; }
    uint64_t ring_capacity() const { return ring_capacity_; }
    RingHeader& ring(uint32_t index) const;
    const tidemark_record* slots(uint32_t index) const;
    /// Sleeps until the program wakes the recorder, but no longer than this.
    void sleep_until_woken(std::chrono::nanoseconds longest) const;

private:
    MappedRegion() = default;
    std::byte* base_ = nullptr;
    size_t bytes_ = 0;
    uint32_t ring_count_ = 0;
    uint64_t ring_capacity_ = 0;
};

/// Reads messages from one ring.
class RingReader {
public:
    RingReader(RingHeader& ring, const tidemark_record* slots, uint64_t capacity)
        : ring_(&ring), slots_(slots), capacity_(capacity) {}

    /// Calls visit(record, payload) for the next messages, at most about `limit` records. Returns the number of records
    /// read; 0: the ring is empty.
    template <class Visit>
    uint64_t read(uint64_t limit, Visit&& visit) {
        uint64_t at = ring_->tail.load(std::memory_order_relaxed);
        const uint64_t head = at + available();
        uint64_t read = 0;
        while (at != head && read < limit) {
            const tidemark_record record = slots_[at & (capacity_ - 1)];
            const uint64_t size = size_of(record);
            if (size == 0 || size > head - at || record.bytes > uint64_t{record.extra} * sizeof(tidemark_record)) {
                at = head;
                ++damages_;
                break;
            }
            if (record.kind != TIDEMARK_JUMP) {
                visit(record, payload(at + 1, record));
                read += size;
            }
            at += size;
        }
        ring_->tail.store(at, std::memory_order_release);
        return read;
    }

    /// Returns how many times damaged content was skipped.
    uint64_t damages() const { return damages_; }

private:
    uint64_t available();
    /// Returns the number of slots from this record to the next one.
    static uint64_t size_of(const tidemark_record& record) {
        return record.kind == TIDEMARK_JUMP ? record.jump.slots : uint64_t{1} + record.extra;
    }
    std::span<const std::byte> payload(uint64_t at, const tidemark_record& record);

    RingHeader* ring_;
    const tidemark_record* slots_;
    uint64_t capacity_;
    uint64_t damages_ = 0;
    std::vector<std::byte> joined_;  ///< a payload that wraps around the end of the ring
};

}  // namespace tidemark::recorder
