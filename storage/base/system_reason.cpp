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
        case EIO: return Sentence("Input/output error");
        case EISDIR: return Sentence("Is a directory");
        case ELOOP: return Sentence("Too many levels of symbolic links");
        case EMFILE: return Sentence("Too many open files");
        case ENAMETOOLONG: return Sentence("File name too long");
        case ENOENT: return Sentence("No such file or directory");
        case ENOEXEC: return Sentence("Exec format error");
        case ENOMEM: return Sentence("Cannot allocate memory");
        case ENOSPC: return Sentence("No space left on device");
        case ENOTDIR: return Sentence("Not a directory");
        case ENXIO: return Sentence("No such device or address");
        case EPERM: return Sentence("Operation not permitted");
        case EROFS: return Sentence("Read-only file system");
        case ETXTBSY: return Sentence("Text file busy");
        default: return std::strerror(error);
    }
}

}  // namespace tidemark
