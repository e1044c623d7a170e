// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/record/recorder_home.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "storage/base/trusted_folder.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

struct Part {
    const char* name;
    bool needed;
};
constexpr std::array<Part, 7> parts{{{"tidemark-recorder", true},
                                     {"libtidemark_core.so", true},
                                     {"libtidemark_frames.so", false},
                                     {"libtidemark_driver.so", false},
                                     {"plugin", false},
                                     {"python/tidemark", false},
                                     {"startup/sitecustomize.py", false}}};

std::string selected_folder() {
    const char* selected = std::getenv("TIDEMARK_HOME");
    return selected == nullptr || *selected == '\0' ? "" : fs::absolute(selected).lexically_normal().string();
}

std::string folder_of_this_installation() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    return (self.parent_path() / "../lib/tidemark").lexically_normal().string();
}

}  // namespace

RecorderHome find_recorder_home() {
    const std::string selected = selected_folder(), own = folder_of_this_installation();
    RecorderHome home{selected.empty() ? own : selected, {}, true, !selected.empty() && selected != own};
    for (const Part& part : parts) {
        std::error_code error;
        if (!fs::exists(home.part(part.name), error)) {
            home.missing.emplace_back(part.name);
            home.can_record = home.can_record && !part.needed;
        }
    }
    return home;
}

std::string conflict_of_driver_part(const RecorderHome& home, const Words& words) {
    const char* loaded = std::getenv("CUDA_INJECTION64_PATH");
    if (loaded == nullptr || *loaded == '\0' || loaded == home.part("libtidemark_driver.so")) {
        return {};
    }
    return words(
        "memory outside the caching allocator is not recorded: another tool makes the CUDA driver load {library} "
        "(CUDA_INJECTION64_PATH). Run without that tool to record it.",
        with("library", loaded));
}

Status check_can_record(const RecorderHome& home) {
    if (home.can_record) {
        return home.is_selected ? check_trusted_folder(home.folder) : Status();
    }
    return environment_error(
        "The recorder is not complete: {folder} lacks {parts}. Reinstall Tidemark, or set TIDEMARK_HOME to the "
        "folder lib/tidemark of an installation.",
        with("folder", home.folder), with("parts", fmt::format("{}", fmt::join(home.missing, ", "))));
}

}  // namespace tidemark::cli
