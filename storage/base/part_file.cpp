// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "storage/base/file_lock.h"
#include "storage/base/random_number.h"
#include "storage/base/system_reason.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".part";
constexpr size_t random_digits = 16;
constexpr int attempts = 16;

Error cannot_write(const std::string& path, int reason) {
    return environment_error("{path} cannot be written: {reason}.", with("path", path),
                             with("reason", system_reason(reason)));
}

Error exists_already(const std::string& path) {
    return environment_error("{path} exists already; it is not overwritten.", with("path", path));
}

bool exists(const std::string& path) {
    struct stat about {};
    return ::lstat(path.c_str(), &about) == 0;
}

std::string part_name(const std::string& target) {
    return fmt::format("{}.{:016x}{}", target, random_number(), ending);  // O_EXCL refuses an existing file
}

bool is_part_of(std::string_view name, std::string_view target) {
    if (name.size() != target.size() + 1 + random_digits + ending.size() || !name.starts_with(target) ||
        !name.ends_with(ending) || name[target.size()] != '.') {
        return false;
    }
    const std::string_view digits = name.substr(target.size() + 1, random_digits);
    return digits.find_first_not_of("0123456789abcdef") == digits.npos;
}

enum class Leftover { other, removed, being_written };

/// Removes a file that a killed writer of this user left.
Leftover remove_leftover(const std::string& path) {
    // Writable, because NFS locks no other descriptors.
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    struct stat about {};
    if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid()) {
        return Leftover::other;
    }
    switch (try_lock(file.get())) {
        case LockAttempt::held: return Leftover::being_written;
        case LockAttempt::unsupported: return Leftover::other;  // nothing shows whether its writer was killed
        case LockAttempt::locked: break;
    }
    ::unlink(path.c_str());
    return Leftover::removed;
}

Status remove_leftovers(const std::string& target) {
    const fs::path whole(target);
    const fs::path folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (is_part_of(entry->path().filename().native(), whole.filename().native()) &&
            remove_leftover(entry->path()) == Leftover::being_written) {
            return not_locked(target, LockAttempt::held, 0);
        }
    }
    return {};
}

/// Creates a new file, and locks it if the file system has locks. Returns no descriptor, and errno, if that is
/// impossible.
Descriptor create_locked(const std::string& path, FileAccess access) {
    Descriptor file(::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW,
                           access == FileAccess::owner ? 0600 : 0666));
    struct stat about {};
    // Another writer of this target may have taken it for a leftover before it was locked.
    if (file &&
        (try_lock(file.get()) == LockAttempt::held || ::fstat(file.get(), &about) != 0 || about.st_nlink == 0)) {
        errno = EEXIST;
        return Descriptor();
    }
    return file;
}

}  // namespace

Result<PartFile> PartFile::create(const std::string& target, IfExists if_exists, FileAccess access) {
    if (if_exists == IfExists::fail && exists(target)) {
        return exists_already(target);
    }
    TIDEMARK_TRY(remove_leftovers(target));
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::string path = part_name(target);
        if (Descriptor file = create_locked(path, access)) {
            return PartFile(target, if_exists, std::move(path), std::move(file));
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return cannot_write(target, errno);
}

PartFile& PartFile::operator=(PartFile&& other) noexcept {
    std::swap(target_, other.target_);
    std::swap(if_exists_, other.if_exists_);
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    return *this;
}

PartFile::~PartFile() {
    if (file_) {
        ::unlink(path_.c_str());
    }
}

Error PartFile::refusal(int reason) const { return cannot_write(target_, reason); }

Status PartFile::write(std::string_view bytes) {
    const int error = write_all(file_.get(), bytes);
    return error == 0 ? Status() : Status(refusal(error));
}

Status PartFile::keep() {
    if (::fsync(file_.get()) != 0) {
        return refusal(errno);
    }
    const unsigned flags = if_exists_ == IfExists::fail ? RENAME_NOREPLACE : 0;
    int error = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), flags) == 0 ? 0 : errno;
    if (error == EINVAL && flags != 0) {  // a file system that cannot rename without replacing
        error = exists(target_) ? EEXIST : std::rename(path_.c_str(), target_.c_str()) == 0 ? 0 : errno;
    }
    if (error != 0) {
        return error == EEXIST ? exists_already(target_) : refusal(error);
    }
    file_ = Descriptor();  // the destructor has nothing to remove
    return {};
}

int write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) {
            return errno;
        }
        bytes.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
    }
    return 0;
}

Status write_file(const std::string& path, std::string_view bytes, FileAccess access) {
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode))) {
        const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
        const int error = file ? write_all(file.get(), bytes) : errno;
        return error == 0 || error == EPIPE ? Status() : Status(cannot_write(path, error));
    }
    auto part = PartFile::create(path, IfExists::replace, access);
    if (!part) {
        return part.error();
    }
    TIDEMARK_TRY(part->write(bytes));
    return part->keep();
}

}  // namespace tidemark
