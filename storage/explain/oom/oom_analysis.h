// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The allocator's state right before an out-of-memory error.
#pragma once

#include "storage/allocator/rules.h"
#include "storage/explain/analysis_context.h"
#include "storage/replay/memory_state.h"

namespace tidemark {

struct OomAnalysis {
    const OtherEvent& oom;
    EventNumber before;      ///< the state before the error
    MemoryState state;       ///< replayed up to `before`
    int64_t free_on_device;  ///< bytes, as reported by the driver
    int64_t segment_bytes;   ///< bytes that the request needs from the driver

    /// Fewer free bytes than this part of the reserved ones are not called fragmentation (1 / 50).
    static constexpr uint64_t least_free_part = 50;

    OomAnalysis(const AnalysisContext& context, const OtherEvent& event)
        : oom(event),
          before(event.event),
          state(memory_state(context.device(), context.analysis().live(), event.event)),
          free_on_device(static_cast<int64_t>(event.address)),
          segment_bytes(
              static_cast<int64_t>(segment_size(AllocatorSettings::from_text(context.trace().settings), event.size))) {}

    int64_t requested() const { return static_cast<int64_t>(oom.size); }
    int64_t free_in_segments() const {
        return static_cast<int64_t>(state.free_in_gaps + state.free_in_cached_segments);
    }
    /// Returns whether PyTorch had enough free bytes, but not in one piece. Small remainders between large blocks exist
    /// in every full allocator; together they would not serve the next requests.
    bool is_fragmented() const {
        return free_in_segments() >= requested() &&
               free_in_segments() >= static_cast<int64_t>(state.reserved / least_free_part);
    }
    /// Returns whether the device had enough free memory, so that a limit of the process refused the request.
    bool is_refused_by_limit() const { return free_on_device >= segment_bytes; }
};

}  // namespace tidemark
