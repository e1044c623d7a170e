#include "storage/read/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "storage/format/chunk_codec.h"
#include "storage/format/schema.h"

namespace tidemark {

namespace {

/// A trace row takes at least this much of the file; a forged count cannot make us reserve more than the file
/// justifies.
constexpr int64_t least_bytes_per_row = 4;
/// Files up to this size are checked page by page when opened; larger ones only in what is read.
constexpr int64_t quick_check_limit = 64 << 20;

Status check_file(const std::string& path, int64_t& size) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return environment_error(fmt::format("{} cannot be opened: {}.", path, std::strerror(errno)));
    }
    struct stat about {};
    std::array<char, 16> head{};
    const bool known = fstat(file, &about) == 0;
    const ssize_t got = known && S_ISREG(about.st_mode) ? read(file, head.data(), head.size()) : 0;
    close(file);
    if (!known || !S_ISREG(about.st_mode)) {
        return input_error(path + " is not a file.");
    }
    size = about.st_size;
    if (size == 0) {
        return input_error(path + " is empty.");
    }
    const std::string_view start(head.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (start.starts_with("SQLite format 3")) {
        return {};
    }
    const bool packed = start.starts_with("\x1f\x8b") ||
                        start.starts_with(
                            "\xfd"
                            "7zXZ") ||
                        start.starts_with("\x28\xb5\x2f\xfd");
    if (packed || start.starts_with("\x80")) {
        return input_error(
            fmt::format("{} is not a Tidemark trace but looks like a PyTorch snapshot. Import it first: "
                        "tidemark import {}",
                        path, path));
    }
    return input_error(path + " is not a Tidemark trace (a trace is an SQLite file ending in .tide).");
}

void obey_cancel(Connection& connection, Progress& progress) {
    connection.on_progress([](void* p) { return static_cast<Progress*>(p)->cancelled.load() ? 1 : 0; }, &progress);
}

Error damaged(const std::string& path, std::string_view what) {
    return input_error(
        fmt::format("{} is damaged: {}. Copy it again from where it was recorded, if you can.", path, what));
}

/// `pragma`: quick_check or integrity_check.
Status check_pages(Connection& connection, const std::string& path, std::string_view pragma) {
    auto check = connection.prepare(fmt::format("PRAGMA {}(1)", pragma));
    if (!check) {
        return damaged(path, check.error().message);
    }
    const auto row = check->step();
    if (!row) {
        return row.error().kind == ErrorKind::cancelled ? row.error() : damaged(path, row.error().message);
    }
    return *row && check->text(0) == "ok" ? Status() : damaged(path, check->text(0));
}

class Loader {
public:
    Loader(Connection& connection, Trace& trace, Progress& progress)
        : connection_(connection), trace_(trace), progress_(progress) {}

    Status run() {
        TIDEMARK_TRY(check_schema(connection_, trace_.path));
        if (trace_.file_bytes <= quick_check_limit) {
            TIDEMARK_TRY(check_pages(connection_, trace_.path, "quick_check"));
        }
        TIDEMARK_TRY(load_meta());
        TIDEMARK_TRY(load_stacks());
        TIDEMARK_TRY(load_dictionaries());
        TIDEMARK_TRY(load_spans());
        TIDEMARK_TRY(load_devices());
        return finish();
    }

private:
    /// Runs a query and calls row(statement) for each row; row returns whether the row made sense.
    template <class Row>
    Status each(std::string_view sql, Row&& row) {
        auto statement = connection_.prepare(sql);
        if (!statement) {
            return explain(statement.error());
        }
        for (;;) {
            const auto more = statement->step();
            if (!more) {
                return explain(more.error());
            }
            if (!*more) {
                return {};
            }
            if (!row(*statement)) {
                return damaged(fmt::format("a row contradicts the others (in: {})", sql));
            }
            if (progress_.cancelled) {
                return cancelled_error();
            }
        }
    }

    Error explain(Error error) const {
        if (error.kind != ErrorKind::cancelled) {
            error.message = fmt::format("{}: {}", trace_.path, error.message);
        }
        return error;
    }

    Error damaged(std::string_view what) const { return tidemark::damaged(trace_.path, what); }

