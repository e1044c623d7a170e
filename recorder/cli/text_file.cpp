// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "recorder/cli/file_kind.h"
#include "storage/base/system_reason.h"

namespace tidemark::cli {
namespace {

Status refusal(const std::string& path, int error) {
    return environment_error("{path} cannot be written: {reason}.", with("path", path),
                             with("reason", system_reason(error)));
}

/// Returns 0 or the error number.
int write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            return errno;
        }
        text.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
    }
    return 0;
}

/// Opens, writes and closes a file. Returns 0 or the error number.
int write_to(const std::string& path, int flags, std::string_view text) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
    if (file < 0) {
        return errno;
    }
    const int error = write_all(file, text);
    return ::close(file) != 0 && error == 0 ? errno : error;
}

bool is_pipe_or_device(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    return std::filesystem::is_character_file(status) || std::filesystem::is_fifo(status);
}

}  // namespace

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
            return usage_error("{path} exists and is not a report; it is left alone. Select another name with -o.",
                               with("path", path));
        case FileKind::other: break;
    }
    return force ? Status() : usage_error("{path} exists already; --force replaces it.", with("path", path));
}

Status write_text_file(const std::string& path, std::string_view text) {
    if (is_pipe_or_device(path)) {
        const int error = write_to(path, 0, text);
        return error == 0 || error == EPIPE ? Status() : refusal(path, error);
    }
    const std::string part = path + ".part";
    int error = write_to(part, O_CREAT | O_TRUNC | O_NOFOLLOW, text);
    if (error == 0 && std::rename(part.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        ::unlink(part.c_str());
        return refusal(path, error);
    }
    return {};
}

}  // namespace tidemark::cli
