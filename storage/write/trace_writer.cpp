#include "storage/write/trace_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "storage/format/chunk_codec.h"
#include "storage/format/schema.h"
#include "storage/format/sqlite.h"
#include "storage/timeline/curves.h"

namespace tidemark {

namespace {

/// A file that disappears unless it is kept. Locked while it lives, so that two writers of one target do not mix.
class PartFile {
public:
    explicit PartFile(std::string target) : target_(std::move(target)), path_(target_ + ".part") {}
    ~PartFile() {
        if (file_ >= 0 && !kept_) {
            unlink(path_.c_str());
        }
        if (file_ >= 0) {
            close(file_);
        }
    }
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    const std::string& path() const { return path_; }

    /// Made here and not by SQLite, so that a refusal names its reason. What a killed writer left is emptied.
    Status create() {
        const int file = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (file < 0) {
            return refusal();
        }
        if (flock(file, LOCK_EX | LOCK_NB) != 0) {
            close(file);
            return environment_error(target_ +
                                     " is being written by another program. Wait for it, or choose another name.");
        }
        file_ = file;
        return ftruncate(file_, 0) == 0 ? Status() : refusal();
    }

    Status keep() {
        if (fsync(file_) != 0 || rename(path_.c_str(), target_.c_str()) != 0) {
            return refusal();
        }
        kept_ = true;
        return {};
    }

private:
    Status refusal() const {
        return environment_error(fmt::format("{} cannot be written: {}.", target_, std::strerror(errno)));
    }

    std::string target_, path_;
    int file_ = -1;
    bool kept_ = false;
};

std::optional<int64_t> nonzero(int64_t value) { return value == 0 ? std::nullopt : std::optional(value); }

/// Fills one open, empty trace database.
class Filling {
public:
    Filling(Connection& connection, const Trace& trace, Progress& progress)
        : connection_(connection), trace_(trace), progress_(progress) {}

    Status run() {
        TIDEMARK_TRY(create_schema(connection_));
        TIDEMARK_TRY(connection_.execute("BEGIN"));
        TIDEMARK_TRY(write_meta());
        TIDEMARK_TRY(write_stacks());
        TIDEMARK_TRY(write_dictionaries());
        TIDEMARK_TRY(write_spans());
        for (const DeviceHistory& device : trace_.devices) {
            TIDEMARK_TRY(write_device(device));
            TIDEMARK_TRY(write_allocations(device));
            TIDEMARK_TRY(write_chunks(device));
        }
        TIDEMARK_TRY(put_meta("clean_end", trace_.clean_end ? "1" : "0"));
        return connection_.execute("COMMIT");
    }

private:
    Status put_meta(std::string_view key, std::string_view value) {
        auto row = connection_.prepare("INSERT INTO meta VALUES(?,?)");
        return row ? row->bind(0, key).bind(1, value).run() : row.error();
    }

    Status write_meta() {
        TIDEMARK_TRY(put_meta("source", trace_.source));
        TIDEMARK_TRY(put_meta("writer", trace_.writer));
        TIDEMARK_TRY(put_meta("start_utc_ns", fmt::format("{}", trace_.start_utc_ns)));
        TIDEMARK_TRY(put_meta("duration_ns", fmt::format("{}", trace_.duration)));
        for (const auto& [key, value] : trace_.settings) {
            TIDEMARK_TRY(put_meta("setting." + key, value));
        }
        return {};
    }

