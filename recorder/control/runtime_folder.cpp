// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/control/runtime_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "storage/base/parse_number.h"
#include "storage/base/system_reason.h"
#include "storage/base/trusted_folder.h"

namespace tidemark::recorder {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view recorder_suffix = ".recorder", program_suffix = ".program";

}  // namespace

std::string runtime_folder(uid_t user) {
    const char* selected = std::getenv("TIDEMARK_RUNTIME");
    return selected != nullptr && *selected == '/' ? selected : fmt::format("/tmp/tidemark-{}", user);
}

Status check_runtime_folder(const std::string& folder, uid_t user) {
    struct stat about {};
    if (::lstat(folder.c_str(), &about) != 0) {
        return errno == ENOENT ? Status()
                               : environment_error("{path} cannot be opened: {reason}.", with("path", folder),
                                                   with("reason", system_reason(errno)));
    }
    if (!S_ISDIR(about.st_mode) || about.st_uid != user || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return environment_error(
            "{folder} is not used to steer recordings, because it is not a folder that only its user can change. Ask "
            "its owner or an administrator to remove it, or set TIDEMARK_RUNTIME to another folder.",
            with("folder", folder));
    }
    return user == ::geteuid() ? check_trusted_folder(folder) : Status();
}

Result<std::string> create_runtime_folder() {
    const std::string folder = runtime_folder(::geteuid());
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return environment_error(
            "The folder {folder}, through which commands steer recordings, could not be created: "
            "{reason}.",
            with("folder", folder), with("reason", system_reason(errno)));
    }
    TIDEMARK_TRY(check_runtime_folder(folder, ::geteuid()));
    return folder;
}

std::string socket_path(const std::string& folder, int64_t pid, Listener listener) {
    return fmt::format("{}/{}{}", folder, pid, listener == Listener::recorder ? recorder_suffix : program_suffix);
}

std::vector<ControlSocket> control_sockets(const std::string& folder) {
    std::vector<ControlSocket> sockets;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string stem = entry.path().stem().string(), suffix = entry.path().extension().string();
        const auto pid = parse_number<int64_t>(stem);
        if (pid && *pid > 0 && (suffix == recorder_suffix || suffix == program_suffix)) {
            sockets.push_back(
                {*pid, suffix == recorder_suffix ? Listener::recorder : Listener::program, entry.path().string()});
        }
    }
    std::sort(sockets.begin(), sockets.end(),
              [](const auto& a, const auto& b) { return a.pid != b.pid ? a.pid < b.pid : a.listener < b.listener; });
    return sockets;
}

}  // namespace tidemark::recorder
