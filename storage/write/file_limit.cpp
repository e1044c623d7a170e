// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/write/file_limit.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "storage/trace/trace.h"

namespace tidemark {

namespace {

// Parts of the limit, in percent. The rest is for the log, and for the copy of the allocations that a finished trace
// has. Between them, deleting begins and ends.
constexpr int64_t too_much = 75, begin_at = 70, end_at = 60;
constexpr int64_t most_events_per_slice = 20'000;
constexpr int64_t most_rows_per_slice = 20'000;
/// These rows are large: what a transaction changes is in the log, too.
constexpr int64_t most_joined_per_slice = 2'000;
/// The latest steps are never deleted: allocations of theirs may not have ended yet.
constexpr int64_t steps_left_alone = 3;
/// The recorder may still change the latest rows of repeated steps.
constexpr int64_t rows_left_alone = 64;
constexpr size_t most_rows_joined = 16;

/// Rows of consecutive steps that become the last of them.
struct JoinedRows {
    int64_t id = 0;  ///< of the last; 0: there is no row
    std::vector<int64_t> gone;
    FileEvent event = 0, events = 0;
    int64_t start = 0, end = 0;
    std::optional<int64_t> like;
    std::array<int64_t, 2> sums{};
    std::array<int64_t, 3> peaks{};

    bool join(const JoinedRows& next) {
        const bool follows = id != 0 && like == next.like && event + events == next.event && end == next.start;
        if (!follows || gone.size() + 1 >= most_rows_joined) {
            return false;
        }
        gone.push_back(std::exchange(id, next.id));
        events += next.events;
        end = next.end;
        for (size_t i = 0; i < sums.size(); ++i) {
            sums[i] += next.sums[i];
        }
        for (size_t i = 0; i < peaks.size(); ++i) {
            peaks[i] = std::max(peaks[i], next.peaks[i]);
        }
        return true;
    }