    Status write_stacks() {
        auto text = connection_.prepare("INSERT INTO string VALUES(?,?)");
        auto frame = connection_.prepare("INSERT INTO frame VALUES(?,?,?,?)");
        auto stack = connection_.prepare("INSERT INTO stack VALUES(?,?,?)");
        if (!text || !frame || !stack) {
            return (!text ? text : !frame ? frame : stack).error();
        }
        const StackTable& table = trace_.stacks;
        for (StringId i = 1; i < table.string_count(); ++i) {
            TIDEMARK_TRY(text->bind(0, int64_t{i}).bind(1, std::string_view(table.string(i))).run());
        }
        for (FrameId i = 1; i < table.frame_count(); ++i) {
            const Frame& f = table.frame(i);
            TIDEMARK_TRY(frame->bind(0, int64_t{i})
                             .bind(1, int64_t{f.function})
                             .bind(2, int64_t{f.file})
                             .bind(3, int64_t{f.line})
                             .run());
        }
        for (StackId i = 1; i < table.stack_count(); ++i) {
            const StackEntry& s = table.stack(i);
            TIDEMARK_TRY(stack->bind(0, int64_t{i}).bind(1, int64_t{s.caller}).bind(2, int64_t{s.frame}).run());
        }
        next_string_ = table.string_count();
        return {};
    }

    /// Id of a text that is not part of a stack: added to the table string behind the stacks' own.
    Result<int64_t> string_id(const std::string& text) {
        if (text.empty()) {
            return int64_t{0};
        }
        const auto [entry, added] = extra_strings_.try_emplace(text, next_string_);
        if (added) {
            auto row = connection_.prepare("INSERT INTO string VALUES(?,?)");
            if (!row) {
                return row.error();
            }
            if (auto status = row->bind(0, next_string_).bind(1, std::string_view(text)).run(); !status) {
                return status.error();
            }
            ++next_string_;
        }
        return entry->second;
    }

    Status write_dictionaries() {
        auto stream = connection_.prepare("INSERT INTO stream VALUES(?,?,?)");
        auto pool = connection_.prepare("INSERT INTO pool VALUES(?,?,?,?)");
        auto origin = connection_.prepare("INSERT INTO origin VALUES(?,?,?,?,?,?,?)");
        if (!stream || !pool || !origin) {
            return (!stream ? stream : !pool ? pool : origin).error();
        }
        for (size_t i = 0; i < trace_.streams.size(); ++i) {
            TIDEMARK_TRY(stream->bind(0, static_cast<int64_t>(i))
                             .bind(1, static_cast<int64_t>(trace_.streams[i].handle))
                             .bind(2, std::string_view(trace_.streams[i].name))
                             .run());
        }
        for (size_t i = 0; i < trace_.pools.size(); ++i) {
            const std::string name = trace_.pools[i].describe();
            TIDEMARK_TRY(pool->bind(0, static_cast<int64_t>(i))
                             .bind(1, trace_.pools[i].owner[0])
                             .bind(2, trace_.pools[i].owner[1])
                             .bind(3, std::string_view(name))
                             .run());
        }
        for (size_t i = 1; i < trace_.origins.size(); ++i) {
            const Origin& o = trace_.origins[i];
            origin->bind(0, static_cast<int64_t>(i)).bind(1, nonzero(o.thread));
            int parameter = 2;
            for (const std::string* text : {&o.op, &o.module, &o.phase, &o.compile_context, &o.user_metadata}) {
                const auto id = string_id(*text);
                if (!id) {
                    return id.error();
                }
                origin->bind(parameter++, nonzero(*id));
            }
            TIDEMARK_TRY(origin->run());
        }
        return {};
    }

