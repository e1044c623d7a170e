// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Keeps a growing trace below a size: deletes the oldest details, a little at a time. FORMAT.md says what goes first,
// and what never goes. SQLite reuses the pages of deleted rows, so the file stops growing.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "storage/base/result.h"
#include "storage/sqlite/sqlite.h"
#include "storage/trace/file_numbers.h"
#include "storage/write/side_tables.h"

namespace tidemark {

class FileLimit {
public:
    /// `bytes`: of the file with its log. Requires that the connection outlives the object.
    FileLimit(Connection& connection, int64_t bytes) : connection_(&connection), bytes_(bytes), side_(connection) {}

    /// Deletes details if the file comes near its limit, in transactions of some 10 ms: one if there is time, more if
    /// the file would grow beyond its limit.
    Status keep();
    /// Returns whether `bytes` more fit.
    Result<bool> has_room_for(int64_t bytes) const;

private:
    struct Step {
        int64_t id, end_time;
        int device;
        FileRange events;
    };

    Result<int64_t> used_bytes() const;
    /// Deletes some details in one transaction. Returns whether there were any.
    Result<bool> delete_some();
    Result<bool> delete_in_order();
    Result<bool> delete_steps();
    Result<std::vector<Step>> oldest_steps();
    Status delete_step(const Step& step);
    Result<bool> delete_ended_survivors();
    Result<bool> merge_rows();
    Result<bool> release_kept_steps();
    Status count_deletion();
    bool is_deleted(int device, FileEvent event) const;

    Connection* connection_;
    int64_t bytes_;
    SideTables side_;
    bool is_shrinking_ = false;
    int64_t fruitless_until_ = 0;  ///< bytes: before, there is nothing to delete
    int64_t deletions_ = 0;
    int64_t horizon_ = INT64_MIN, next_horizon_ = INT64_MIN;  ///< ns since trace start: details before it are deleted
    int64_t survivors_visited_ = -1, rows_merged_ = 0;
    std::map<int, std::vector<FileRange>> deleted_;  ///< by device, by number, joined
    std::map<int, FileRange> last_;                  ///< the last step that was deleted
};

}  // namespace tidemark