    Status load_meta() {
        return each("SELECT key, value FROM meta", [&](Statement& row) {
            const std::string key(row.text(0)), value(row.text(1));
            if (key == "source") {
                trace_.source = value;
            } else if (key == "writer") {
                trace_.writer = value;
            } else if (key == "start_utc_ns") {
                trace_.start_utc_ns = std::strtoll(value.c_str(), nullptr, 10);
            } else if (key == "duration_ns") {
                trace_.duration = std::strtoll(value.c_str(), nullptr, 10);
            } else if (key == "clean_end") {
                clean_end_ = value == "1";
            } else if (key.starts_with("setting.")) {
                trace_.settings[key.substr(8)] = value;
            }
            return true;
        });
    }

    Status load_stacks() {
        // Ids must be dense: 1, 2, 3, ... as a writer gives them. Strings of other tables follow those of stacks.
        TIDEMARK_TRY(each("SELECT id, text FROM string ORDER BY id", [&](Statement& row) {
            strings_.emplace_back(row.text(1));
            return row.integer(0) == static_cast<int64_t>(strings_.size());
        }));
        StackTable& table = trace_.stacks;
        std::vector<StringId> string_ids{0};
        for (const std::string& text : strings_) {
            string_ids.push_back(table.intern(text));
        }
        std::vector<FrameId> frames{0};
        TIDEMARK_TRY(each("SELECT id, function, file, line FROM frame ORDER BY id", [&](Statement& row) {
            const int64_t function = row.integer(1), file = row.integer(2);
            const auto known = static_cast<int64_t>(string_ids.size());
            if (row.integer(0) != static_cast<int64_t>(frames.size()) || function < 0 || function >= known ||
                file < 0 || file >= known) {
                return false;
            }
            frames.push_back(
                table.intern(Frame{string_ids[static_cast<size_t>(function)], string_ids[static_cast<size_t>(file)],
                                   static_cast<int32_t>(row.integer(3))}));
            return true;
        }));
        stack_ids_.assign(1, 0);
        return each("SELECT id, caller, frame FROM stack ORDER BY id", [&](Statement& row) {
            const int64_t caller = row.integer(1), frame = row.integer(2);
            const auto next = static_cast<int64_t>(stack_ids_.size());
            if (row.integer(0) != next || caller < 0 || caller >= next || frame < 1 ||
                frame >= static_cast<int64_t>(frames.size())) {
                return false;
            }
            stack_ids_.push_back(
                table.intern(StackEntry{stack_ids_[static_cast<size_t>(caller)], frames[static_cast<size_t>(frame)]}));
            // A second row for the same stack would shift all ids behind it.
            return stack_ids_.back() == static_cast<StackId>(next);
        });
    }

    const std::string& text(int64_t id) const {
        static const std::string empty;
        return id >= 1 && id <= static_cast<int64_t>(strings_.size()) ? strings_[static_cast<size_t>(id - 1)] : empty;
    }

    Status load_dictionaries() {
        TIDEMARK_TRY(each("SELECT id, handle, coalesce(name, '') FROM stream ORDER BY id", [&](Statement& row) {
            trace_.streams.push_back({static_cast<uint64_t>(row.integer(1)), std::string(row.text(2))});
            return row.integer(0) == static_cast<int64_t>(trace_.streams.size()) - 1;
        }));
        TIDEMARK_TRY(each("SELECT id, owner_first, owner_second FROM pool ORDER BY id", [&](Statement& row) {
            trace_.pools.push_back({{row.integer(1), row.integer(2)}});
            return row.integer(0) == static_cast<int64_t>(trace_.pools.size()) - 1;
        }));
        trace_.origins.assign(1, {});
        return each("SELECT id, op, module, phase, compile_context, user_metadata, thread FROM origin ORDER BY id",
                    [&](Statement& row) {
                        trace_.origins.push_back({text(row.integer(1)), text(row.integer(2)), text(row.integer(3)),
                                                  text(row.integer(4)), text(row.integer(5)), row.integer(6)});
                        return row.integer(0) == static_cast<int64_t>(trace_.origins.size()) - 1;
                    });
    }