    Status write_spans() {
        auto annotation = connection_.prepare("INSERT INTO annotation VALUES(NULL,?,?,?,NULL,?,?)");
        auto mark = connection_.prepare("INSERT INTO mark VALUES(?,?,?,?)");
        auto mark_event = connection_.prepare("INSERT INTO mark_event VALUES(?,?,?)");
        auto loss = connection_.prepare("INSERT INTO loss VALUES(NULL,?,?,?,?,?,?)");
        if (!annotation || !mark || !mark_event || !loss) {
            return (!annotation ? annotation : !mark ? mark : !mark_event ? mark_event : loss).error();
        }
        for (const Annotation& a : trace_.annotations) {
            TIDEMARK_TRY(annotation->bind(0, std::string_view(a.name))
                             .bind(1, std::string_view(a.kind))
                             .bind(2, int64_t{a.device})
                             .bind(3, a.start)
                             .bind(4, a.closed ? std::optional(a.end) : std::nullopt)
                             .run());
        }
        int64_t id = 0;
        for (const Mark& m : trace_.marks) {
            ++id;
            mark->bind(0, id).bind(1, std::string_view(m.name)).bind(2, m.time);
            m.value ? mark->bind(3, *m.value) : mark->bind_null(3);
            TIDEMARK_TRY(mark->run());
            for (const auto& [device, events] : m.events) {
                TIDEMARK_TRY(mark_event->bind(0, id).bind(1, int64_t{device}).bind(2, int64_t{events}).run());
            }
        }
        for (const Loss& l : trace_.losses) {
            TIDEMARK_TRY(loss->bind(0, loss_name(l.kind))
                             .bind(1, l.device < 0 ? std::nullopt : std::optional(int64_t{l.device}))
                             .bind(2, l.time)
                             .bind(3, l.count)
                             .bind(4, l.bytes)
                             .bind(5, std::string_view(l.text))
                             .run());
        }
        return {};
    }

