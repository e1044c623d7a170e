// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The files that `tidemark mcp` may read: an agent names them, and what it reads may have told it to.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace tidemark::cli {

class McpFiles {
public:
    /// `names`: traces and folders of jobs; `roots`: folders below which everything may be read. Error (environment):
    /// one of them does not exist.
    static Result<McpFiles> of(const std::vector<std::string>& names, const std::vector<std::string>& roots);

    /// Returns the absolute path, without links, of a trace that an agent names: relative to a root or to the current
    /// folder, or a rank of a job ("run.tidejob:3"). Error (usage): it is none of the files, or does not exist.
    Result<std::string> find(const std::string& name) const;

    /// Returns the traces with their sizes and times, by name; at most `most`.
    nlohmann::ordered_json list(size_t most) const;

private:
    bool may_read(const std::string& path) const;
    /// Returns the path of an existing file that may be read; empty if there is none.
    std::string existing(const std::string& name) const;

    std::vector<std::string> names_, roots_;  ///< absolute, without links
};

}  // namespace tidemark::cli
