// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Layout of the shared memory between a training process (producers) and its recorder process (the consumer).
//
// One anonymous shared file per recorded process: a RegionHeader, `ring_count` RingHeaders, then the slots of each
// ring. One thread produces into a ring, the recorder consumes all rings. Untouched pages take no memory, and the first
// access to one takes microseconds: while the recorder keeps up, a producer uses the first slots of its ring only.
// Nothing here allocates, locks or throws.
#pragma once

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "recorder/core/records.h"
#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <time.h>
#endif

namespace tidemark::recorder {

/// Seals of the shared file. No process can truncate it under another one that reads it, or remove the seals.
constexpr int region_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// Limit of the blocks that the recorder names for a heap scan.
constexpr uint32_t most_growing_blocks = 1024;

constexpr uint64_t region_magic = 0x31676e6972656474;  // "tdering1"

enum class RecorderState : uint32_t { starting = 0, ready = 1, failed = 2, finished = 3 };
enum class ProgramState : uint32_t { recording = 0, stopped = 1 };

struct RegionHeader {
    uint64_t magic = region_magic;
    uint32_t version = TIDEMARK_RECORDS_VERSION;
    uint32_t ring_count = 0;
    uint64_t ring_capacity = 0;  ///< slots per ring, a power of two
    int64_t program_pid = 0;
    alignas(64) std::atomic<ProgramState> program_state{ProgramState::recording};
    /// Futex word that the program raises to wake the recorder. It raises `samples_wanted` to request an NVML sample,
    /// and waits for `samples_taken` to follow.
    std::atomic<uint32_t> wake{0};
    std::atomic<uint32_t> samples_wanted{0};
    /// Read for every record, so it has its own cache line, which no one writes during a recording.
    alignas(64) std::atomic<RecorderState> recorder_state{RecorderState::starting};
    /// Whether the user has paused the details: then only allocator and driver events are recorded, without their
    /// origins. The recorder changes it rarely.
    std::atomic<uint32_t> details_paused{0};
    alignas(64) std::atomic<uint32_t> samples_taken{0};
    std::atomic<int32_t> recorder_pid{0};  ///< 0: not known yet
    /// The recorder raises this to request a heap scan, after it has written the blocks of the sites that grow. It may
    /// replace the blocks at any time: a block that is not there any more costs nothing.
    alignas(64) std::atomic<uint32_t> scans_wanted{0};
    std::atomic<uint32_t> growing_blocks{0};
    std::array<std::atomic<uint64_t>, most_growing_blocks> growing{};  ///< their addresses
    /// 1: driver allocations are the events of all devices. Set by the recorder, once.
    std::atomic<uint32_t> driver_owns_events{0};
    /// The recorder raises this to request a scan for everything, which a user has asked for. The program makes such
    /// scans while `serves_scans` is 1, and `full_scans_made` follows.
    std::atomic<uint32_t> full_scans_wanted{0};
    std::atomic<uint32_t> full_scans_made{0};
    std::atomic<uint32_t> serves_scans{0};
    char failure[2048] = {};     ///< the sentence, when recorder_state is failed; written before it
    char notice[2048] = {};      ///< a sentence for the user; written before recorder_state is ready
    char end_notice[2048] = {};  ///< another one; written before recorder_state is finished
    std::atomic<uint32_t> has_output{0};
    char output[4096] = {};  ///< path of the trace; written before has_output
};

enum class RingState : uint32_t {
    free = 0,     ///< unused; the recorder has read all of it
    in_use = 1,   ///< belongs to a thread
    retired = 2,  ///< its thread has ended; the recorder frees it when it has read all of it
};

struct RingHeader {
    std::atomic<RingState> state{RingState::free};
    uint32_t serial =
        0;  ///< of the thread, from 1, never reused; 0 after 65535 threads: other threads cannot name its stacks
    int64_t native_thread = 0;
    alignas(64) std::atomic<uint64_t> head{0};  ///< records produced so far
    std::atomic<uint64_t> dropped{0};           ///< records lost because the ring was full for too long
    uint64_t known_tail = 0;                    ///< the producer's last copy of tail, which is in another core's cache
    uint64_t next_wrap = 0;                     ///< position at which the producer tries to return to the first slot
    uint64_t quick_until = 0;                   ///< the slots up to this position are free, as far as is known
    uint64_t hole_end = 0;                      ///< end of the slots that were not read when the producer returned
    alignas(64) std::atomic<uint64_t> tail{0};  ///< records consumed so far
};

constexpr size_t slots_offset(uint32_t ring_count) {
    const size_t headers = sizeof(RegionHeader) + ring_count * sizeof(RingHeader);
    return (headers + 4095) / 4096 * 4096;
}
constexpr size_t region_bytes(uint32_t ring_count, uint64_t ring_capacity) {
    return slots_offset(ring_count) + ring_count * ring_capacity * sizeof(tidemark_record);
}

/// A mapped region, not owned.
struct Region {
    std::byte* base = nullptr;

