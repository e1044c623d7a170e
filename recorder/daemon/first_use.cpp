// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/first_use.h"

#include <chrono>

namespace tidemark::recorder {
namespace {

constexpr auto longest_sleep = std::chrono::milliseconds(20);

/// Returns whether the record says that memory of a GPU is in use.
bool is_use(const tidemark_record& record) {
    switch (record.kind) {
        case TIDEMARK_EVENT: return true;
        case TIDEMARK_STATE: return record.detail == TIDEMARK_STATE_SEGMENT || record.detail == TIDEMARK_STATE_BLOCK;
        case TIDEMARK_DRIVER:
            return record.detail == TIDEMARK_DRIVER_ALLOC && record.driver.memory != TIDEMARK_MEMORY_PINNED;
        default: return false;
    }
}

}  // namespace

bool FirstUse::has_happened() {
    bool found = false;
    for (uint32_t i = 0; i < region_.ring_count() && !found; ++i) {
        found = is_in_ring(i);
    }
    return found;
}

bool FirstUse::is_in_ring(uint32_t index) {
    const RingHeader& ring = region_.ring(index);
    if (ring.state.load(std::memory_order_acquire) == RingState::free) {
        return false;
    }
    const uint64_t head = ring.head.load(std::memory_order_acquire);
    if (head > region_.ring_capacity() / 4) {
        return true;  // it was never read, so this is the number of records in it
    }
    uint64_t& seen = seen_[index];
    while (seen < head) {
        const tidemark_record& record = region_.slots(index)[seen & (region_.ring_capacity() - 1)];
        if (is_use(record)) {
            return true;
        }
        seen += uint64_t{1} + record.extra;
    }
    return false;
}

bool await_first_use(MappedRegion& region, pid_t program, const SessionFolder& session,
                     const std::atomic<int>& stop_signal) {
    FirstUse use(region);
    ProgramMonitor monitor(program);
    RegionHeader& header = region.header();
    for (;;) {
        const bool is_over = header.program_state.load(std::memory_order_acquire) == ProgramState::stopped ||
                             monitor.is_gone() || session.stop_wanted() || stop_signal.load() != 0;
        if (use.has_happened()) {
            return true;
        }
        if (is_over) {
            return false;
        }
        region.sleep_until_woken(longest_sleep);
    }
}

}  // namespace tidemark::recorder
