// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// TIDEMARK_HOME: the folder with the parts of the recorder that programs load, and that are started beside them.
#pragma once

#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/text/words.h"

namespace tidemark::cli {

struct RecorderHome {
    std::string folder;                ///< absolute
    std::vector<std::string> missing;  ///< missing parts
    bool can_record = false;           ///< optional parts may be missing: then less is recorded

    std::string part(const char* name) const { return folder + '/' + name; }
};

/// Returns $TIDEMARK_HOME, or ../lib/tidemark beside this program, as in an installation and in the build tree.
RecorderHome find_recorder_home();

/// Error: a needed part is missing.
Status check_can_record(const RecorderHome& home);

}  // namespace tidemark::cli