    Status load_spans() {
        TIDEMARK_TRY(
            each("SELECT name, kind, device, start_time, end_time FROM annotation ORDER BY id", [&](Statement& row) {
                Annotation a{std::string(row.text(0)), std::string(row.text(1)), static_cast<int>(row.integer(2)),
                             row.integer(3),           row.integer(4),           !row.is_null(4)};
                if (!a.closed) {
                    a.end = std::max(a.start, trace_.duration);
                }
                trace_.annotations.push_back(std::move(a));
                return true;
            }));
        std::vector<int64_t> mark_ids;
        TIDEMARK_TRY(each("SELECT id, name, time, value FROM mark ORDER BY id", [&](Statement& row) {
            mark_ids.push_back(row.integer(0));
            trace_.marks.push_back({std::string(row.text(1)),
                                    row.integer(2),
                                    row.is_null(3) ? std::nullopt : std::optional(row.real(3)),
                                    {}});
            return true;
        }));
        TIDEMARK_TRY(each("SELECT mark, device, events FROM mark_event", [&](Statement& row) {
            const auto found = std::lower_bound(mark_ids.begin(), mark_ids.end(), row.integer(0));
            if (found == mark_ids.end() || *found != row.integer(0)) {
                return false;
            }
            const int64_t events = row.integer(2);
            trace_.marks[static_cast<size_t>(found - mark_ids.begin())].events[static_cast<int>(row.integer(1))] =
                static_cast<EventNumber>(std::clamp<int64_t>(events, 0, never));
            return true;
        }));
        return each("SELECT kind, device, time, count, bytes, text FROM loss ORDER BY id", [&](Statement& row) {
            LossKind kind = LossKind::events_inconsistent;
            for (int k = 0; k < loss_kind_count; ++k) {
                if (loss_name(static_cast<LossKind>(k)) == row.text(0)) {
                    kind = static_cast<LossKind>(k);
                }
            }
            trace_.losses.push_back({kind, row.is_null(1) ? -1 : static_cast<int>(row.integer(1)), row.integer(2),
                                     row.integer(3), row.integer(4), std::string(row.text(5))});
            return true;
        });
    }

    Status load_devices() {
        TIDEMARK_TRY(each("SELECT id, coalesce(name, ''), total_bytes, events, truncated FROM device ORDER BY id",
                          [&](Statement& row) {
                              const int64_t id = row.integer(0), events = row.integer(3);
                              if (id < 0 || id >= max_devices || events < 0 || events > never - 1 ||
                                  events > trace_.file_bytes / least_bytes_per_row * 3) {
                                  return false;
                              }
                              DeviceHistory device;
                              device.device = static_cast<int>(id);
                              device.name = row.text(1);
                              device.total_bytes = row.integer(2);
                              device.truncated = row.integer(4) != 0;
                              device.event_time.assign(static_cast<size_t>(events), no_time_yet);
                              device.event_ref.assign(static_cast<size_t>(events), nobody);
                              trace_.devices.push_back(std::move(device));
                              return true;
                          }));
        for (DeviceHistory& device : trace_.devices) {
            TIDEMARK_TRY(load_segments(device));
            TIDEMARK_TRY(load_others(device));
            TIDEMARK_TRY(load_allocations(device));
            TIDEMARK_TRY(settle(device));
        }
        return {};
    }

    /// Notes what happened at an event; false if there is no such event.
    static bool note(DeviceHistory& device, int64_t event, int64_t time, Action action, size_t index) {
        if (event == before_history || event == never) {
            return true;
        }
        if (event < 0 || event >= device.event_count() || index > 0x0ffffffe) {
            return false;
        }
        device.event_time[static_cast<size_t>(event)] = time;
        device.event_ref[static_cast<size_t>(event)] = EventRef(action, static_cast<uint32_t>(index));
        return true;
    }

