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

    int64_t row_id(Id id) const { return row_id(all_[id]); }
    FileEvent alloc_event(Id id) const { return alloc_event_of(row_id(id)); }
    FileEvent free_event(Id id) const;

    /// Passes the rows that were added or changed since the last call: created(row id, row), ended(row id, row) for
    /// those that an earlier call passed.
    template <class Created, class Ended>
    void take(Created&& created, Ended&& ended) {
        for (const Id id : std::exchange(touched_, {})) {
            Lifetime& lifetime = all_[id];
            const auto& [number, row] = rows_[lifetime.place];
            lifetime.is_written ? ended(number, row) : created(number, row);
            lifetime.is_written = true;
            lifetime.is_touched = false;
            if (lifetime.is_over) {
                unused_.push_back(id);
            }
            if (lifetime.is_over || row.lifetime.free_event == never_in_file) {
                drop_row(lifetime);
            }
        }
    }
    /// Returns the approximate bytes of what the next take() will pass.
    size_t pending_bytes() const { return touched_.size() * (sizeof(Lifetime) + sizeof(AllocationRow)); }

private:
    struct Lifetime {
        uint64_t place : 60 = 0;   ///< index in rows_, or the row id if it was written and its free was not requested
        bool has_row : 1 = false;  ///< in rows_
        bool is_written : 1 = false;
        bool is_touched : 1 = false;
        bool is_over : 1 = false;
    };
    static_assert(sizeof(Lifetime) == 8);
    static constexpr uint64_t last_place = (uint64_t{1} << 60) - 1;

    static FileEvent alloc_event_of(int64_t row_id) {
        return row_id & preexisting_bit ? before_history : row_id & (preexisting_bit - 1);
    }
    int64_t row_id(const Lifetime& lifetime) const {
        return lifetime.has_row ? rows_[lifetime.place].first : static_cast<int64_t>(lifetime.place);
    }
    void store_row(Lifetime& lifetime, int64_t row_id, const AllocationRow& row);
    void drop_row(Lifetime& lifetime) {
        const uint64_t index = lifetime.place;
        lifetime.place = static_cast<uint64_t>(rows_[index].first) & last_place;
        lifetime.has_row = false;
        unused_rows_.push_back(static_cast<uint32_t>(index));
    }
    /// Returns the row; of one that was written, only its alloc event and its end.
    AllocationRow& touch(Id id);

    std::deque<Lifetime> all_;  ///< a vector would need twice the memory whenever it grows
    std::vector<Id> unused_, touched_;
    std::vector<std::pair<int64_t, AllocationRow>> rows_;  ///< with their ids
    std::vector<uint32_t> unused_rows_;                    ///< indexes in rows_
};

}  // namespace tidemark
