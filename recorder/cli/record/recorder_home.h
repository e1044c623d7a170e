// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// TIDEMARK_HOME: the folder with the parts of the recorder.
#pragma once

#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/text/words.h"

namespace tidemark::cli {

struct RecorderHome {
    std::string folder;                ///< absolute
    std::vector<std::string> missing;  ///< missing parts
    bool can_record = false;           ///< true even if optional parts are missing
    bool is_selected = false;          ///< by TIDEMARK_HOME, and not that of this installation

    std::string part(const char* name) const { return folder + '/' + name; }
};

/// Returns $TIDEMARK_HOME, or ../lib/tidemark relative to the folder of this program.
RecorderHome find_recorder_home();

/// Returns a sentence if another tool uses the variable with which the CUDA driver loads the recorder's driver part;
/// empty if it is free.
std::string conflict_of_driver_part(const RecorderHome& home, const Words& words);

/// Returns an error (environment) if a required part is missing, or if another user could change the parts in a folder
/// that TIDEMARK_HOME selects.
Status check_can_record(const RecorderHome& home);

}  // namespace tidemark::cli
