// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "storage/base/regular_file.h"
#include "storage/base/system_reason.h"
#include "storage/base/units.h"
#include "storage/format/schema.h"
#include "storage/read/row_source.h"

namespace tidemark {

namespace {

constexpr size_t read_version_at = 19;  // offset in SQLite's header: 2 in WAL mode
constexpr char wal_version = 2;

/// Files up to this size are checked completely when opened; larger files only where they are read.
constexpr int64_t quick_check_limit = 64 << 20;

Error not_a_trace(const std::string& path, std::string_view start) {
    const bool packed = start.starts_with("\x1f\x8b") ||
                        start.starts_with(
                            "\xfd"
                            "7zXZ") ||
                        start.starts_with("\x28\xb5\x2f\xfd");
    if (packed || start.starts_with("\x80")) {
        return input_error(
            "{path} is not a Tidemark trace but looks like a PyTorch snapshot. Import it first: tidemark import {path}",
            with("path", path));
    }
    return input_error("{path} is not a Tidemark trace (a trace is an SQLite file ending in .tide).",
                       with("path", path));
}

/// Returns the bytes of a complete file that begins with this header, as far as SQLite has noted it there.
int64_t whole_size(std::string_view header) {
    if (header.size() < header_bytes) {
        return header_bytes;
    }
    const auto number = [&](size_t at, size_t bytes) {
        int64_t value = 0;
        for (const char byte : header.substr(at, bytes)) {
            value = value << 8 | static_cast<unsigned char>(byte);
        }
        return value;
    };
    constexpr size_t page_size_at = 16, changes_at = 24, pages_at = 28, changes_when_noted_at = 92;
    const bool is_noted =
        header[read_version_at] != wal_version && number(changes_at, 4) == number(changes_when_noted_at, 4);
    const int64_t page_size = number(page_size_at, 2);
    return is_noted ? number(pages_at, 4) * (page_size == 1 ? 65536 : page_size) : 0;
}

/// Returns whether a writer has locked the file.
bool is_locked(int file) {
    if (flock(file, LOCK_SH | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK;
    }
    flock(file, LOCK_UN);
    return false;
}

/// Returns the file's first bytes, which contain SQLite's header.
std::string_view read_head(int file, std::array<char, header_bytes>& head) {
    const ssize_t got = pread(file, head.data(), head.size(), 0);
    return {head.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))};
}

}  // namespace

Result<WatchedFile> WatchedFile::open(const std::string& path) {
    auto opened = open_regular_file(path);
    if (!opened) {
        return opened.error();
    }
    WatchedFile file(path, opened->release());
    struct stat about {};
    if (fstat(file.file_, &about) == 0 && about.st_size == 0) {
        return input_error("{path} is empty. Copy it again from where it was recorded, if you can.",
                           with("path", path));
    }
    std::array<char, header_bytes> head{};
    const std::string_view start = read_head(file.file_, head);
    if (!start.starts_with("SQLite format 3")) {
        return not_a_trace(path, start);
    }
    if (const int64_t whole = whole_size(start); about.st_size < whole) {
        return damaged(path, Sentence("it has only {bytes} of its {all}", with("bytes", format_bytes(about.st_size)),
                                      with("all", format_bytes(whole))));
    }
    return file;
}

WatchedFile::~WatchedFile() {
    if (file_ >= 0) {
        close(file_);
    }
}

TraceFile WatchedFile::look() const {
    TraceFile found;
    struct stat about {};
    fstat(file_, &about);
    found.bytes = about.st_size;
    std::array<char, header_bytes> head{};
    const std::string_view start = read_head(file_, head);
    if (start.size() <= read_version_at || start[read_version_at] != wal_version) {
        return found;
    }
    struct stat log {};
    // SQLite writes the log beside the file itself; the path may be a link to it.
    std::error_code error;
    const std::filesystem::path itself = std::filesystem::canonical(path_, error);
    const std::string log_path = (error ? path_ : itself.string()) + "-wal";
    const bool has_log = stat(log_path.c_str(), &log) == 0 && S_ISREG(log.st_mode);
    found.bytes += has_log ? log.st_size : 0;
    found.state = is_locked(file_) ? TraceFile::State::being_written
                  : has_log        ? TraceFile::State::left
                                   : TraceFile::State::left_alone;
    return found;
}

Seal WatchedFile::check_seal(std::span<const std::byte> stored, const Progress& progress) const {
    return tidemark::check_seal(file_, stored, progress);
}

Result<TraceFile> look_at(const std::string& path) {
    const auto file = WatchedFile::open(path);
    return file ? Result<TraceFile>(file->look()) : Result<TraceFile>(file.error());
}

void obey_cancel(Connection& connection, Progress& progress) {
    connection.on_progress([](void* p) { return static_cast<Progress*>(p)->canceled.load() ? 1 : 0; }, &progress);
}

Result<Connection> open_database(const std::string& path, const TraceFile& file, Progress& progress) {
    const OpenMode mode = file.state == TraceFile::State::left         ? OpenMode::read_left
                          : file.state == TraceFile::State::left_alone ? OpenMode::read_alone
                                                                       : OpenMode::read_only;
    auto connection = Connection::open(path, mode);
    if (!connection) {
        return connection;
    }
    obey_cancel(*connection, progress);
    const Status adapted = adapt_older_format(*connection);
    return adapted ? std::move(connection)
                   : Result<Connection>(RowSource(*connection, path, progress).explain(adapted.error()));
}

Result<Connection> open_checked(const std::string& path, const TraceFile& file, Progress& progress) {
    auto connection = open_database(path, file, progress);
    if (!connection) {
        return connection;
    }
    Status sound = check_schema(*connection, path);
    if (sound && file.bytes <= quick_check_limit) {
        sound = check_pages(*connection, path, "quick_check");
    }
    return sound ? std::move(connection) : Result<Connection>(sound.error());
}

Status check_pages(Connection& connection, const std::string& path, std::string_view pragma) {
    auto check = connection.prepare(fmt::format("PRAGMA {}(1)", pragma));
    if (!check) {
        return damaged(path, check.error().sentence);
    }
    const auto row = check->step();
    if (!row) {
        return row.error().kind == ErrorKind::canceled ? row.error() : damaged(path, row.error().sentence);
    }
    return *row && check->text(0) == "ok" ? Status() : damaged(path, std::string(check->text(0)));
}

Error damaged(const std::string& path, const SentenceValue& what) {
    return input_error("{path} is damaged: {what}. Copy it again from where it was recorded, if you can.",
                       with("path", path), with("what", what));
}

}  // namespace tidemark
