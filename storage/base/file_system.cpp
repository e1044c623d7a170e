// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/file_system.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "storage/base/descriptor.h"
#include "storage/base/file_lock.h"
#include "storage/base/system_reason.h"

namespace tidemark {
namespace {

constexpr size_t page = 4096;

struct NetworkFileSystem {
    uint32_t type;
    std::string_view name;
};
/// From linux/magic.h, and from the sources of file systems that Linux does not contain.
constexpr std::array network_file_systems{
    NetworkFileSystem{0x00006969, "NFS"},    NetworkFileSystem{0x0000517b, "SMB"},
    NetworkFileSystem{0xff534d42, "CIFS"},   NetworkFileSystem{0xfe534d42, "SMB"},
    NetworkFileSystem{0x0bd00bd0, "Lustre"}, NetworkFileSystem{0x47504653, "GPFS"},
    NetworkFileSystem{0x19830326, "BeeGFS"}, NetworkFileSystem{0x65735546, "FUSE"},
    NetworkFileSystem{0x01021997, "9p"},     NetworkFileSystem{0x00c36400, "CephFS"},
    NetworkFileSystem{0x5346414f, "AFS"},    NetworkFileSystem{0x6b414653, "AFS"},
    NetworkFileSystem{0x73757245, "Coda"},   NetworkFileSystem{0x0000564c, "NCP"},
    NetworkFileSystem{0xaad7aaea, "PanFS"},  NetworkFileSystem{0x20030528, "OrangeFS"},
    NetworkFileSystem{0x786f4256, "vboxsf"}, NetworkFileSystem{0xbacbacbc, "VMware shared folders"},
};

Sentence lacks_locks(const std::string& folder, int reason) {
    return Sentence("the file system of {folder} has no file locks ({reason})", with("folder", folder),
                    with("reason", system_reason(reason)));
}

Sentence lacks_mappings(const std::string& folder, int reason) {
    return Sentence("the file system of {folder} has no shared memory mappings ({reason})", with("folder", folder),
                    with("reason", system_reason(reason)));
}

/// Creates a file without a name. Returns no descriptor if the folder cannot be written.
Descriptor create_probe(const std::string& folder) {
    std::string path = folder + "/.tidemark-probe-XXXXXX";
    Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
    if (file) {
        ::unlink(path.c_str());
    }
    return file;
}

/// Returns whether records of the file can be locked, as SQLite does.
bool can_lock_records(int file) {
    struct flock record {};
    record.l_type = F_WRLCK;
    record.l_whence = SEEK_SET;
    record.l_len = 1;
    return ::fcntl(file, F_SETLK, &record) == 0;
}

std::optional<Sentence> probe(const std::string& folder) {
    const Descriptor file = create_probe(folder);
    const std::array<char, page> zeros{};
    // Also allocates the page: writing to a mapping on a full disk would kill this process.
    if (!file || ::pwrite(file.get(), zeros.data(), page, 0) != static_cast<ssize_t>(page)) {
        return std::nullopt;  // the writer of the trace reports the reason
    }
    if (try_lock(file.get()) != LockAttempt::locked || !can_lock_records(file.get())) {
        return lacks_locks(folder, errno);
    }
    void* mapping = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (mapping == MAP_FAILED) {
        return lacks_mappings(folder, errno);
    }
    ::munmap(mapping, page);
    return std::nullopt;
}

}  // namespace

std::string_view network_file_system(int64_t type) {
    // Some architectures have a signed f_type of 32 bits.
    const auto* found = std::find_if(network_file_systems.begin(), network_file_systems.end(),
                                     [&](const auto& known) { return known.type == static_cast<uint32_t>(type); });
    return found == network_file_systems.end() ? std::string_view() : found->name;
}

std::optional<Sentence> obstacle_to_growing_files(const std::string& folder) {
    struct statfs about {};
    if (::statfs(folder.c_str(), &about) != 0) {
        return std::nullopt;
    }
    if (const std::string_view name = network_file_system(about.f_type); !name.empty()) {
        return Sentence("{folder} is on a network file system ({name})", with("folder", folder), with("name", name));
    }
    return probe(folder);
}

int64_t free_bytes(const std::string& folder) {
    struct statvfs about {};
    return ::statvfs(folder.c_str(), &about) == 0 ? static_cast<int64_t>(about.f_bavail * about.f_frsize) : 0;
}

}  // namespace tidemark
