// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/left_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tidemark {

namespace {

/// Returns the event `after` events later than `from`; never_in_file if the row has no value.
FileEvent event_after(FileEvent from, bool is_null, int64_t after) {
    return is_null || after < 0 || after >= preexisting_bit ? never_in_file : from + after;
}

/// Collects events that lie in incomplete ranges.
class LeftEvents {
public:
    explicit LeftEvents(const std::vector<FileRange>& ranges) : ranges_(ranges) {}

    void add(FileEvent event) {
        if (event < ranges_.front().begin || event >= ranges_.back().end) {
            return;
        }
        const auto after = std::partition_point(ranges_.begin(), ranges_.end(),
                                                [event](const FileRange& range) { return range.begin <= event; });
        if (after != ranges_.begin() && event < std::prev(after)->end) {
            events_.push_back(event);
        }
    }
    const std::vector<FileEvent>& sorted() {
        std::sort(events_.begin(), events_.end());
        events_.erase(std::unique(events_.begin(), events_.end()), events_.end());
        return events_;
    }

private:
    const std::vector<FileRange>& ranges_;
    std::vector<FileEvent> events_;
};

}  // namespace

LifetimeEvents lifetime_events(int64_t id, const Statement& row, int freed, int completed) {
    LifetimeEvents events;
    events.created = id & preexisting_bit ? before_history : id & (preexisting_bit - 1);
    events.freed = event_after(events.created, row.is_null(freed), row.integer(freed));
    if (events.freed != never_in_file) {
        events.completed = event_after(events.freed, row.is_null(completed), row.integer(completed));
    }
    return events;
}

Result<FileNumbers> numbers_of(RowSource& source, int device, int64_t events) {
    std::vector<FileRange> ranges;
    Status status = source.each(
        fmt::format("SELECT event, events_after FROM repeated_steps WHERE device={} AND like_time IS NULL ORDER BY id",
                    device),
        [&](Statement& row) {
            const int64_t begin = row.integer(0), count = row.integer(1);
            const bool follows = begin >= (ranges.empty() ? 0 : ranges.back().end);
            if (!follows || begin > events || count < 0 || count > events - begin) {
                return false;
            }
            if (!ranges.empty() && ranges.back().end == begin) {
                ranges.back().end += count;
            } else {
                ranges.push_back({begin, begin + count});
            }
            return true;
        });
    if (!status) {
        return status.error();
    }
    if (ranges.empty()) {
        return FileNumbers();
    }
    LeftEvents left(ranges);
    const auto add_lifetime = [&](Statement& row) {
        const LifetimeEvents lifetime = lifetime_events(row.integer(0), row, 1, 2);
        left.add(lifetime.created);
        left.add(lifetime.freed);
        left.add(lifetime.completed);
        return true;
    };
    // Later allocations have no events in the ranges.
    for (const auto& [from, to] : {std::pair(event_id(device, 0), event_id(device, ranges.back().end)),
                                   std::pair(preexisting_id(device, 0), event_id(device + 1, 0))}) {
        TIDEMARK_TRY(source.each(fmt::format("SELECT id, free_after, free_completed_after FROM allocation "
                                             "WHERE id>={} AND id<{}",
                                             from, to),
                                 add_lifetime));
    }
    TIDEMARK_TRY(source.each(fmt::format("SELECT coalesce(alloc_event, -1), coalesce(free_event, -1) FROM segment "
                                         "WHERE device={}",
                                         device),
                             [&](Statement& row) {
                                 left.add(row.integer(0));
                                 left.add(row.integer(1));
                                 return true;
                             }));
    TIDEMARK_TRY(source.each(
        fmt::format("SELECT id FROM event WHERE id>={} AND id<{}", event_id(device, 0), event_id(device + 1, 0)),
        [&](Statement& row) {
            left.add(row.integer(0) & (preexisting_bit - 1));
            return true;
        }));
    return FileNumbers(ranges, left.sorted());
}

}  // namespace tidemark