    Status write_device(const DeviceHistory& device) {
        auto row = connection_.prepare("INSERT INTO device VALUES(?,?,NULL,?,?,?)");
        auto segment = connection_.prepare("INSERT INTO segment VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
        auto event = connection_.prepare("INSERT INTO event VALUES(?,?,?,?,?,NULL,?,NULL)");
        if (!row || !segment || !event) {
            return (!row ? row : !segment ? segment : event).error();
        }
        TIDEMARK_TRY(row->bind(0, int64_t{device.device})
                         .bind(1, std::string_view(device.name))
                         .bind(2, nonzero(device.total_bytes))
                         .bind(3, int64_t{device.event_count()})
                         .bind(4, int64_t{device.truncated})
                         .run());
        const Extremes peak = Curves(device).peak(Series::allocated);
        TIDEMARK_TRY(put_meta(fmt::format("peak_event.{}", device.device), fmt::format("{}", peak.max_event)));
        first_segment_ = next_segment_;
        const auto time_of = [&](EventNumber e) { return device.event_time[static_cast<size_t>(e)]; };
        for (const Segment& s : device.segments) {
            segment->bind(0, next_segment_++)
                .bind(1, int64_t{device.device})
                .bind(2, static_cast<int64_t>(s.address))
                .bind(3, static_cast<int64_t>(s.size));
            if (s.alloc_event == before_history) {
                segment->bind_null(4).bind_null(5);
            } else {
                segment->bind(4, int64_t{s.alloc_event}).bind(5, time_of(s.alloc_event));
            }
            if (s.free_event == never) {
                segment->bind_null(6).bind_null(7);
            } else {
                segment->bind(6, int64_t{s.free_event}).bind(7, time_of(s.free_event));
            }
            TIDEMARK_TRY(segment->bind(8, int64_t{s.stream})
                             .bind(9, s.pool_known ? std::optional(int64_t{s.pool}) : std::nullopt)
                             .bind(10, int64_t{s.is_large})
                             .bind(11, int64_t{s.is_expandable})
                             .bind(12, nonzero(s.stack))
                             .bind(13, nonzero(s.free_stack))
                             .run());
        }
        for (const OtherEvent& e : device.others) {
            TIDEMARK_TRY(event->bind(0, event_id(device.device, e.event))
                             .bind(1, time_of(e.event))
                             .bind(2, std::string_view(e.name))
                             .bind(3, static_cast<int64_t>(e.address))
                             .bind(4, static_cast<int64_t>(e.size))
                             .bind(5, nonzero(e.stack))
                             .run());
        }
        return {};
    }

    Status write_allocations(const DeviceHistory& device) {
        auto row = connection_.prepare("INSERT INTO allocation VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,NULL)");
        if (!row) {
            return row.error();
        }
        // Those from before the history have the larger ids: written last, so that rows only ever append.
        const Allocations& a = device.allocations;
        const uint32_t before = static_cast<uint32_t>(
            std::upper_bound(a.alloc_event.begin(), a.alloc_event.end(), before_history) - a.alloc_event.begin());
        for (uint32_t k = 0; k < a.size(); ++k) {
            const uint32_t i = k + before < a.size() ? k + before : k + before - a.size();
            TIDEMARK_TRY(write_allocation(*row, device, i));
            if (k % 8192 == 0) {
                if (progress_.cancelled) {
                    return cancelled_error();
                }
                progress_.report("writing", static_cast<double>(k) / a.size());
            }
        }
        return {};
    }

    Status write_allocation(Statement& row, const DeviceHistory& device, uint32_t i) {
        const Allocations& a = device.allocations;
        const EventNumber born = a.alloc_event[i], freed = a.free_event[i], done = a.done_event[i];
        const auto time_of = [&](EventNumber e) {
            return e == before_history ? 0 : device.event_time[static_cast<size_t>(e)];
        };
        row.bind(0, device.allocation_id(i));
        born == before_history ? row.bind_null(1) : row.bind(1, time_of(born));
        if (freed == never) {
            row.bind_null(2).bind_null(3);
        } else {
            row.bind(2, int64_t{freed} - born).bind(3, time_of(freed) - time_of(born));
        }
        if (freed == never || done == never) {
            row.bind_null(4).bind_null(5);
        } else {
            row.bind(4, int64_t{done} - freed).bind(5, time_of(done) - time_of(freed));
        }
        return row.bind(6, static_cast<int64_t>(a.address[i]))
            .bind(7, static_cast<int64_t>(a.requested[i]))
            .bind(8, static_cast<int64_t>(a.block_size[i] - a.requested[i]))
            .bind(9, a.segment[i] == no_segment ? std::nullopt : std::optional(first_segment_ + a.segment[i]))
            .bind(10, nonzero(a.stack[i]))
            .bind(11, nonzero(a.free_stack[i]))
            .bind(12, nonzero(a.origin[i]))
            .run();
    }

    Status write_chunks(const DeviceHistory& device) {
        auto row = connection_.prepare("INSERT INTO allocation_chunk VALUES(NULL,?,?,?,?)");
        if (!row) {
            return row.error();
        }
        const uint32_t total = device.allocations.size();
        for (uint32_t first = 0; first < total; first += chunk_capacity) {
            const uint32_t count = std::min(chunk_capacity, total - first);
            const auto bytes = encode_chunk(device, first, count);
            TIDEMARK_TRY(row->bind(0, int64_t{device.device})
                             .bind(1, int64_t{first})
                             .bind(2, int64_t{count})
                             .bind_blob(3, bytes)
                             .run());
        }
        return {};
    }

    Connection& connection_;
    const Trace& trace_;
    Progress& progress_;
    int64_t next_string_ = 0, next_segment_ = 1, first_segment_ = 1;
    std::unordered_map<std::string, int64_t> extra_strings_;
};

}  // namespace

Status write_trace(const Trace& trace, const std::string& path, IfExists if_exists, Progress& progress) {
    struct stat existing {};
    if (if_exists == IfExists::fail && lstat(path.c_str(), &existing) == 0) {
        return environment_error(path + " exists already; it is not overwritten.");
    }
    PartFile part(path);
    TIDEMARK_TRY(part.create());
    auto connection = Connection::open(part.path(), OpenMode::create);
    if (!connection) {
        return connection.error();
    }
    // The file is private until it is renamed: no journal is needed, and one sync at the end is enough.
    TIDEMARK_TRY(
        connection->execute("PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
                            "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16384"));
    if (auto filled = Filling(*connection, trace, progress).run(); !filled) {
        Error error = filled.error();
        if (error.kind != ErrorKind::cancelled) {
            error.message = fmt::format("{} could not be written. {}", path, error.message);
        }
        return error;
    }
    TIDEMARK_TRY(connection->close());
    return part.keep();
}

}  // namespace tidemark
