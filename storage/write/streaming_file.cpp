// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/write/streaming_file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "storage/base/file_lock.h"
#include "storage/base/system_reason.h"
#include "storage/format/checksums.h"
#include "storage/format/chunk_codec.h"
#include "storage/format/schema.h"
#include "storage/format/seal.h"
#include "storage/write/old_trace.h"

namespace tidemark {

namespace {

constexpr auto longest_wait_for_readers = std::chrono::seconds(2);
/// Fewer than a chunk may have: to encode it takes 250 bytes of the recorder's memory per row.
constexpr size_t rows_of_chunk = chunk_capacity / 4;

Error refusal(const std::string& path) {
    return environment_error("{path} cannot be written: {reason}.", with("path", path),
                             with("reason", system_reason(errno)));
}

/// Sorts rows by id, which they mostly are already, so that the tables' trees only grow at their ends.
template <class Row>
void sort_by_id(std::vector<std::pair<int64_t, Row>>& rows) {
    const auto by_id = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!std::is_sorted(rows.begin(), rows.end(), by_id)) {
        std::stable_sort(rows.begin(), rows.end(), by_id);
    }
}

}  // namespace

Result<StreamingFile> StreamingFile::create(const std::string& path, IfExists if_exists, int64_t most_bytes) {
    if (if_exists == IfExists::replace) {
        TIDEMARK_TRY(remove_old_trace(path, WithoutLocks::refuse));
    }
    // Created here and not by SQLite, so that an error contains its reason and only the owner can read the trace.
    const int lock = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) {
        return errno == EEXIST ? environment_error("{path} exists already; it is not overwritten.", with("path", path))
                               : refusal(path);
    }
    StreamingFile file(path, lock);
    if (const LockAttempt attempt = try_lock(lock); attempt != LockAttempt::locked) {
        const Error error = not_locked(path, attempt, errno);
        if (attempt == LockAttempt::unsupported) {
            unlink(path.c_str());
        }
        return error;
    }
    remove_files_beside(path);
    if (auto status = file.open_database(); !status) {
        unlink(path.c_str());
        return file.explain(status.error());
    }
    if (most_bytes > 0) {
        file.limit_ = std::make_unique<FileLimit>(*file.connection_, most_bytes);
    }
    return file;
}

Result<StreamingFile> StreamingFile::copy_of(Connection& source, const std::string& path) {
    StreamingFile file(path, ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.lock_ < 0) {
        return refusal(path);
    }
    auto connection = Connection::open(path, OpenMode::create);
    if (!connection) {
        return file.explain(connection.error());
    }
    file.connection_ = std::make_unique<Connection>(*std::move(connection));
    TIDEMARK_TRY(file.connection_->execute("PRAGMA synchronous=OFF; PRAGMA cache_size=-16384"));
    sqlite3_backup* backup = sqlite3_backup_init(file.connection_->raw(), "main", source.raw(), "main");
    // One step copies all pages in one transaction, so the recorder's commits meanwhile are no part of the copy.
    const int copied = backup == nullptr ? SQLITE_ERROR : sqlite3_backup_step(backup, -1);
    const int finished = sqlite3_backup_finish(backup);
    if (copied != SQLITE_DONE || finished != SQLITE_OK) {
        return file.explain(sqlite_error(file.connection_->raw(), path));
    }
    if (auto status = file.prepare_rows(); !status) {
        return file.explain(status.error());
    }
    return file;
}

