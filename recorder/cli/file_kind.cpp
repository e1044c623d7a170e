// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/file_kind.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "recorder/core/rank.h"
#include "storage/base/regular_file.h"
#include "storage/format/schema.h"
#include "storage/job/job.h"
#include "storage/trace/file_extensions.h"

namespace tidemark::cli {
namespace {

using namespace std::string_view_literals;

std::string first_bytes(const std::string& path) {
    const auto file = open_regular_file(path);
    std::string bytes(header_bytes, '\0');
    const ssize_t count = file ? ::read(file->get(), bytes.data(), bytes.size()) : 0;
    bytes.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return bytes;
}

bool is_pickle(std::string_view bytes) {
    return bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

bool is_compressed(std::string_view bytes) {
    return bytes.starts_with("\x1f\x8b"sv) ||
           bytes.starts_with(
               "\xfd"
               "7zXZ\0"sv) ||
           bytes.starts_with("\x28\xb5\x2f\xfd"sv);
}

/// std::filesystem refuses an empty name with an exception.
Status check_name(const std::string& path) {
    return path.empty() ? usage_error("The name of the output is empty; write -o NAME.") : Status();
}

bool is_pipe_or_device(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    return std::filesystem::is_character_file(status) || std::filesystem::is_fifo(status);
}

}  // namespace

FileKind file_kind(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
        return FileKind::missing;
    }
    if (!std::filesystem::is_regular_file(status)) {
        return FileKind::not_a_file;
    }
    const std::string bytes = first_bytes(path);
    if (bytes.size() == header_bytes && bytes.starts_with("SQLite format 3\0"sv)) {
        return is_trace_header(bytes) ? FileKind::trace : FileKind::other_sqlite;
    }
    return is_pickle(bytes) || is_compressed(bytes) ? FileKind::snapshot : FileKind::other;
}

Status check_may_be_trace(const std::string& path) {
    const FileKind kind = file_kind(path);
    if (kind == FileKind::not_a_file && path.ends_with(job_extension) && traces_in(path).empty()) {
        return input_error("{path}: the folder of this job has no traces (*{extension}) yet.", with("path", path),
                           with("extension", trace_extension));
    }
    if (kind != FileKind::snapshot) {
        return {};
    }
    return input_error("{path}: this is a PyTorch snapshot, not a trace; import it first: tidemark import {path}",
                       with("path", path));
}

Status may_write_trace(const std::string& path, bool force) {
    TIDEMARK_TRY(check_name(path));
    switch (file_kind(path)) {
        case FileKind::missing: return {};
        case FileKind::trace:
            return force ? Status() : usage_error("{path} exists already; --force replaces it.", with("path", path));
        default:
            return usage_error(
                "{path} exists and is not a Tidemark trace; it is left alone. Select another name with -o.",
                with("path", path));
    }
}

Status may_write_in(const std::string& folder) {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) {
        return environment_error("{folder}: there is no such folder for the trace.", with("folder", folder));
    }
    return ::access(folder.c_str(), W_OK | X_OK) == 0
               ? Status()
               : environment_error("{folder}: this folder is not writable; select another one with -o.",
                                   with("folder", folder));
}

Status may_write_job(const std::string& folder, bool force) {
    std::error_code error;
    if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error)) {
        return usage_error("{path} exists and is not a folder; it is left alone. Select another name with -o.",
                           with("path", folder));
    }
    const std::vector<std::string> traces = traces_in(folder);
    if (traces.empty() || recorder::rank_of_process()) {
        return {};
    }
    if (!force) {
        return usage_error("{path} has traces already; --force deletes them.", with("path", folder));
    }
    for (const std::string& trace : traces) {
        TIDEMARK_TRY(remove_from_job(trace));
    }
    return {};
}

Status may_write_report(const std::string& path, bool force) {
    switch (file_kind(path)) {
        case FileKind::missing: return {};
        case FileKind::not_a_file:
            return is_pipe_or_device(path)
                       ? Status()
                       : usage_error("{path} is not a file; select another name with -o.", with("path", path));
        case FileKind::trace:
        case FileKind::other_sqlite:
        case FileKind::snapshot:
            return usage_error(
                "{path} is a trace, a database or a snapshot; it is left alone. Select another name with -o.",
                with("path", path));
        case FileKind::other: break;
    }
    return force ? Status() : usage_error("{path} exists already; --force replaces it.", with("path", path));
}

}  // namespace tidemark::cli
