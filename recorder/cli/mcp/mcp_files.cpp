// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/mcp/mcp_files.h"

#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "recorder/cli/job/job_views.h"
#include "recorder/cli/trace_files.h"
#include "storage/read/follow.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Returns the absolute path without links; empty if there is no such file.
std::string real_path(const fs::path& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return error ? "" : real.string();
}

Result<std::vector<std::string>> real_paths(const std::vector<std::string>& paths) {
    std::vector<std::string> real;
    for (const std::string& path : paths) {
        if (real.emplace_back(real_path(path)).empty()) {
            return environment_error("{path} does not exist.", with("path", path));
        }
    }
    return real;
}

bool is_below(const std::string& path, const std::string& folder) {
    return path == folder || path.starts_with(folder.ends_with('/') ? folder : folder + '/');
}

ordered_json file_json(const std::string& path) {
    struct stat about {};
    const bool is_known = ::stat(path.c_str(), &about) == 0;
    return {{"trace", path},
            {"bytes", is_known ? ordered_json(about.st_size) : ordered_json()},
            {"modified_utc_s", is_known ? ordered_json(about.st_mtime) : ordered_json()},
            {"is_being_recorded", is_being_written(path)}};
}

}  // namespace

Result<McpFiles> McpFiles::of(const std::vector<std::string>& names, const std::vector<std::string>& roots) {
    auto real_names = real_paths(names);
    auto real_roots = real_names ? real_paths(roots) : real_names;
    if (!real_roots) {
        return real_roots.error();
    }
    McpFiles files;
    files.names_ = *std::move(real_names);
    files.roots_ = *std::move(real_roots);
    return files;
}

bool McpFiles::may_read(const std::string& path) const {
    const auto has = [&](const std::string& folder) { return is_below(path, folder); };
    return std::any_of(names_.begin(), names_.end(), has) || std::any_of(roots_.begin(), roots_.end(), has);
}

std::string McpFiles::existing(const std::string& name) const {
    std::vector<fs::path> places;
    places.reserve(roots_.size() + 1);
    for (const std::string& root : roots_) {
        places.push_back(fs::path(root) / name);  // an absolute name stays
    }
    places.emplace_back(name);
    for (const fs::path& place : places) {
        if (std::string real = real_path(place); !real.empty() && may_read(real)) {
            return real;
        }
    }
    return {};
}

Result<std::string> McpFiles::find(const std::string& name) const {
    if (const std::string path = name.empty() ? "" : existing(name); !path.empty()) {
        return path;
    }
    const size_t colon = name.rfind(':');
    if (const std::string job = colon == std::string::npos ? "" : existing(name.substr(0, colon)); !job.empty()) {
        const auto rank = trace_of_rank(job + name.substr(colon));
        if (!rank) {
            return rank.error();
        }
        if (const std::string path = existing(*rank); !path.empty()) {
            return path;
        }
    }
    std::vector<std::string> readable = names_;
    readable.insert(readable.end(), roots_.begin(), roots_.end());
    return usage_error("{path} is none of the files that this server reads, or does not exist. It reads: {files}",
                       with("path", name), with("files", fmt::format("{}", fmt::join(readable, ", "))));
}

ordered_json McpFiles::list(size_t most) const {
    std::set<std::string> traces;
    for (const auto* places : {&names_, &roots_}) {
        for (const std::string& place : *places) {
            std::error_code error;
            if (!fs::is_directory(place, error)) {
                traces.insert(place);
            } else if (const auto found = traces_below(place)) {
                traces.insert(found->begin(), found->end());
            }
        }
    }
    auto list = ordered_json::array();
    for (const std::string& trace : traces) {
        if (list.size() < most) {
            list.push_back(file_json(trace));
        }
    }
    return {{"traces", std::move(list)}, {"traces_left_out", traces.size() - std::min(traces.size(), most)}};
}

}  // namespace tidemark::cli
