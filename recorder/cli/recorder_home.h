// TIDEMARK_HOME: the folder with the recorder's parts that are loaded into programs or started beside them.
#pragma once

#include <string>
#include <vector>

#include "storage/base/result.h"

namespace tidemark::cli {

struct RecorderHome {
    std::string folder;                ///< absolute
    std::vector<std::string> missing;  ///< parts that are not there
    bool can_record = false;           ///< without the others less is recorded

    std::string part(const char* name) const { return folder + '/' + name; }
};

/// $TIDEMARK_HOME, or ../lib/tidemark seen from this program: so it is in an installation and in the build tree.
RecorderHome find_recorder_home();

/// Error: what cannot be done without is missing.
Status check_can_record(const RecorderHome& home);

}  // namespace tidemark::cli