    Status load_segments(DeviceHistory& device) {
        const std::string sql = fmt::format(
            "SELECT address, size, alloc_event, alloc_time, free_event, free_time, stream, pool, is_large, "
            "is_expandable, stack, free_stack, id FROM segment WHERE device={} ORDER BY id",
            device.device);
        first_segment_ = 0;
        return each(sql, [&](Statement& row) {
            if (device.segments.empty()) {
                first_segment_ = row.integer(12);
            }
            Segment s;
            s.address = static_cast<uint64_t>(row.integer(0));
            s.size = static_cast<uint64_t>(row.integer(1));
            const int64_t born = row.is_null(2) ? before_history : row.integer(2);
            const int64_t gone = row.is_null(4) ? never : row.integer(4);
            s.stream = static_cast<uint32_t>(row.integer(6));
            s.pool = static_cast<uint32_t>(row.integer(7));
            s.pool_known = !row.is_null(7);
            s.is_large = row.integer(8) != 0;
            s.is_expandable = row.integer(9) != 0;
            const auto stack = stack_id(row.integer(10)), free_stack = stack_id(row.integer(11));
            const bool sane = s.size > 0 && s.size <= (uint64_t{1} << 60) && s.address <= UINT64_MAX - s.size &&
                              s.stream < trace_.streams.size() && s.pool < trace_.pools.size() && stack && free_stack &&
                              row.integer(12) == first_segment_ + static_cast<int64_t>(device.segments.size());
            const size_t index = device.segments.size();
            // Pieces of one mapping share their first event: the first piece keeps it.
            const bool first_of_event = device.segments.empty() || device.segments.back().alloc_event != born;
            const Action arrival = s.is_expandable ? Action::segment_map : Action::segment_alloc;
            const Action leaving = s.is_expandable ? Action::segment_unmap : Action::segment_free;
            if (!sane || (first_of_event && !note(device, born, row.integer(3), arrival, index)) ||
                !note(device, gone, row.integer(5), leaving, index) || born > never || gone < 0) {
                return false;
            }
            s.alloc_event = static_cast<EventNumber>(born);
            s.free_event = static_cast<EventNumber>(gone);
            s.stack = *stack;
            s.free_stack = *free_stack;
            device.segments.push_back(s);
            return true;
        });
    }

    Status load_others(DeviceHistory& device) {
        const std::string sql = fmt::format(
            "SELECT id, time, action, address, size, stack FROM event WHERE id BETWEEN {} AND {} ORDER BY id",
            event_id(device.device, 0), event_id(device.device + 1, 0) - 1);
        return each(sql, [&](Statement& row) {
            OtherEvent e;
            const int64_t sequence = row.integer(0) & ((int64_t{1} << event_id_shift) - 1);
            e.name = row.text(2);
            // Whatever else has a row here names no allocation or segment, so nothing can be replayed from it.
            const Action action = action_from_name(e.name);
            e.action = action == Action::snapshot || action == Action::oom ? action : Action::unknown;
            e.address = static_cast<uint64_t>(row.integer(3));
            e.size = static_cast<uint64_t>(row.integer(4));
            const auto stack = stack_id(row.integer(5));
            if (!stack || !note(device, sequence, row.integer(1), e.action, device.others.size())) {
                return false;
            }
            e.event = static_cast<EventNumber>(sequence);
            e.stack = *stack;
            device.others.push_back(std::move(e));
            return true;
        });
    }

    Status load_allocations(DeviceHistory& device) {
        struct Chunk {
            int64_t id, first, count;
        };
        std::vector<Chunk> chunks;
        int64_t total = 0;
        TIDEMARK_TRY(each(
            fmt::format("SELECT id, first, count FROM allocation_chunk WHERE device={} ORDER BY first", device.device),
            [&](Statement& row) {
                chunks.push_back({row.integer(0), row.integer(1), row.integer(2)});
                const bool fits = row.integer(1) == total && row.integer(2) > 0 && row.integer(2) <= chunk_capacity;
                total += row.integer(2);
                return fits && total <= trace_.file_bytes / least_bytes_per_row && total < 0x0fffffff;
            }));
        if (chunks.empty()) {
            return load_rows(device);
        }
        device.allocations.resize(static_cast<size_t>(total));
        std::atomic<size_t> next{0};
        const auto decode_some = [&](Connection& connection) -> Status {
            auto blob = connection.prepare("SELECT data FROM allocation_chunk WHERE id=?");
            if (!blob) {
                return blob.error();
            }
            for (size_t i = next++; i < chunks.size() && !progress_.cancelled; i = next++) {
                const auto row = blob->bind(0, chunks[i].id).step();
                if (!row) {
                    return row.error();
                }
                TIDEMARK_TRY(decode_chunk(*row ? blob->blob(0) : std::span<const std::byte>(), device,
                                          static_cast<uint32_t>(chunks[i].first),
                                          static_cast<uint32_t>(chunks[i].count)));
                blob->reset();
            }
            return {};
        };
        Status other_status;
        std::thread other;
        if (chunks.size() > 1) {
            other = std::thread([&] {
                auto connection = Connection::open(trace_.path, OpenMode::read_only);
                other_status = connection ? decode_some(*connection) : Status(connection.error());
            });
        }
        const Status own_status = decode_some(connection_);
        if (other.joinable()) {
            other.join();
        }
        if (progress_.cancelled) {
            return cancelled_error();
        }
        for (const Status* status : {&own_status, static_cast<const Status*>(&other_status)}) {
            if (!*status) {
                return explain(status->error());
            }
        }
        return {};
    }

