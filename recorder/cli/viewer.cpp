// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/viewer.h"

#include <filesystem>

#include "recorder/cli/program.h"

namespace tidemark::cli {

std::string find_viewer() {
    namespace fs = std::filesystem;
    std::error_code error;
    if (const fs::path self = fs::read_symlink("/proc/self/exe", error); !error) {
        const fs::path folder = self.parent_path();
        // The last one is the folder of the commands of a Python environment, from a wheel in
        // lib/python3.x/site-packages.
        for (const fs::path& place : {folder, folder / "../gui", folder / "../../gui", folder / "../../../../../bin"}) {
            if (std::string found = find_program((place / viewer).string()); !found.empty()) {
                return found;
            }
        }
    }
    return find_program(viewer);
}

}  // namespace tidemark::cli
