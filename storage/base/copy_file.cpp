// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/copy_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "storage/base/descriptor.h"
#include "storage/base/system_reason.h"

namespace tidemark {
namespace {

constexpr size_t copied_at_once = 1 << 20;

Error cannot_read(const std::string& path, int reason) {
    return environment_error("{path} cannot be opened: {reason}.", with("path", path),
                             with("reason", system_reason(reason)));
}

Status copy_content(const Descriptor& source, const std::string& from, PartFile& part) {
    std::vector<char> block(copied_at_once);
    for (;;) {
        const ssize_t count = ::read(source.get(), block.data(), block.size());
        if (count < 0 && errno != EINTR) {
            return cannot_read(from, errno);
        }
        if (count == 0) {
            return {};
        }
        TIDEMARK_TRY(part.write({block.data(), static_cast<size_t>(std::max<ssize_t>(count, 0))}));
    }
}

}  // namespace

Status copy_file(const std::string& from, const std::string& to, IfExists if_exists) {
    const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat about {};
    if (!source || ::fstat(source.get(), &about) != 0) {
        return cannot_read(from, errno);
    }
    auto part = PartFile::create(to, if_exists, FileAccess::owner);
    if (!part) {
        return part.error();
    }
    TIDEMARK_TRY(copy_content(source, from, *part));
    // Not every file system has permissions and times to set: the content is what counts.
    (void)::chmod(part->path().c_str(), about.st_mode & 0777);
    const std::array<timespec, 2> times{about.st_atim, about.st_mtim};
    (void)::utimensat(AT_FDCWD, part->path().c_str(), times.data(), AT_SYMLINK_NOFOLLOW);
    return part->keep();
}

}  // namespace tidemark
