// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/device_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "storage/format/chunk_codec.h"
#include "storage/read/left_events.h"
#include "storage/trace/limits.h"
#include "storage/trace/packed_counters.h"

namespace tidemark {

namespace {

constexpr const char* select_allocation =
    "SELECT id, time, free_after, free_delay, free_completed_after, free_completed_delay, address, requested, "
    "rounding, segment, stack, free_stack, origin FROM allocation WHERE";

constexpr int64_t most_steps = int64_t{1} << 40;
constexpr size_t most_counter_bytes = 1 << 13;
constexpr int first_version_with_repeats = 6;

struct Chunk {
    int64_t id, first, count;
};

/// Records the action of an event. Returns false if there is no such event.
bool note(DeviceHistory& device, EventNumber event, int64_t time, Action action, size_t index) {
    if (event == before_history || event == never) {
        return true;
    }
    if (event < 0 || event >= device.event_count() || index >= nothing_reported.index()) {
        return false;
    }
    device.event_time[static_cast<size_t>(event)] = time;
    device.event_ref[static_cast<size_t>(event)] = EventRef(action, static_cast<uint32_t>(index));
    return true;
}

/// Returns nothing if the event has no row.
std::optional<EventNumber> in_memory(const FileNumbers& numbers, FileEvent event) {
    if (event == before_history || event == never_in_file) {
        return event_as<EventNumber>(event);
    }
    return numbers.find(event);
}

/// Decodes chunks into the device until none remain. Thread: several threads may run it at once.
Status decode_some(Connection& connection, const std::vector<Chunk>& chunks, std::atomic<size_t>& next,
                   DeviceHistory& device, const Progress& progress) {
    auto blob = connection.prepare("SELECT data FROM allocation_chunk WHERE id=?");
    if (!blob) {
        return blob.error();
    }
    for (size_t i = next++; i < chunks.size() && !progress.canceled; i = next++) {
        const auto row = blob->bind(0, chunks[i].id).step();
        if (!row) {
            return row.error();
        }
        TIDEMARK_TRY(decode_chunk(*row ? blob->blob(0) : std::span<const std::byte>(), device,
                                  static_cast<uint32_t>(chunks[i].first), static_cast<uint32_t>(chunks[i].count)));
        blob->reset();
    }
    return {};
}

bool is_size(int64_t bytes) { return bytes >= 0 && bytes <= int64_t{largest_size}; }

int64_t wrapping_sum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/// Returns the packed counters. Format 6 has numbers of 8 bytes, lowest byte first.
std::string counters_of(std::span<const std::byte> blob, int version) {
    std::string bytes(reinterpret_cast<const char*>(blob.data()), std::min(blob.size(), most_counter_bytes));
    if (version != first_version_with_repeats) {
        return bytes;
    }
    std::vector<int64_t> values(bytes.size() / sizeof(int64_t));
    std::copy_n(bytes.data(), values.size() * sizeof(int64_t), reinterpret_cast<char*>(values.data()));
    return packed_counters(values);
}

}  // namespace

/// A long trace has millions of rows, which take most of the time in which it is opened.
Status DeviceTables::summarize_repeats(RowSource& source, int device, int version) {
    if (version < first_version_with_repeats) {
        return {};
    }
    return source.each(fmt::format("SELECT sum(count) FILTER (WHERE like_time IS NOT NULL), max(peak_allocated), "
                                   "count(*) FILTER (WHERE like_time IS NULL) FROM repeated_steps WHERE device={}",
                                   device),
                       [&](Statement& row) {
                           summary_ = RepeatsSummary{row.integer(0), row.integer(1)};
                           has_deleted_details_ = row.integer(2) > 0;
                           return summary_->steps >= 0 && summary_->steps <= most_steps &&
                                  is_size(summary_->peak_allocated);
                       });
}

Result<EventNumber> DeviceTables::number_events(RowSource& source, DeviceHistory& device, int64_t events, int version) {
    if (!is_numbered_ && has_deleted_details_ && version >= first_version_that_deletes) {
        auto numbers = numbers_of(source, device.device, events);
        if (!numbers) {
            return numbers.error();
        }
        device.numbers = *std::move(numbers);
    }
    is_numbered_ = true;
    return device.numbers.state(events);
}

void DeviceTables::resize_events(DeviceHistory& device, EventNumber events) {
    device.event_time.resize(static_cast<size_t>(events), no_time_reported);
    device.event_ref.resize(static_cast<size_t>(events), nothing_reported);
}

Status DeviceTables::read(RowSource& source, DeviceHistory& device, const Context& context) {
    TIDEMARK_TRY(read_segments(source, device, context));
    TIDEMARK_TRY(read_others(source, device, context));
    TIDEMARK_TRY(read_repeats(source, device, context));
    if (device.allocations.size() > 0 || context.file.state == TraceFile::State::being_written) {
        return read_rows(source, device, context);
    }
    Status chunks = read_chunks(source, device, context);
    bool is_readable = chunks || chunks.error().kind != ErrorKind::input;
    if (!chunks && is_readable) {
        return chunks;
    }
    if (chunks && !device.allocations.are_in_order()) {
        is_readable = false;
    }
    const auto complete = is_readable ? has_all(source, device) : Result<bool>(false);
    if (!complete) {
        return complete.error();
    }
    if (*complete) {
        return context.compare_rows ? count_rows_that_differ(source, device, context) : Status();
    }
    start_over(device);
    damage_.add(DataGapReason::chunks_unreadable, is_readable ? 0 : 1, device.device);
    TIDEMARK_TRY(read_segments(source, device, context));
    TIDEMARK_TRY(read_others(source, device, context));
    TIDEMARK_TRY(read_repeats(source, device, context));
    return read_rows(source, device, context);
}

void DeviceTables::start_over(DeviceHistory& device) {
    const auto summary = summary_;
    const bool has_deleted_details = has_deleted_details_;
    *this = {};
    is_numbered_ = true;
    summary_ = summary;
    has_deleted_details_ = has_deleted_details;
    const auto events = device.event_count();
    device.allocations = {};
    device.segments.clear();
    device.others.clear();
    device.repeats.clear();
    device.event_time.clear();
    device.event_ref.clear();
    resize_events(device, events);
}

Status DeviceTables::read_segments(RowSource& source, DeviceHistory& device, const Context& context) {
    const std::string select = fmt::format(
        "SELECT id, address, size, alloc_event, alloc_time, free_event, free_time, stream, pool, is_large, "
        "is_expandable, stack, free_stack FROM segment WHERE device={} AND",
        device.device);
    const auto decode = [&](Statement& row, Segment& s, size_t index) {
        s.address = static_cast<uint64_t>(row.integer(1));
        s.size = static_cast<uint64_t>(row.integer(2));
        const auto created = row.is_null(3) ? before_history : device.numbers.find(row.integer(3));
        const auto freed = row.is_null(5) ? never : device.numbers.find(row.integer(5));
        s.stream = static_cast<uint32_t>(row.integer(7));
        s.pool = static_cast<uint32_t>(row.integer(8));
        s.pool_known = !row.is_null(8);
        s.is_large = row.integer(9) != 0;
        s.is_expandable = row.integer(10) != 0;
        const auto stack = context.dictionaries.stack(row.integer(11));
        const auto free_stack = context.dictionaries.stack(row.integer(12));
        // Pieces of one mapping share their first event, which refers to the first piece.
        const bool first_of_event = index == 0 || device.segments[index - 1].alloc_event != created;
        const Action arrival = s.is_expandable ? Action::segment_map : Action::segment_alloc;
        const Action leaving = s.is_expandable ? Action::segment_unmap : Action::segment_free;
        const bool sane = s.size > 0 && s.size <= largest_size && s.address <= UINT64_MAX - s.size &&
                          s.stream < context.trace.streams.size() && s.pool < context.trace.pools.size() && stack &&
                          free_stack && created && freed;
        if (!sane || (first_of_event && !note(device, *created, row.integer(4), arrival, index)) ||
            !note(device, *freed, row.integer(6), leaving, index)) {
            return false;
        }
        s.alloc_event = *created;
        s.free_event = *freed;
        s.stack = *stack;
        s.free_stack = *free_stack;
        if (index == segment_ids_.size()) {
            segment_ids_.push_back(row.integer(0));
        }
        return true;
    };
    return read_tail(source, select, segments_, device.segments, decode,
                     [](const Segment& s) { return s.free_event == never; });
}

std::optional<uint32_t> DeviceTables::segment(int64_t id) const {
    const auto found = std::lower_bound(segment_ids_.begin(), segment_ids_.end(), id);
    if (found == segment_ids_.end() || *found != id) {
        return std::nullopt;
    }
    return static_cast<uint32_t>(found - segment_ids_.begin());
}

Status DeviceTables::read_others(RowSource& source, DeviceHistory& device, const Context& context) {
    others_.last_id = std::max(others_.last_id, event_id(device.device, 0) - 1);
    const std::string select =
        fmt::format("SELECT id, time, action, address, size, stack, origin FROM event WHERE id<{} AND",
                    event_id(device.device + 1, 0));
    return read_tail(source, select, others_, device.others, [&](Statement& row, OtherEvent& e, size_t index) {
        const auto event = device.numbers.find(row.integer(0) & ((int64_t{1} << event_id_shift) - 1));
        e.name = row.text(2);
        // Other rows here refer to no allocation or segment, so nothing can be replayed from them.
        const Action action = action_from_name(e.name);
        e.action = action == Action::snapshot || action == Action::oom ? action : Action::unknown;
        e.address = static_cast<uint64_t>(row.integer(3));
        e.size = static_cast<uint64_t>(row.integer(4));
        const auto stack = context.dictionaries.stack(row.integer(5));
        if (!stack || !event || !note(device, *event, row.integer(1), e.action, index)) {
            return false;
        }
        e.event = *event;
        e.stack = *stack;
        e.origin = static_cast<uint32_t>(row.integer(6));
        return true;
    });
}

/// A row changes until its steps have ended: then it has counters, or events that describe what differs.
Status DeviceTables::read_repeats(RowSource& source, DeviceHistory& device, const Context& context) {
    if (context.trace.format_version < first_version_with_repeats || (summary_ && !has_deleted_details_)) {
        return {};
    }
    const std::string select = fmt::format(
        "SELECT id, event, events_after, start_time, end_time, like_time, count, events_left_out, peak_allocated, "
        "peak_active, peak_requested, counters FROM repeated_steps WHERE device={} AND {}",
        device.device, summary_ ? "like_time IS NULL AND" : "");
    return read_tail(
        source, select, repeats_, device.repeats,
        [&](Statement& row, RepeatedSteps& steps, size_t index) {
            const int64_t event = row.integer(1), events_after = row.integer(2);
            const RepeatedSteps* before = index == 0 ? nullptr : &device.repeats[index - 1];
            steps.start = row.integer(3);
            steps.end = row.integer(4);
            steps.like = row.is_null(5) ? std::nullopt : std::optional(row.integer(5));
            steps.count = row.integer(6);
            steps.events_left_out = row.integer(7);
            steps.peak_allocated = row.integer(8);
            steps.peak_active = row.integer(9);
            steps.peak_requested = row.integer(10);
            steps.counters = counters_of(row.blob(11), context.trace.format_version);
            const FileEvent events = device.numbers.in_file(device.event_count());
            const bool exists = event >= 0 && event <= events && events_after >= 0 && events_after <= events - event;
            steps.event = exists ? device.numbers.state(event) : 0;
            steps.after = exists ? device.numbers.state(event + events_after) : 0;
            const bool has_count = steps.count > 0 || (steps.count == 0 && steps.are_details_deleted());
            return exists && is_time(steps.start) && is_time(steps.end) && steps.start <= steps.end &&
                   is_time(steps.like.value_or(0)) && has_count && steps.count <= most_steps &&
                   steps.events_left_out >= 0 && steps.events_left_out <= longest_time &&
                   is_size(steps.peak_allocated) && is_size(steps.peak_active) && is_size(steps.peak_requested) &&
                   (before == nullptr || (before->after <= steps.event && before->end <= steps.start));
        },
        [](const RepeatedSteps& steps) {
            return steps.after == steps.event && steps.counters.empty() && !steps.are_details_deleted();
        });
}

Status DeviceTables::read_chunks(RowSource& source, DeviceHistory& device, const Context& context) {
    std::vector<Chunk> chunks;
    int64_t total = 0;
    TIDEMARK_TRY(source.each(
        fmt::format("SELECT id, first, count FROM allocation_chunk WHERE device={} ORDER BY first", device.device),
        [&](Statement& row) {
            chunks.push_back({row.integer(0), row.integer(1), row.integer(2)});
            const bool fits = row.integer(1) == total && row.integer(2) > 0 && row.integer(2) <= chunk_capacity;
            total += row.integer(2);
            return fits && total <= most_rows_in(context.file.bytes) && total < nothing_reported.index();
        }));
    device.allocations.resize(static_cast<size_t>(total));
    std::atomic<size_t> next{0};
    Status other_status;
    std::thread other;
    if (chunks.size() > 1) {
        other = std::thread([&] {
            auto connection = open_database(source.path(), context.file, source.progress());
            other_status = connection ? decode_some(*connection, chunks, next, device, source.progress())
                                      : Status(connection.error());
        });
    }
    const Status own_status = decode_some(source.connection(), chunks, next, device, source.progress());
    if (other.joinable()) {
        other.join();
    }
    if (source.progress().canceled) {
        return canceled_error();
    }
    for (const Status* status : {&own_status, static_cast<const Status*>(&other_status)}) {
        if (!*status) {
            return source.explain(status->error());
        }
    }
    return {};
}

/// Returns whether the chunks contain all rows. A recorder that was stopped leaves rows with some or no chunks.
Result<bool> DeviceTables::has_all(RowSource& source, const DeviceHistory& device) const {
    const int64_t low = event_id(device.device, 0), middle = preexisting_id(device.device, 0),
                  high = event_id(device.device + 1, 0);
    const auto& events = device.allocations.alloc_event;
    bool complete = true;
    const auto compare = [&](int64_t from, int64_t to, auto&& is_there) {
        return source.each(
            fmt::format("SELECT id FROM allocation WHERE id>={} AND id<{} ORDER BY id DESC LIMIT 1", from, to),
            [&](Statement& row) {
                complete = complete && is_there(row.integer(0) - from);
                return true;
            });
    };
    Status compared = compare(
        low, middle, [&](int64_t event) { return !events.empty() && device.numbers.in_file(events.back()) == event; });
    if (compared) {
        compared = compare(middle, high, [&](int64_t ordinal) {
            return ordinal < static_cast<int64_t>(events.size()) &&
                   events[static_cast<size_t>(ordinal)] == before_history;
        });
    }
    return compared ? Result<bool>(complete) : Result<bool>(compared.error());
}

Status DeviceTables::read_rows(RowSource& source, DeviceHistory& device, const Context& context) {
    const int64_t low = event_id(device.device, 0), middle = preexisting_id(device.device, 0),
                  high = event_id(device.device + 1, 0);
    earlier_.last_id = std::max(earlier_.last_id, middle - 1);
    allocations_.last_id = std::max(allocations_.last_id, low - 1);
    // Allocations from before the history come first in memory, but their ids are the highest. They cannot be added
    // later.
    const bool too_late = allocations_.last_id >= low;
    for (const auto& [tail, end] : {std::pair(&earlier_, high), std::pair(&allocations_, middle)}) {
        const auto before = std::exchange(tail->open, {});
        const auto take = [&, tail = tail](Statement& row, size_t index) {
            if (!add_row(device, row, index, context)) {
                return false;
            }
            if (device.allocations.free_completed[index] == never) {
                tail->open.emplace_back(row.integer(0), index);
            }
            return true;
        };
        TIDEMARK_TRY(source.look_up(fmt::format("{} id=?", select_allocation), before, take));
        TIDEMARK_TRY(source.each(fmt::format("{} id>? AND id<{} ORDER BY id", select_allocation, end), tail->last_id,
                                 [&, tail = tail](Statement& row) {
                                     tail->last_id = row.integer(0);
                                     return !(too_late && tail == &earlier_) && take(row, device.allocations.size());
                                 }));
    }
    return {};
}

std::optional<DeviceTables::Lifetime> DeviceTables::decode(const Statement& row, const FileNumbers& numbers,
                                                           const Context& context) const {
    const LifetimeEvents in_file = lifetime_events(row.integer(0), row, 2, 4);
    const auto created = in_memory(numbers, in_file.created), freed = in_memory(numbers, in_file.freed),
               done = in_memory(numbers, in_file.completed);
    const auto in_segment = segment(row.integer(9));
    const auto stack = context.dictionaries.stack(row.integer(10));
    const auto free_stack = context.dictionaries.stack(row.integer(11));
    const int64_t requested = row.integer(7), rounding = row.integer(8);
    if (!created || !freed || !done || !stack || !free_stack || requested < 0 || requested > int64_t{largest_size} ||
        rounding < -requested || rounding > int64_t{largest_size} || (!row.is_null(9) && !in_segment)) {
        return std::nullopt;
    }
    Lifetime decoded;
    decoded.time = row.integer(1);
    decoded.free_time = wrapping_sum(decoded.time, row.integer(3));
    decoded.free_completed_time = wrapping_sum(decoded.free_time, row.integer(5));
    Allocation& lifetime = decoded.lifetime;
    lifetime.alloc_event = *created;
    lifetime.free_event = *freed;
    lifetime.free_completed = *done;
    lifetime.address = static_cast<uint64_t>(row.integer(6));
    lifetime.requested = static_cast<uint64_t>(requested);
    lifetime.block_size = static_cast<uint64_t>(requested + rounding);
    lifetime.segment = in_segment.value_or(no_segment);
    lifetime.stack = *stack;
    lifetime.free_stack = *free_stack;
    lifetime.origin = static_cast<uint32_t>(row.integer(12));
    return decoded;
}

bool DeviceTables::add_row(DeviceHistory& device, const Statement& row, size_t index, const Context& context) const {
    const auto decoded = decode(row, device.numbers, context);
    if (!decoded) {
        return false;
    }
    const Allocation& lifetime = decoded->lifetime;
    if (!note(device, lifetime.alloc_event, decoded->time, Action::alloc, index) ||
        !note(device, lifetime.free_event, decoded->free_time, Action::free_requested, index) ||
        !note(device, lifetime.free_completed, decoded->free_completed_time, Action::free_completed, index)) {
        return false;
    }
    device.allocations.put(index, lifetime);
    return true;
}

/// Requires that the chunks were read.
Status DeviceTables::count_rows_that_differ(RowSource& source, const DeviceHistory& device, const Context& context) {
    const auto has_time = [&](EventNumber event, int64_t time) {
        return event == before_history || event == never || device.event_time[static_cast<size_t>(event)] == time;
    };
    const size_t count = device.allocations.size();
    size_t rows = 0;
    int64_t different = 0;
    const auto compare = [&](const Statement& row) {
        const auto decoded = decode(row, device.numbers, context);
        const bool is_same = rows < count && decoded && decoded->lifetime == device.allocations.at(rows) &&
                             has_time(decoded->lifetime.alloc_event, decoded->time) &&
                             has_time(decoded->lifetime.free_event, decoded->free_time) &&
                             has_time(decoded->lifetime.free_completed, decoded->free_completed_time);
        different += is_same ? 0 : 1;
        ++rows;
        return true;
    };
    const int64_t low = event_id(device.device, 0), middle = preexisting_id(device.device, 0),
                  high = event_id(device.device + 1, 0);
    for (const auto& [from, to] : {std::pair(middle, high), std::pair(low, middle)}) {
        TIDEMARK_TRY(source.each(fmt::format("{} id>=? AND id<{} ORDER BY id", select_allocation, to), from, compare));
    }
    damage_.add(DataGapReason::chunks_differ, different + static_cast<int64_t>(count - std::min(rows, count)),
                device.device);
    return {};
}

}  // namespace tidemark
