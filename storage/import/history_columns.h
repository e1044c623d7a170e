// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Converts the rows that an event folder produces into the columns of a trace in memory.
#pragma once

#include <vector>

#include "storage/allocator/event_folder.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Fills allocations, segments, others and event_ref of a history. Requires that event_time is set.
class HistoryColumns final : public FoldSink {
public:
    explicit HistoryColumns(DeviceHistory& history);

    LifetimeId created(const AllocationRow& row) override;
    void free_requested(LifetimeId lifetime, FileEvent event, int64_t time, StackId stack) override;
    void free_completed(const LiveAllocation& allocation, FileEvent event, int64_t time) override;
    uint32_t segment_added(const FileSegment& segment, int64_t time) override;
    void segment_removed(uint32_t position, const SegmentEnd& end) override;
    bool can_cut_segments() const override { return true; }
    uint32_t cut_segment(uint32_t position, uint64_t address) override;
    void other_event(const FileOtherEvent& event, int64_t time, uint32_t origin) override;

    /// Sorts the segments by alloc_event and updates references to them. Call once, at the end.
    void finish();

private:
    void refer(FileEvent event, Action action, uint32_t index);
    void settle_expandable(const std::vector<uint32_t>& place, std::vector<uint32_t> arriving);

    DeviceHistory& history_;
};

}  // namespace tidemark
