// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/system_reason.h"

#include <cerrno>
#include <cstring>

namespace tidemark {

SentenceValue system_reason(int error) {
    switch (error) {
        case EACCES: return Sentence("Permission denied");
        case EAGAIN: return Sentence("Resource temporarily unavailable");
        case EDQUOT: return Sentence("Disk quota exceeded");
        case EEXIST: return Sentence("File exists");
        case EFBIG: return Sentence("File too large");
        case EINVAL: return Sentence("Invalid argument");
        case EIO: return Sentence("Input/output error");
        case EISDIR: return Sentence("Is a directory");
        case ELOOP: return Sentence("Too many levels of symbolic links");
        case EMFILE: return Sentence("Too many open files");
        case ENAMETOOLONG: return Sentence("File name too long");
        case ENOENT: return Sentence("No such file or directory");
        case ENODEV: return Sentence("No such device");
        case ENOEXEC: return Sentence("Exec format error");
        case ENOLCK: return Sentence("No locks available");
        case ENOMEM: return Sentence("Cannot allocate memory");
        case ENOSPC: return Sentence("No space left on device");
        case ENOSYS: return Sentence("Function not implemented");
        case ENOTDIR: return Sentence("Not a directory");
        case ENXIO: return Sentence("No such device or address");
        case EOPNOTSUPP: return Sentence("Operation not supported");
        case EPERM: return Sentence("Operation not permitted");
        case EROFS: return Sentence("Read-only file system");
        case ESTALE: return Sentence("Stale file handle");
        case ETXTBSY: return Sentence("Text file busy");
        default: return std::strerror(error);
    }
}

}  // namespace tidemark
