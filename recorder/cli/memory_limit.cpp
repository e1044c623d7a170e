// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>

namespace tidemark::cli {
namespace {

constexpr uint64_t least_limit = uint64_t{256} << 20;
constexpr uint64_t times_file_size = 40;

/// Returns the bytes of private writable memory of this process, as RLIMIT_DATA counts them.
uint64_t data_size() {
    constexpr int pages_before_data = 5;  // size, resident, shared, text, lib
    std::ifstream statm("/proc/self/statm");
    uint64_t pages = 0;
    for (int i = 0; i <= pages_before_data; ++i) {
        statm >> pages;
    }
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Returns whether there was a limit.
bool lift_memory_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == limit.rlim_max) {
        return false;
    }
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_DATA, &limit) == 0;
}

}  // namespace

void limit_memory_for(const std::string& path) {
    std::error_code unknown;
    const uint64_t file_size = std::filesystem::file_size(path, unknown);
    rlimit limit{};
    if (unknown || getrlimit(RLIMIT_DATA, &limit) != 0) {
        return;  // opening the file reports why
    }
    const uint64_t justified = std::max(least_limit, std::min(file_size, uint64_t{1} << 50) * times_file_size);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, data_size() + justified);
    setrlimit(RLIMIT_DATA, &limit);
}

Error out_of_memory_error() {
    if (lift_memory_limit()) {
        return input_error("The file needs more memory than its size justifies: it is damaged.");
    }
    return environment_error(
        "There is not enough memory for this. End other programs, or use a machine with more memory.");
}

}  // namespace tidemark::cli
