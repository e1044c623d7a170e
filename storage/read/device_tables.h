// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The rows of one device: segments, allocations, other events.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/read/damage.h"
#include "storage/read/dictionaries.h"
#include "storage/read/open_trace.h"
#include "storage/read/row_source.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Marks an event that no row describes, until the trace is settled.
constexpr int64_t no_time_reported = INT64_MIN;
inline const EventRef nothing_reported{Action::unknown, 0x0fffffff};

class DeviceTables {
public:
    /// Data that a read may use. Requires that the dictionaries of `trace` have been read.
    struct Context {
        const Trace& trace;
        const Dictionaries& dictionaries;
        const TraceFile& file;
        bool compare_rows = false;  ///< with the chunks
    };

    /// Reads the rows that were added or changed since the last call into `device`. Requires that its event count is
    /// set.
    Status read(RowSource& source, DeviceHistory& device, const Context& context);

    /// Summarizes the repeated steps instead of reading each. Must precede number_events().
    Status summarize_repeats(RowSource& source, int device, int version);
    RepeatsSummary summary() const { return summary_.value_or(RepeatsSummary()); }

    /// Numbers the events of the device, of which the file counts `events`, deleted ones included. Returns how many
    /// are left.
    Result<EventNumber> number_events(RowSource& source, DeviceHistory& device, int64_t events, int version);
    /// Sets the number of events of the device in memory.
    static void resize_events(DeviceHistory& device, EventNumber events);

    const Damage& damage() const { return damage_; }

private:
    /// An allocation with the times of its events, as in AllocationRow.
    struct Lifetime {
        Allocation lifetime;
        int64_t time = 0, free_time = 0, free_completed_time = 0;
    };

    void start_over(DeviceHistory& device);
    Status read_segments(RowSource& source, DeviceHistory& device, const Context& context);
    Status read_others(RowSource& source, DeviceHistory& device, const Context& context);
    Status read_repeats(RowSource& source, DeviceHistory& device, const Context& context);
    /// Reads chunks, which is faster than rows. Only for a trace that is not being written.
    Status read_chunks(RowSource& source, DeviceHistory& device, const Context& context);
    Result<bool> has_all(RowSource& source, const DeviceHistory& device) const;
    Status read_rows(RowSource& source, DeviceHistory& device, const Context& context);
    Status count_rows_that_differ(RowSource& source, const DeviceHistory& device, const Context& context);
    /// Returns nothing if a row refers to what does not exist, or its sizes are impossible.
    std::optional<Lifetime> decode(const Statement& row, const FileNumbers& numbers, const Context& context) const;
    bool add_row(DeviceHistory& device, const Statement& row, size_t index, const Context& context) const;
    /// Returns the position of a segment by its row id; nothing if there is none.
    std::optional<uint32_t> segment(int64_t id) const;

    Damage damage_;
    bool is_numbered_ = false;
    std::optional<RepeatsSummary> summary_;  ///< then only rows of steps whose details were deleted are read
    bool has_deleted_details_ = true;        ///< there may be such rows
    std::vector<int64_t> segment_ids_;
    TableTail segments_, others_, repeats_, earlier_, allocations_;  ///< earlier_: allocations from before the history
};

}  // namespace tidemark