    /// The slow way: a recorder that was stopped leaves rows and no chunks.
    Status load_rows(DeviceHistory& device) {
        // Those from before the history come first in memory; their ids sort last.
        const int64_t low = event_id(device.device, 0), middle = preexisting_id(device.device, 0),
                      high = event_id(device.device + 1, 0);
        Allocations& a = device.allocations;
        for (const auto& [from, to] : {std::pair(middle, high), std::pair(low, middle)}) {
            const std::string sql = fmt::format(
                "SELECT id, time, free_after, free_delay, done_after, done_delay, address, requested, rounding, "
                "segment, "
                "stack, free_stack, origin FROM allocation WHERE id >= {} AND id < {} ORDER BY id",
                from, to);
            TIDEMARK_TRY(each(sql, [&](Statement& row) { return add_row(device, row, a.size()); }));
        }
        return {};
    }

    bool add_row(DeviceHistory& device, Statement& row, uint32_t index) {
        const bool preexisting = row.integer(0) & preexisting_bit;
        const int64_t born = preexisting ? before_history : row.integer(0) & (preexisting_bit - 1);
        const auto later = [](int64_t from, bool is_null, int64_t after) -> int64_t {
            return is_null || after < 0 || after >= never ? int64_t{never} : from + after;
        };
        const int64_t freed = later(born, row.is_null(2), row.integer(2));
        const int64_t done = freed == never ? int64_t{never} : later(freed, row.is_null(4), row.integer(4));
        const int64_t born_time = row.integer(1);
        const auto add = [](int64_t a, int64_t b) {
            return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
        };
        const int64_t freed_time = add(born_time, row.integer(3)), done_time = add(freed_time, row.integer(5));
        const int64_t segment = row.is_null(9) ? -1 : row.integer(9) - first_segment_;
        const auto stack = stack_id(row.integer(10)), free_stack = stack_id(row.integer(11));
        const int64_t requested = row.integer(7), rounding = row.integer(8);
        if (!note(device, born, born_time, Action::alloc, index) ||
            !note(device, freed, freed_time, Action::free_requested, index) ||
            !note(device, done, done_time, Action::free_completed, index) || !stack || !free_stack || requested < 0 ||
            requested > int64_t{1} << 60 || rounding < -requested || rounding > int64_t{1} << 60 ||
            segment >= static_cast<int64_t>(device.segments.size())) {
            return false;
        }
        Allocation allocation;
        allocation.alloc_event = static_cast<EventNumber>(born);
        allocation.free_event = static_cast<EventNumber>(freed);
        allocation.done_event = static_cast<EventNumber>(done);
        allocation.address = static_cast<uint64_t>(row.integer(6));
        allocation.requested = static_cast<uint64_t>(requested);
        allocation.block_size = static_cast<uint64_t>(requested + rounding);
        allocation.segment = segment < 0 ? no_segment : static_cast<uint32_t>(segment);
        allocation.stack = *stack;
        allocation.free_stack = *free_stack;
        allocation.origin = static_cast<uint32_t>(row.integer(12));
        device.allocations.push_back(allocation);
        return true;
    }

    std::optional<StackId> stack_id(int64_t id) const {
        if (id < 0 || id >= static_cast<int64_t>(stack_ids_.size())) {
            return std::nullopt;
        }
        return static_cast<StackId>(id);
    }

