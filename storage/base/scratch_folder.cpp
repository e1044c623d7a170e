// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/scratch_folder.h"

#include <fmt/ranges.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <vector>

#include "storage/base/file_system.h"
#include "storage/base/shell_word.h"
#include "storage/base/system_reason.h"
#include "storage/base/trusted_folder.h"
#include "storage/base/units.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

/// A trace of some hours. A folder that TIDEMARK_SCRATCH selects may have less.
constexpr int64_t enough_room = int64_t{1} << 30;
constexpr std::string_view folder_start = "tidemark-";

std::string variable(const char* name) {
    const char* value = ::getenv(name);
    return value == nullptr ? "" : value;
}

Error cannot_create(const std::string& folder, int reason) {
    return environment_error("The folder {folder} for the recording could not be created: {reason}.",
                             with("folder", folder), with("reason", system_reason(reason)));
}

Result<std::string> check_selected(const std::string& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error) || ::access(folder.c_str(), W_OK | X_OK) != 0) {
        return environment_error(
            "TIDEMARK_SCRATCH names {folder}, which is no folder that you may write. Create it, or unset the variable.",
            with("folder", folder));
    }
    if (const auto obstacle = obstacle_to_growing_files(folder)) {
        return environment_error(
            "A trace cannot be recorded in the folder that TIDEMARK_SCRATCH names: {obstacle}. Name a folder on a "
            "local disk.",
            with("obstacle", *obstacle));
    }
    return fs::absolute(folder).lexically_normal().string();
}

/// XDG_RUNTIME_DIR comes last: it is memory, and systemd empties it when the user logs out, also under a running job.
std::vector<std::string> candidates() {
    std::vector<std::string> folders{variable("TMPDIR"), "/tmp", "/var/tmp", variable("XDG_RUNTIME_DIR")};
    std::erase_if(folders, [](const std::string& folder) { return !folder.starts_with('/'); });
    return folders;
}

/// Returns a name of this machine that can be a part of a file name.
std::string name_of_machine() {
    std::array<char, 65> name{};
    ::gethostname(name.data(), name.size() - 1);
    std::string text = name.data();
    std::erase_if(text, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.' && c != '_'; });
    return text.empty() ? "machine" : text;
}

}  // namespace

std::optional<Sentence> reason_for_scratch(const std::string& destination) {
    const std::string use = variable("TIDEMARK_USE_SCRATCH");
    if (use == "0") {
        return std::nullopt;
    }
    if (use == "1") {
        return Sentence("TIDEMARK_USE_SCRATCH is 1");
    }
    return obstacle_to_growing_files(fs::absolute(destination).parent_path().string());
}

Result<std::string> find_scratch_parent() {
    if (const std::string selected = variable("TIDEMARK_SCRATCH"); !selected.empty()) {
        return check_selected(selected);
    }
    const std::vector<std::string> folders = candidates();
    for (const std::string& folder : folders) {
        if (::access(folder.c_str(), W_OK | X_OK) == 0 && free_bytes(folder) >= enough_room &&
            !obstacle_to_growing_files(folder)) {
            return folder;
        }
    }
    return environment_error(
        "The trace needs a folder on a local disk while it is recorded, and none of {folders} is local, writable and "
        "has {bytes} of room. Set TIDEMARK_SCRATCH to such a folder.",
        with("folders", fmt::format("{}", fmt::join(folders, ", "))), with("bytes", format_bytes(enough_room)));
}

Result<std::string> create_scratch_folder() {
    const auto parent = find_scratch_parent();
    if (!parent) {
        return parent;
    }
    std::string created = fmt::format("{}/{}", *parent, folder_start) + name_of_machine() + "-XXXXXX";
    if (::mkdtemp(created.data()) == nullptr) {
        return cannot_create(created, errno);
    }
    if (const Status trusted = check_trusted_folder(created); !trusted) {
        ::rmdir(created.c_str());
        return trusted.error();
    }
    return created;
}

std::string trace_behind_link(const std::string& path) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    const bool is_scratch = !error && target.is_absolute() && target.filename() == fs::path(path).filename() &&
                            target.parent_path().filename().native().starts_with(folder_start);
    return is_scratch ? target.string() : "";
}

std::string move_command(const std::string& place, const std::string& destination) {
    std::error_code error;
    const std::string log = place + "-wal";
    const std::string folder = fs::path(destination).parent_path().string() + '/';
    return fmt::format("mv -f {}{} {}", shell_word(place), fs::exists(log, error) ? ' ' + shell_word(log) : "",
                       shell_word(folder));
}

}  // namespace tidemark
