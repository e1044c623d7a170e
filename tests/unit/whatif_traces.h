// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Every recording and snapshot of the repository, as input for the allocator model.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "storage/import/import.h"
#include "storage/read/open_trace.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark::test {

inline std::vector<std::string> files_in(const std::string& folder, const std::string& ending) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ending) {
            files.push_back(entry.path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

inline std::vector<std::string> all_traces() {
    std::vector<std::string> files = files_in(std::string(TIDEMARK_TEST_DATA) + "/snapshots", ".pickle");
    for (const auto& more : {files_in(std::string(TIDEMARK_TEST_DATA) + "/recorded", ".tide"),
                             files_in(std::string(TIDEMARK_RESOURCES) + "/examples", ".tide"),
                             files_in(std::string(TIDEMARK_TEST_DATA) + "/traces", ".tide")}) {
        files.insert(files.end(), more.begin(), more.end());
    }
    return files;
}

/// Opens a trace, or imports a snapshot and opens the result.
inline std::shared_ptr<const Trace> open_any(const std::string& path) {
    const TemporaryFolder folder;
    Progress progress;
    std::string file = path;
    if (path.ends_with(".pickle")) {
        file = folder / "imported.tide";
        const auto imported = import_snapshot(path, file, IfExists::replace, progress);
        EXPECT_TRUE(imported) << path;
    }
    auto trace = open_trace(file, progress);
    EXPECT_TRUE(trace) << path;
    return trace ? *trace : std::make_shared<const Trace>();
}

inline std::shared_ptr<const Trace> open_snapshot(const std::string& name) {
    return open_any(fmt::format("{}/snapshots/{}.pickle", TIDEMARK_TEST_DATA, name));
}
inline std::shared_ptr<const Trace> open_example(const std::string& name) {
    return open_any(fmt::format("{}/examples/{}.tide", TIDEMARK_RESOURCES, name));
}

/// Returns the name of a parameterized test, such as "snapshots_frag_oom".
inline std::string trace_name(const testing::TestParamInfo<std::string>& info) {
    const std::filesystem::path path = info.param;
    std::string name = path.parent_path().filename().string() + "_" + path.stem().string();
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

}  // namespace tidemark::test
