// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/trace_files.h"

#include <algorithm>
#include <filesystem>

#include "storage/trace/file_extensions.h"

namespace tidemark::cli {

namespace fs = std::filesystem;

Result<std::vector<std::string>> traces_below(const std::string& folder) {
    std::vector<std::string> traces;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error), end;
         !error && entry != end; entry.increment(error)) {
        std::error_code unknown;
        if (entry->path().extension() == trace_extension && entry->is_regular_file(unknown)) {
            traces.push_back(entry->path().string());
        }
    }
    if (error) {
        return environment_error("{path} cannot be opened: {reason}.", with("path", folder),
                                 with("reason", error.message()));
    }
    if (traces.empty()) {
        return input_error("{path} has no trace (.tide) in it.", with("path", folder));
    }
    std::sort(traces.begin(), traces.end());
    return traces;
}

std::vector<Result<std::string>> find_traces(const std::vector<std::string>& names) {
    std::vector<Result<std::string>> traces;
    for (const std::string& name : names) {
        std::error_code error;
        if (!fs::is_directory(name, error)) {
            traces.emplace_back(name);
        } else if (const auto found = traces_below(name)) {
            traces.insert(traces.end(), found->begin(), found->end());
        } else {
            traces.emplace_back(found.error());
        }
    }
    return traces;
}

}  // namespace tidemark::cli