    Status write(Connection& connection) const {
        if (gone.empty()) {
            return {};
        }
        for (const int64_t other : gone) {
            if (const auto changed = change_rows(connection, "DELETE FROM repeated_steps WHERE id=?", {other});
                !changed) {
                return changed.error();
            }
        }
        const auto changed =
            change_rows(connection,
                        "UPDATE repeated_steps SET event=?, events_after=?, start_time=?, count=?, events_left_out=?, "
                        "peak_allocated=?, peak_active=?, peak_requested=? WHERE id=?",
                        {event, events, start, sums[0], sums[1], peaks[0], peaks[1], peaks[2], id});
        return changed ? Status() : Status(changed.error());
    }
};

}  // namespace

Result<int64_t> FileLimit::used_bytes() const {
    const auto page = connection_->query_integer("PRAGMA page_size"),
               pages = connection_->query_integer("PRAGMA page_count"),
               unused = connection_->query_integer("PRAGMA freelist_count");
    if (!page || !pages || !unused) {
        return (!page ? page : !pages ? pages : unused).error();
    }
    return (*pages - *unused) * *page;
}

Result<bool> FileLimit::has_room_for(int64_t bytes) const {
    const auto used = used_bytes();
    return used ? Result<bool>(*used + bytes <= bytes_) : used.error();
}

Status FileLimit::keep() {
    for (;;) {
        const auto used = used_bytes();
        if (!used) {
            return used.error();
        }
        const int64_t percent = *used * 100 / bytes_;
        is_shrinking_ = is_shrinking_ ? percent >= end_at : percent >= begin_at && *used >= fruitless_until_;
        if (!is_shrinking_) {
            return {};
        }
        const auto any = delete_some();
        if (!any) {
            return any.error();
        }
        if (!*any) {
            // What is left never goes. Looking for more takes time, so the file has to grow first.
            fruitless_until_ = *used + bytes_ / 50;
            is_shrinking_ = false;
        }
        if (!*any || percent < too_much) {
            return {};
        }
    }
}

Result<bool> FileLimit::delete_some() {
    TIDEMARK_TRY(connection_->execute("BEGIN IMMEDIATE"));
    auto any = delete_in_order();
    if (any) {
        if (const Status status = connection_->execute("COMMIT"); !status) {
            any = status.error();
        }
    }
    if (!any) {
        sqlite3_exec(connection_->raw(), "ROLLBACK", nullptr, nullptr, nullptr);
    } else {
        sqlite3_wal_checkpoint_v2(connection_->raw(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    }
    return any;
}

/// What goes first is deleted until there is no more of it.
Result<bool> FileLimit::delete_in_order() {
    auto steps = delete_steps();
    if (!steps) {
        return steps;
    }
    const auto thinned = side_.thin(horizon_);
    if (!thinned || *steps || *thinned) {
        return thinned ? Result<bool>(true) : thinned;
    }
    for (const auto next :
         {&FileLimit::delete_ended_survivors, &FileLimit::merge_rows, &FileLimit::release_kept_steps}) {
        const auto any = (this->*next)();
        if (!any || *any) {
            return any;
        }
    }
    return false;
}

/// The step with the highest peak is kept as long as there is none with a higher one.
Result<std::vector<FileLimit::Step>> FileLimit::oldest_steps() {
    auto rows = connection_->prepare(
        "SELECT s.id, s.device, event, events_after, end_time FROM complete_step s "
        "LEFT JOIN meta ON meta.key='peak_event.' || s.device "
        "WHERE is_kept=0 AND s.id<=(SELECT max(id) FROM complete_step)-? AND NOT coalesce(event<CAST(meta.value AS "
        "INTEGER) AND CAST(meta.value AS INTEGER)<=event+events_after, 0) ORDER BY s.id LIMIT 256");
    if (!rows) {
        return rows.error();
    }
    rows->bind(0, steps_left_alone);
    std::vector<Step> steps;
    for (int64_t events = 0; events < most_events_per_slice;) {
        const auto more = rows->step();
        if (!more) {
            return more.error();
        }
        if (!*more) {
            break;
        }
        const int64_t first = rows->integer(2), count = rows->integer(3);
        steps.push_back(
            {rows->integer(0), rows->integer(4), static_cast<int>(rows->integer(1)), {first, first + count}});
        events += count;
    }
    return steps;
}

Result<bool> FileLimit::delete_steps() {
    const auto steps = oldest_steps();
    if (!steps) {
        return steps.error();
    }
    for (const Step& step : *steps) {
        TIDEMARK_TRY(delete_step(step));
        // Rows about the last step may belong to allocations that go with the next one.
        horizon_ = std::max(horizon_, std::exchange(next_horizon_, step.end_time));
    }
    if (!steps->empty()) {
        TIDEMARK_TRY(count_deletion());
    }
    return !steps->empty();
}

Status FileLimit::delete_step(const Step& step) {
    std::vector<FileRange>& deleted = deleted_[step.device];
    const auto after = std::partition_point(deleted.begin(), deleted.end(),
                                            [&](const FileRange& range) { return range.begin < step.events.begin; });
    if (after != deleted.begin() && std::prev(after)->end == step.events.begin) {
        std::prev(after)->end = step.events.end;
    } else {
        deleted.insert(after, step.events);
    }
    // Allocations of this step, and those of the step before that ended in this one.
    FileRange& last = last_[step.device];
    const FileEvent from = last.end == step.events.begin ? last.begin : step.events.begin;
    last = step.events;
    const auto gone =
        change_rows(*connection_,
                    fmt::format("DELETE FROM allocation WHERE id>=? AND id<? AND free_completed_after IS NOT NULL AND "
                                "(id & {}) + free_after + free_completed_after < ?",
                                preexisting_bit - 1),
                    {event_id(step.device, from), event_id(step.device, step.events.end), step.events.end});
    if (!gone) {
        return gone.error();
    }
    // The rows of the step before have lost some events, too; the count of one row would not say so.
    const auto row = change_rows(
        *connection_,
        "INSERT INTO repeated_steps SELECT id, device, event, events_after, start_time, end_time, NULL, count, "
        "events_after, peak_allocated, peak_active, peak_requested, counters FROM complete_step WHERE id=?",
        {step.id});
    if (!row) {
        return row.error();
    }
    const auto moved = change_rows(*connection_, "DELETE FROM complete_step WHERE id=?", {step.id});
    return moved ? Status() : Status(moved.error());
}

Status FileLimit::count_deletion() {
    auto row = connection_->prepare("INSERT OR REPLACE INTO meta VALUES(?,?)");
    if (!row) {
        return row.error();
    }
    const std::string count = fmt::to_string(++deletions_);
    return row->bind(0, std::string_view("details_deleted")).bind(1, std::string_view(count)).run();
}

bool FileLimit::is_deleted(int device, FileEvent event) const {
    const auto found = deleted_.find(device);
    if (found == deleted_.end()) {
        return false;
    }
    const auto after = std::partition_point(found->second.begin(), found->second.end(),
                                            [event](const FileRange& range) { return range.begin <= event; });
    return after != found->second.begin() && event < std::prev(after)->end;
}

/// Allocations that outlived their step by far, but ended.
Result<bool> FileLimit::delete_ended_survivors() {
    auto rows = connection_->prepare(
        "SELECT id, free_after, free_completed_after FROM allocation WHERE id>? AND id & ? = 0 ORDER BY id LIMIT ?");
    if (!rows) {
        return rows.error();
    }
    rows->bind(0, survivors_visited_).bind(1, preexisting_bit).bind(2, most_rows_per_slice);
    std::vector<int64_t> gone;
    int64_t visited = 0;
    for (;; ++visited) {
        const auto more = rows->step();
        if (!more) {
            return more.error();
        }
        if (!*more) {
            break;
        }
        const int64_t id = survivors_visited_ = rows->integer(0);
        const int device = static_cast<int>(id >> event_id_shift);
        const FileEvent created = id & (preexisting_bit - 1), freed = created + rows->integer(1),
                        completed = freed + rows->integer(2);
        if (!rows->is_null(2) && is_deleted(device, created) && is_deleted(device, freed) &&
            is_deleted(device, completed)) {
            gone.push_back(id);
        }
    }
    for (const int64_t id : gone) {
        if (const auto changed = change_rows(*connection_, "DELETE FROM allocation WHERE id=?", {id}); !changed) {
            return changed.error();
        }
    }
    if (!gone.empty()) {
        TIDEMARK_TRY(count_deletion());
    }
    if (visited < most_rows_per_slice) {
        survivors_visited_ = -1;
        side_.start_over();
    }
    return visited == most_rows_per_slice || !gone.empty();
}

/// Joins rows of consecutive steps: of their peaks, the highest stays.
Result<bool> FileLimit::merge_rows() {
    auto rows = connection_->prepare(
        "SELECT id, device, event, events_after, start_time, end_time, like_time, count, events_left_out, "
        "peak_allocated, peak_active, peak_requested FROM repeated_steps WHERE id>? AND "
        "id<(SELECT max(id) FROM repeated_steps)-? ORDER BY id LIMIT ?");
    if (!rows) {
        return rows.error();
    }
    rows->bind(0, rows_merged_).bind(1, rows_left_alone).bind(2, most_joined_per_slice);
    std::map<int, JoinedRows> open;
    std::vector<JoinedRows> joined;
    bool any = false;
    for (;; any = true) {
        const auto more = rows->step();
        if (!more) {
            return more.error();
        }
        if (!*more) {
            break;
        }
        JoinedRows row;
        rows_merged_ = row.id = rows->integer(0);
        row.event = rows->integer(2);
        row.events = rows->integer(3);
        row.start = rows->integer(4);
        row.end = rows->integer(5);
        row.like = rows->is_null(6) ? std::nullopt : std::optional(rows->integer(6));
        row.sums = {rows->integer(7), rows->integer(8)};
        row.peaks = {rows->integer(9), rows->integer(10), rows->integer(11)};
        JoinedRows& last = open[static_cast<int>(rows->integer(1))];
        if (!last.join(row)) {
            joined.push_back(std::exchange(last, row));
        }
    }
    for (auto& [device, last] : open) {
        joined.push_back(std::move(last));
    }
    for (const JoinedRows& row : joined) {
        TIDEMARK_TRY(row.write(*connection_));
    }
    if (!any) {
        rows_merged_ = 0;
        return false;
    }
    TIDEMARK_TRY(count_deletion());
    return std::any_of(joined.begin(), joined.end(), [](const JoinedRows& row) { return !row.gone.empty(); });
}

Result<bool> FileLimit::release_kept_steps() {
    const auto released = change_rows(*connection_,
                                      "UPDATE complete_step SET is_kept=0 WHERE id IN (SELECT id FROM complete_step "
                                      "WHERE is_kept=1 ORDER BY id LIMIT 8)",
                                      {});
    return released ? Result<bool>(*released > 0) : released.error();
}

}  // namespace tidemark
