// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/trusted_folder.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "storage/base/system_reason.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

std::string name_of_user(uid_t user) {
    const passwd* known = ::getpwuid(user);
    return known == nullptr ? fmt::to_string(user) : known->pw_name;
}

/// Returns whether this is the private group of the user: Linux distributions give each user one of the same name.
bool is_private_group(gid_t group) {
    const passwd* user = ::getpwuid(::geteuid());
    const struct group* known = ::getgrgid(group);
    return user != nullptr && known != nullptr && user->pw_gid == group &&
           std::strcmp(user->pw_name, known->gr_name) == 0 &&
           (known->gr_mem[0] == nullptr ||
            (std::strcmp(known->gr_mem[0], user->pw_name) == 0 && known->gr_mem[1] == nullptr));
}

bool others_may_write(const struct stat& about) {
    return (about.st_mode & S_IWOTH) != 0 || ((about.st_mode & S_IWGRP) != 0 && !is_private_group(about.st_gid));
}

/// `is_last`: it is the folder itself and not one above it.
Status check_one(const fs::path& folder, bool is_last) {
    struct stat about {};
    if (::stat(folder.c_str(), &about) != 0) {
        return environment_error("{path} cannot be opened: {reason}.", with("path", folder.native()),
                                 with("reason", system_reason(errno)));
    }
    if (!S_ISDIR(about.st_mode)) {
        return environment_error("{path} is not a folder.", with("path", folder.native()));
    }
    if (about.st_uid != 0 && about.st_uid != ::geteuid()) {
        return environment_error(
            "{folder} belongs to the user {owner}, who could change the programs and files that Tidemark uses there. "
            "Use a folder that belongs to you or to root.",
            with("folder", folder.native()), with("owner", name_of_user(about.st_uid)));
    }
    const bool is_shared = !is_last && (about.st_mode & S_ISVTX) != 0;
    if (others_may_write(about) && !is_shared) {
        return environment_error(
            "Other users may write the folder {folder} (mode {mode}), so they could change the programs and files "
            "that Tidemark uses there. Forbid it with: chmod go-w {folder}",
            with("folder", folder.native()), with("mode", fmt::format("{:04o}", about.st_mode & 07777)));
    }
    return {};
}

}  // namespace

Status check_trusted_folder(const std::string& path) {
    std::error_code error;
    const fs::path whole = fs::canonical(path, error);
    if (error) {
        return environment_error("{path} cannot be opened: {reason}.", with("path", path),
                                 with("reason", system_reason(error.value())));
    }
    for (fs::path folder = whole;; folder = folder.parent_path()) {
        TIDEMARK_TRY(check_one(folder, folder == whole));
        if (folder == folder.root_path()) {
            return {};
        }
    }
}

}  // namespace tidemark
