// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "storage/base/scratch_folder.h"
#include "storage/base/system_reason.h"

namespace tidemark {

Error not_a_regular_file(const std::string& path, unsigned mode) {
    if (S_ISDIR(mode)) {
        return input_error("{path} is a folder. Name a file in it.", with("path", path));
    }
    if (S_ISFIFO(mode)) {
        return input_error(
            "{path} is a pipe, and Tidemark reads only files. Write the content to a file first: cat {path} > FILE",
            with("path", path));
    }
    if (S_ISSOCK(mode)) {
        return input_error("{path} is a socket, and Tidemark reads only files. Name a trace or a snapshot.",
                           with("path", path));
    }
    return input_error("{path} is a device, and Tidemark reads only files. Name a trace or a snapshot.",
                       with("path", path));
}

/// Returns the error for a link to a trace on another machine.
static Error not_moved_yet(const std::string& path, const std::string& elsewhere) {
    return environment_error(
        "{path} is not complete yet. The recorder writes it to {place}, on the machine that this folder names, and "
        "moves "
        "it here at the end of the recording. If the recorder was killed, move it from there.",
        with("path", path), with("place", elsewhere));
}

Result<Descriptor> open_regular_file(const std::string& path) {
    const auto cannot_open = [&](int reason) {
        const std::string elsewhere = reason == ENOENT ? trace_behind_link(path) : "";
        return !elsewhere.empty() ? not_moved_yet(path, elsewhere)
                                  : environment_error("{path} cannot be opened: {reason}.", with("path", path),
                                                      with("reason", system_reason(reason)));
    };
    struct stat about {};
    // Opening a device can have effects, and a socket cannot be opened, so the kind is checked before as well.
    if (::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode)) {
        return not_a_regular_file(path, about.st_mode);
    }
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file || ::fstat(file.get(), &about) != 0) {
        return cannot_open(errno);
    }
    if (!S_ISREG(about.st_mode)) {
        return not_a_regular_file(path, about.st_mode);
    }
    return file;
}

Result<std::string> read_regular_file(const std::string& path, int64_t most_bytes) {
    const auto file = open_regular_file(path);
    if (!file) {
        return file.error();
    }
    struct stat about {};
    if (::fstat(file->get(), &about) != 0 || about.st_size > most_bytes) {
        return input_error("{path} is larger than {bytes}, so it is not what its name says.", with("path", path),
                           with("bytes", format_bytes(most_bytes)));
    }
    std::string bytes(static_cast<size_t>(about.st_size), '\0');
    size_t done = 0;
    for (ssize_t count = 1; count > 0 && done < bytes.size(); done += static_cast<size_t>(count)) {
        count = ::read(file->get(), bytes.data() + done, bytes.size() - done);
        if (count < 0) {
            return environment_error("{path} cannot be read: {reason}.", with("path", path),
                                     with("reason", system_reason(errno)));
        }
    }
    bytes.resize(done);
    return bytes;
}

}  // namespace tidemark