    /// Checks what no single row shows, and gives events without a time the one before.
    Status settle(DeviceHistory& device) {
        const Allocations& a = device.allocations;
        const bool ordered = std::is_sorted(a.alloc_event.begin(), a.alloc_event.end());
        const uint32_t stacks = static_cast<uint32_t>(stack_ids_.size());
        const uint32_t origins = static_cast<uint32_t>(trace_.origins.size());
        uint64_t total = 0;
        bool sane = ordered;
        for (uint32_t i = 0; i < a.size() && sane; ++i) {
            sane = a.stack[i] < stacks && a.free_stack[i] < stacks && a.origin[i] < origins &&
                   a.block_size[i] <= uint64_t{1} << 60;
        }
        for (const Segment& s : device.segments) {
            total += s.size >> 9;
        }
        if (!sane || total > uint64_t{1} << 56) {
            return damaged("allocations refer to what is not there");
        }
        describe_gaps(device);
        int64_t last = no_time_yet;
        for (int64_t& time : device.event_time) {
            last = time = std::max(time, last);
        }
        for (size_t i = device.event_time.size(); i-- > 0;) {
            if (device.event_time[i] == no_time_yet) {
                device.event_time[i] = i + 1 < device.event_time.size() ? device.event_time[i + 1] : 0;
            }
        }
        return {};
    }

    /// Events that no row tells of all refer to one entry that says so.
    void describe_gaps(DeviceHistory& device) {
        int64_t gaps = 0;
        for (EventNumber e = 0; e < device.event_count(); ++e) {
            EventRef& ref = device.event_ref[static_cast<size_t>(e)];
            if (ref.packed != nobody.packed) {
                continue;
            }
            if (gaps++ == 0) {
                OtherEvent gap;
                gap.event = e;
                gap.name = "not recorded";
                device.others.push_back(std::move(gap));
            }
            ref = EventRef(Action::unknown, static_cast<uint32_t>(device.others.size() - 1));
        }
        if (gaps > 0) {
            trace_.losses.push_back({LossKind::events_inconsistent, device.device, 0, gaps, 0,
                                     fmt::format("The trace does not say what {} of its events were.", gaps)});
        }
    }

    Status finish() {
        if (!clean_end_) {
            trace_.clean_end = false;
            trace_.losses.push_back({LossKind::unclean_end, -1, trace_.duration, 0, 0,
                                     "The recording was not ended cleanly; what came last may be missing."});
        }
        if (trace_.devices.empty()) {
            return input_error(trace_.path + " holds no device: there is nothing to show.");
        }
        if (trace_.streams.empty()) {
            trace_.streams.push_back({});
        }
        if (trace_.pools.empty()) {
            trace_.pools.push_back({});
        }
        for (const DeviceHistory& device : trace_.devices) {
            if (!device.event_time.empty()) {
                trace_.duration = std::max(trace_.duration, device.event_time.back());
            }
        }
        return {};
    }

    static constexpr int64_t no_time_yet = INT64_MIN;
    inline static const EventRef nobody{Action::unknown, 0x0fffffff};
    Connection& connection_;
    Trace& trace_;
    Progress& progress_;
    bool clean_end_ = false;
    int64_t first_segment_ = 0;
    std::vector<std::string> strings_;
    std::vector<StackId> stack_ids_;
};

}  // namespace

Result<std::shared_ptr<const Trace>> open_trace(const std::string& path, Progress& progress) {
    auto trace = std::make_shared<Trace>();
    trace->path = path;
    if (auto status = check_file(path, trace->file_bytes); !status) {
        return status.error();
    }
    auto connection = Connection::open(path, OpenMode::read_only);
    if (!connection) {
        return connection.error();
    }
    obey_cancel(*connection, progress);
    if (auto status = Loader(*connection, *trace, progress).run(); !status) {
        return status.error();
    }
    const auto version = connection->query_integer("PRAGMA user_version");
    trace->format_version = version ? static_cast<int>(*version) : 0;
    return std::shared_ptr<const Trace>(std::move(trace));
}

Status check_every_page(const std::string& path, Progress& progress) {
    auto connection = Connection::open(path, OpenMode::read_only);
    if (!connection) {
        return connection.error();
    }
    obey_cancel(*connection, progress);
    return check_pages(*connection, path, "integrity_check");
}

}  // namespace tidemark
