// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The allocations that are alive while a trace is written, and those that ended since the last commit. Millions may be
// alive, so what was written is not stored any longer than its end needs.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "storage/write/trace_rows.h"

namespace tidemark {

class Lifetimes {
public:
    using Id = uint32_t;

    /// Adds an allocation. `row_id`: of its row in the file.
    Id add(int64_t row_id, const AllocationRow& row);
    void free_requested(Id id, FileEvent event, int64_t time, StackId stack);
    /// The id is unused after the next take().
    void free_completed(Id id, FileEvent event, int64_t time);

    int64_t row_id(Id id) const { return all_[id].row_id; }
    FileEvent alloc_event(Id id) const { return alloc_event_of(all_[id].row_id); }
    FileEvent free_event(Id id) const;

    /// Passes the rows that were added or changed since the last call: created(row id, row), ended(row id, row) for
    /// those that an earlier call passed.
    template <class Created, class Ended>
    void take(Created&& created, Ended&& ended) {
        for (const Id id : std::exchange(touched_, {})) {
            Lifetime& lifetime = all_[id];
            const AllocationRow& row = rows_[lifetime.row];
            lifetime.is_written ? ended(lifetime.row_id, row) : created(lifetime.row_id, row);
            lifetime.is_written = true;
            lifetime.is_touched = false;
            if (lifetime.is_over) {
                unused_.push_back(id);
            }
            if (lifetime.is_over || row.lifetime.free_event == never_in_file) {
                unused_rows_.push_back(std::exchange(lifetime.row, no_row));
            }
        }
    }
    /// Returns the approximate bytes of what the next take() will pass.
    size_t pending_bytes() const { return touched_.size() * (sizeof(Lifetime) + sizeof(AllocationRow)); }

private:
    static constexpr uint32_t no_row = UINT32_MAX;

    struct Lifetime {
        int64_t row_id = 0;
        uint32_t row = no_row;  ///< index in rows_; none if it was written and its free was not requested
        bool is_written = false, is_touched = false, is_over = false;
    };
    static_assert(sizeof(Lifetime) == 16);

    static FileEvent alloc_event_of(int64_t row_id) {
        return row_id & preexisting_bit ? before_history : row_id & (preexisting_bit - 1);
    }
    uint32_t store(const AllocationRow& row);
    /// Returns the row; of one that was written, only its alloc event and its end.
    AllocationRow& touch(Id id);

    std::deque<Lifetime> all_;  ///< a vector would need twice the memory whenever it grows
    std::vector<Id> unused_, touched_;
    std::vector<AllocationRow> rows_;
    std::vector<uint32_t> unused_rows_;  ///< indexes in rows_
};

}  // namespace tidemark
