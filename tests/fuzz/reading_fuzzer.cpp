// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Opens any bytes as a trace and runs the readings whose names begin with a word of FUZZED_READINGS: the commands, the
// pictures or the follower, as they are in the programs. The follower and diff begin with FUZZED_ORIGINAL. Run it with
// -close_fd_mask=3; they print.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "storage/base/exit_status.h"
#include "tests/fuzz/mutator.h"
#include "tests/hostile/reading.h"

namespace {

using namespace tidemark;
using namespace tidemark::hostile;
namespace fs = std::filesystem;

void write(const std::string& path, const uint8_t* data, size_t size) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
}

std::vector<Reading> fuzzed_readings() {
    std::vector<Reading> found;
    for (Reading& reading : trace_readings()) {
        std::istringstream words(FUZZED_READINGS);
        for (std::string word; words >> word;) {
            if (reading.name.starts_with(word)) {
                found.push_back(reading);
                break;
            }
        }
    }
    if (found.empty()) {
        std::abort();  // a reading has another name now
    }
    return found;
}

/// The folder of this process in memory.
const fs::path& folder() {
    static const fs::path path = fs::path("/dev/shm") / ("tidemark-fuzz-" + std::to_string(getpid()));
    return path;
}

/// Readings write into the working folder. libFuzzer's paths are relative to the former one.
class Inside {
public:
    Inside() : before_(fs::current_path()) {
        fs::create_directories(folder());
        fs::current_path(folder());
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { fs::current_path(before_); }

private:
    fs::path before_;
};

bool is_documented(int status) {
    return status == exit_success || status == exit_usage || status == exit_input || status == exit_limit;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    prepare_readings(*argc, *argv);
    std::atexit([] {
        std::error_code ignored;
        fs::remove_all(folder(), ignored);
    });
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const std::vector<Reading> readings = fuzzed_readings();
    const Inside inside;
    const Paths paths{"file.tide", FUZZED_ORIGINAL, "file.tide", folder().string()};
    write(paths.file, data, size);
    for (const Reading& reading : readings) {
        if (!is_documented(reading.run(paths))) {
            std::abort();
        }
    }
    return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
    return fuzz::mutate(data, size, most, seed, [](std::span<const uint8_t> trace, uint64_t s) {
        return mutate_trace(trace, s, s % 2 == 0 ? Sealing::renewed : Sealing::broken);
    });
}