StreamingFile::StreamingFile(StreamingFile&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      connection_(std::move(other.connection_)),
      rows_(std::exchange(other.rows_, std::nullopt)),
      limit_(std::move(other.limit_)) {}

StreamingFile& StreamingFile::operator=(StreamingFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    std::swap(connection_, other.connection_);
    std::swap(rows_, other.rows_);
    std::swap(limit_, other.limit_);
    return *this;
}

StreamingFile::~StreamingFile() {
    limit_.reset();
    rows_.reset();
    connection_.reset();
    // Must come last: closing any descriptor of the file releases SQLite's own locks on it.
    if (lock_ >= 0) {
        close(lock_);
    }
}

Status StreamingFile::open_database() {
    auto connection = Connection::open(path_, OpenMode::create);
    if (!connection) {
        return connection.error();
    }
    connection_ = std::make_unique<Connection>(*std::move(connection));
    // No fsync during the run: a killed recorder loses no data without it, and the program's disk is not slowed down.
    // The cache is small, since most rows are added at the ends of tables.
    TIDEMARK_TRY(connection_->execute("PRAGMA page_size=4096; PRAGMA synchronous=OFF; PRAGMA cache_size=-4096"));
    TIDEMARK_TRY(connection_->execute("BEGIN"));
    TIDEMARK_TRY(create_schema(*connection_));
    TIDEMARK_TRY(connection_->execute("COMMIT; PRAGMA wal_autocheckpoint=0"));
    TIDEMARK_TRY(enter_wal_mode());
    return prepare_rows();
}

Status StreamingFile::prepare_rows() {
    auto rows = TraceRows::prepare(*connection_);
    if (!rows) {
        return rows.error();
    }
    rows_ = *std::move(rows);
    return {};
}

Status StreamingFile::enter_wal_mode() {
    auto mode = connection_->prepare("PRAGMA journal_mode=WAL");
    if (!mode) {
        return mode.error();
    }
    const auto row = mode->step();
    if (!row) {
        return row.error();
    }
    // SQLite reports no error if the file system lacks what this mode needs.
    return *row && mode->text(0) == "wal"
               ? Status()
               : environment_error("Its file system cannot have a growing trace; write to a folder on a local disk.");
}

Error StreamingFile::explain(const Error& error) const {
    return {error.kind,
            Sentence("{path} could not be written. {sentence}", with("path", path_), with("sentence", error.sentence))};
}

Status StreamingFile::write(StreamingBatch& batch) {
    TIDEMARK_TRY(connection_->execute("BEGIN IMMEDIATE"));
    Status status = insert(batch);
    if (status) {
        status = connection_->execute("COMMIT");
    }
    if (!status) {
        sqlite3_exec(connection_->raw(), "ROLLBACK", nullptr, nullptr, nullptr);
        return explain(status.error());
    }
    // Copies as much of the log as readers allow; a later commit copies the rest.
    sqlite3_wal_checkpoint_v2(connection_->raw(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    if (limit_) {
        if (auto kept = limit_->keep(); !kept) {
            return explain(kept.error());
        }
    }
    return {};
}

Status StreamingFile::insert(StreamingBatch& batch) {
    for (const auto& [id, text] : batch.strings) {
        TIDEMARK_TRY(rows_->string(id, text));
    }
    for (const auto& [id, frame] : batch.frames) {
        TIDEMARK_TRY(rows_->frame(id, frame));
    }
    for (const auto& [id, stack] : batch.stacks) {
        TIDEMARK_TRY(rows_->stack(id, stack));
    }
    for (const auto& [id, stream] : batch.streams) {
        TIDEMARK_TRY(rows_->stream(id, stream));
    }
    for (const auto& [id, pool] : batch.pools) {
        TIDEMARK_TRY(rows_->pool(id, pool));
    }
    for (const auto& [id, origin] : batch.origins) {
        TIDEMARK_TRY(rows_->origin(id, origin));
    }
    for (const auto& [key, value] : batch.meta) {
        TIDEMARK_TRY(rows_->meta(key, value));
    }
    for (const auto& [id, process] : batch.processes) {
        TIDEMARK_TRY(rows_->process(id, process));
    }
    for (const auto& [id, segment] : batch.segments) {
        TIDEMARK_TRY(rows_->segment(id, segment));
    }
    sort_by_id(batch.created);
    for (const auto& [id, row] : batch.created) {
        TIDEMARK_TRY(rows_->allocation(id, row, segment_id(static_cast<int>(id >> event_id_shift), 0)));
    }
    sort_by_id(batch.ended);
    for (const auto& [id, row] : batch.ended) {
        TIDEMARK_TRY(rows_->allocation_end(id, row));
    }
    for (const StreamingBatch::Event& e : batch.events) {
        TIDEMARK_TRY(rows_->event(e.device, e.event, e.time, e.origin));
    }
    for (const auto& [id, row] : batch.driver) {
        TIDEMARK_TRY(rows_->driver_allocation(id, row));
    }
    for (const Sample& sample : batch.samples) {
        TIDEMARK_TRY(rows_->sample(sample));
    }
    for (const auto& [id, row] : batch.annotations) {
        TIDEMARK_TRY(rows_->annotation(id, row));
    }
    TIDEMARK_TRY(insert_steps(batch));
    for (const auto& [id, mark] : batch.marks) {
        TIDEMARK_TRY(rows_->mark(id, mark));
    }
    for (const DataGap& data_gap : batch.data_gaps) {
        TIDEMARK_TRY(rows_->data_gap(data_gap));
    }
    for (const SourceLineRow& line : batch.source_lines) {
        TIDEMARK_TRY(rows_->source_line(line));
    }
    for (const RecordingCost& cost : batch.costs) {
        TIDEMARK_TRY(rows_->recording_cost(cost));
    }
    for (const auto& [id, device] : batch.devices) {
        TIDEMARK_TRY(rows_->device(id, device));
    }
    return insert_graph(batch);
}

Status StreamingFile::insert_steps(const StreamingBatch& batch) {
    if (batch.drop_steps) {
        TIDEMARK_TRY(connection_->execute("DELETE FROM step"));
    }
    for (const auto& [id, step] : batch.steps) {
        TIDEMARK_TRY(rows_->step(id, step));
    }
    for (const auto& [id, steps] : batch.repeats) {
        TIDEMARK_TRY(rows_->repeated_steps(id, steps.first, steps.second));
    }
    for (const auto& [id, step] : batch.complete) {
        TIDEMARK_TRY(rows_->complete_step(id, step.device, step.steps, step.is_kept));
    }
    for (const auto& [first, end] : batch.kept_rows) {
        const auto kept =
            change_rows(*connection_, "UPDATE complete_step SET is_kept=1 WHERE id>=? AND id<?", {first, end});
        if (!kept) {
            return kept.error();
        }
    }
    for (const auto& [device, end] : batch.kept_ends) {
        const auto kept = change_rows(*connection_, "UPDATE complete_step SET is_kept=1 WHERE device=? AND end_time=?",
                                      {device, end});
        if (!kept) {
            return kept.error();
        }
    }
    return {};
}

Status StreamingFile::insert_graph(const StreamingBatch& batch) {
    for (const auto& [id, node] : batch.nodes) {
        TIDEMARK_TRY(rows_->node(id, node));
    }
    for (const auto& [id, node] : batch.changed_nodes) {
        TIDEMARK_TRY(rows_->node_end(id, node));
    }
    for (const auto& [node, edge] : batch.edges) {
        TIDEMARK_TRY(rows_->edge(node, edge));
    }
    for (const auto& [node, saved] : batch.saved) {
        TIDEMARK_TRY(rows_->saved_tensor(node, saved));
    }
    for (const CategoryRow& category : batch.categories) {
        TIDEMARK_TRY(rows_->category(category));
    }
    for (const auto& [id, scan] : batch.scans) {
        TIDEMARK_TRY(rows_->heap_scan(id, scan));
    }
    for (const StreamingBatch::Referrer& referrer : batch.referrers) {
        TIDEMARK_TRY(rows_->referrer(referrer.id, referrer.scan, referrer.node, referrer.allocation));
        int64_t position = 0;
        for (const StreamingBatch::Link& link : referrer.links) {
            TIDEMARK_TRY(
                rows_->path_link(referrer.id, position++, {link.kind, link.name, link.function, link.file, link.line}));
        }
    }
    return {};
}

Status StreamingFile::finish(const std::vector<int>& devices, bool clean_end) {
    // They describe what is written; nobody needs them any more.
    TIDEMARK_TRY(connection_->execute("DELETE FROM complete_step"));
    // One transaction per device: readers use either all chunks of a device or its rows.
    for (const int device : devices) {
        TIDEMARK_TRY(connection_->execute("BEGIN IMMEDIATE"));
        Status status = write_chunks(device);
        if (status) {
            status = connection_->execute("COMMIT");
        }
        if (!status) {
            sqlite3_exec(connection_->raw(), "ROLLBACK", nullptr, nullptr, nullptr);
            return explain(status.error());
        }
    }
    if (auto status = rows_->meta("clean_end", clean_end ? "1" : "0"); !status) {
        return explain(status.error());
    }
    rows_.reset();
    if (auto status = write_integrity(); !status) {
        return explain(status.error());
    }
    const auto is_one_file = leave_wal_mode();
    if (!is_one_file) {
        return is_one_file.error();
    }
    if (auto status = connection_->close(); !status) {
        return explain(status.error());
    }
    connection_.reset();
    if (*is_one_file) {
        TIDEMARK_TRY(seal_file(path_));
    }
    return fsync(lock_) == 0 ? Status() : refusal(path_);
}

Status StreamingFile::finish_copy() {
    std::vector<int> devices;
    int64_t end = 0;
    {
        auto ids = connection_->prepare("SELECT id FROM device");
        if (!ids) {
            return explain(ids.error());
        }
        for (auto more = ids->step(); more && *more; more = ids->step()) {
            devices.push_back(static_cast<int>(ids->integer(0)));
        }
        const auto committed =
            connection_->query_integer("SELECT CAST(value AS INTEGER) FROM meta WHERE key='committed_time_ns'");
        end = committed.value_or(0);
    }
    StreamingBatch last;
    last.meta.emplace_back("duration_ns", std::to_string(end));
    last.data_gaps.push_back({DataGapKind::not_recorded, -1, end, 0, 0, DataGapReason::snapshot, {}, {}});
    TIDEMARK_TRY(write(last));
    return finish(devices, true);
}

Status StreamingFile::write_integrity() {
    TIDEMARK_TRY(connection_->execute("BEGIN IMMEDIATE"));
    TIDEMARK_TRY(write_checksums(*connection_));
    TIDEMARK_TRY(write_empty_seal(*connection_));
    return connection_->execute("COMMIT");
}

Result<bool> StreamingFile::leave_wal_mode() {
    // Readers that follow the trace see the clean end and close the file. If one does not, the trace is complete but
    // stays in WAL mode, and the last reader converts it when it closes. SQLite itself does not wait for them here.
    const auto deadline = std::chrono::steady_clock::now() + longest_wait_for_readers;
    for (;;) {
        sqlite3_wal_checkpoint_v2(connection_->raw(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
        const auto left = connection_->execute("PRAGMA journal_mode=DELETE");
        if (left) {
            return true;
        }
        if ((sqlite3_errcode(connection_->raw()) & 0xff) != SQLITE_BUSY) {
            return explain(left.error());
        }
        if (std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

/// Chunks only make opening faster.
Result<bool> StreamingFile::has_room_for_chunks(int device) const {
    constexpr int64_t bytes_per_row = 24;
    if (!limit_) {
        return true;
    }
    const auto rows = integer_of(*connection_, "SELECT count(*) FROM allocation WHERE id>=? AND id<?",
                                 {event_id(device, 0), event_id(device + 1, 0)});
    return rows ? limit_->has_room_for(*rows * bytes_per_row) : rows.error();
}

Status StreamingFile::write_chunks(int device) {
    const auto has_room = has_room_for_chunks(device);
    if (!has_room || !*has_room) {
        return has_room ? Status() : Status(has_room.error());
    }
    auto stored = connection_->prepare(
        "SELECT id, time, free_after, free_delay, free_completed_after, free_completed_delay, address, requested, "
        "rounding, segment, "
        "stack, "
        "free_stack, origin FROM allocation WHERE id >= ? AND id < ? ORDER BY id");
    if (!stored) {
        return stored.error();
    }
    const auto row_of = [&](const Statement& s) {
        AllocationRow row;
        FileAllocation& lifetime = row.lifetime;
        lifetime.alloc_event = s.integer(0) & preexisting_bit ? before_history : s.integer(0) & (preexisting_bit - 1);
        row.time = s.integer(1);
        if (!s.is_null(2)) {
            lifetime.free_event = lifetime.alloc_event + s.integer(2);
            row.free_time = row.time + s.integer(3);
        }
        if (!s.is_null(4)) {
            lifetime.free_completed = lifetime.free_event + s.integer(4);
            row.free_completed_time = row.free_time + s.integer(5);
        }
        lifetime.address = static_cast<uint64_t>(s.integer(6));
        lifetime.requested = static_cast<uint64_t>(s.integer(7));
        lifetime.block_size = static_cast<uint64_t>(s.integer(7) + s.integer(8));
        lifetime.segment = s.is_null(9) ? no_segment : static_cast<uint32_t>(s.integer(9) - segment_id(device, 0));
        lifetime.stack = static_cast<StackId>(s.integer(10));
        lifetime.free_stack = static_cast<StackId>(s.integer(11));
        lifetime.origin = static_cast<uint32_t>(s.integer(12));
        return row;
    };
    int64_t first = 0;
    std::vector<AllocationRow> chunk;
    chunk.reserve(rows_of_chunk);
    const auto flush = [&]() -> Status {
        if (!chunk.empty()) {
            TIDEMARK_TRY(rows_->chunk(device, first, chunk));
            first += static_cast<int64_t>(chunk.size());
            chunk.clear();
        }
        return {};
    };
    const int64_t low = event_id(device, 0), middle = preexisting_id(device, 0), high = event_id(device + 1, 0);
    for (const auto& [from, to] : {std::pair(middle, high), std::pair(low, middle)}) {
        stored->bind(0, from).bind(1, to);
        for (;;) {
            const auto more = stored->step();
            if (!more) {
                return more.error();
            }
            if (!*more) {
                break;
            }
            chunk.push_back(row_of(*stored));
            if (chunk.size() == rows_of_chunk) {
                TIDEMARK_TRY(flush());
            }
        }
    }
    return flush();
}

}  // namespace tidemark