    RegionHeader& header() const { return *reinterpret_cast<RegionHeader*>(base); }
    RingHeader& ring(uint32_t index) const { return reinterpret_cast<RingHeader*>(base + sizeof(RegionHeader))[index]; }
    tidemark_record* slots(uint32_t index) const {
        return reinterpret_cast<tidemark_record*>(base + slots_offset(header().ring_count)) +
               index * header().ring_capacity;
    }
};

constexpr uint64_t prefetched_records = 6;
/// A producer returns to the first slot after so many, 256 KiB, if the recorder has read three quarters of them. Until
/// then each step of a program touches new pages. What the recorder has not read then is a hole in the slots from the
/// first one on: if it is still not read when the producer gets there, the producer goes on behind it.
constexpr uint64_t reused_slots = uint64_t{1} << 12;
constexpr uint64_t pushes_between_wraps_tried = 256;

/// Puts a record at `position` that says where the next one is. It is published together with that one.
inline void put_jump(tidemark_record* slots, uint64_t mask, uint64_t position, uint64_t next) {
    tidemark_record& jump = slots[position & mask];
    jump = tidemark_record{};
    jump.kind = TIDEMARK_JUMP;
    jump.jump.slots = next - position;
}

/// Returns to the first slot if it is time and the recorder keeps up. Returns the position of the next message.
inline uint64_t wrap_if_due(RingHeader& ring, tidemark_record* slots, uint64_t capacity, uint64_t needed) {
    const uint64_t head = ring.head.load(std::memory_order_relaxed);
    const uint64_t mask = capacity - 1, lap = head & ~mask, next_lap = lap + capacity;
    if (head < ring.next_wrap) {
        return head;
    }
    if ((head & mask) < reused_slots) {
        ring.next_wrap = lap + reused_slots;
        return head;
    }
    if (ring.known_tail < lap + reused_slots / 4 * 3 || next_lap + needed - ring.known_tail > capacity) {
        ring.next_wrap = head + pushes_between_wraps_tried;
        return head;
    }
    put_jump(slots, mask, head, next_lap);
    ring.next_wrap = next_lap + reused_slots;
    ring.hole_end = head + 1 + capacity;
    return next_lap;
}

/// Returns the position for a message of `needed` slots; UINT64_MAX if there is no room.
inline uint64_t find_room(RingHeader& ring, tidemark_record* slots, uint64_t capacity, uint64_t needed) {
    const uint64_t mask = capacity - 1;
    if (const uint64_t next = ring.head.load(std::memory_order_relaxed); next + needed <= ring.quick_until) {
        return next;
    }
    ring.known_tail = ring.tail.load(std::memory_order_acquire);
    const uint64_t head = wrap_if_due(ring, slots, capacity, needed), lap = head & ~mask;
    const bool has_hole = ring.hole_end > lap && ring.known_tail < lap;
    if (!has_hole || head >= ring.hole_end) {
        const uint64_t end = (has_hole ? lap : ring.known_tail) + capacity;
        ring.quick_until = std::min(ring.next_wrap, end);
        return head + needed <= end ? head : UINT64_MAX;
    }
    const uint64_t hole_begin = ring.known_tail + capacity;
    if (head + needed < hole_begin) {
        ring.quick_until = std::min(ring.next_wrap, hole_begin - 1);  // the last slot is for the jump
        return head;
    }
    if (head < hole_begin && ring.hole_end + needed <= lap + capacity) {
        put_jump(slots, mask, head, ring.hole_end);
        ring.quick_until = std::min(ring.next_wrap, lap + capacity);
        return ring.hole_end;
    }
    ring.quick_until = head;
    return head + needed <= hole_begin ? head : UINT64_MAX;
}

/// The recorder's CPU core owns the cache line of a slot since it last read it: fetches that of a later record.
inline void prefetch_after(const tidemark_record* slots, uint64_t capacity, uint64_t head) {
    __builtin_prefetch(&slots[(head + prefetched_records) & (capacity - 1)], 1);
}

/// Puts a record without payload into a ring if there is room as far as the producer knows: most records. Called by the
/// ring's own thread only.
inline bool try_push_quickly(RingHeader& ring, tidemark_record* slots, uint64_t capacity,
                             const tidemark_record& record) {
    const uint64_t head = ring.head.load(std::memory_order_relaxed);
    if (head >= ring.quick_until) {
        return false;
    }
    prefetch_after(slots, capacity, head);
    slots[head & (capacity - 1)] = record;
    ring.head.store(head + 1, std::memory_order_release);
    return true;
}

/// Puts a message into a ring if it has room. Called by the ring's own thread only.
inline bool try_push(RingHeader& ring, tidemark_record* slots, uint64_t capacity, const tidemark_record& record,
                     const void* payload) {
    const uint64_t needed = uint64_t{1} + record.extra;
    const uint64_t head = find_room(ring, slots, capacity, needed);
    if (head == UINT64_MAX) {
        return false;
    }
    prefetch_after(slots, capacity, head);
    const uint64_t mask = capacity - 1;
    slots[head & mask] = record;
    const auto* bytes = static_cast<const std::byte*>(payload);
    for (uint32_t i = 0; i < record.extra; ++i) {
        const size_t done = size_t{i} * sizeof(tidemark_record);
        const size_t rest = record.bytes - done;
        std::memcpy(&slots[(head + 1 + i) & mask], bytes + done,
                    rest < sizeof(tidemark_record) ? rest : sizeof(tidemark_record));
    }
    ring.head.store(head + needed, std::memory_order_release);
    return true;
}

/// The clock of all records: the processor's time stamp counter where there is one (constant rate, shared by all
/// processes of the machine), else CLOCK_MONOTONIC in ns. The recorder process calibrates it against UTC.
inline uint64_t ticks() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
#endif
}

}  // namespace tidemark::recorder
