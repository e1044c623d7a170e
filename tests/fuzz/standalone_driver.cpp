// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Runs a fuzz target without libFuzzer, with any compiler and sanitizer: all seeds, then a fixed number of mutants of
// them. FUZZER [-runs=N] [-seed=N] SEED..., where SEED is a file or a folder.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/hostile/trace_mutator.h"

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);
}

namespace {

namespace fs = std::filesystem;
using tidemark::hostile::Bytes;

constexpr size_t room_to_grow = 1 << 20;
uint64_t flips = 0;  // made so far: LLVMFuzzerMutate has no seed

const Bytes* mutant = nullptr;  // being read

/// Saves the mutant that crashes, as libFuzzer does.
void save_crash(int signal) {
    if (mutant != nullptr) {
        std::FILE* file = std::fopen("crash.mutant", "wb");
        if (file != nullptr) {
            std::fwrite(mutant->data(), 1, mutant->size(), file);
            std::fclose(file);
        }
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

std::vector<Bytes> seeds_in(const fs::path& path) {
    std::vector<fs::path> files;
    if (fs::is_directory(path)) {
        files.assign(fs::directory_iterator(path), {});
    } else {
        files.push_back(path);
    }
    std::sort(files.begin(), files.end());
    std::vector<Bytes> seeds;
    for (const fs::path& file : files) {
        std::ifstream in(file, std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    return seeds;
}

size_t mutate(Bytes& bytes, size_t size, unsigned seed) {
    return LLVMFuzzerCustomMutator != nullptr ? LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(), seed)
                                              : LLVMFuzzerMutate(bytes.data(), size, bytes.size());
}

}  // namespace

size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most) {
    const Bytes flipped = tidemark::hostile::flip_bytes({data, size}, ++flips).bytes;
    const size_t length = std::min(flipped.size(), most);
    std::copy_n(flipped.begin(), length, data);
    return length;
}

int main(int argc, char** argv) {
    unsigned runs = 100, seed = 1;
    std::vector<Bytes> seeds;
    for (int i = 1; i < argc; ++i) {
        if (std::strncmp(argv[i], "-runs=", 6) == 0) {
            runs = static_cast<unsigned>(std::stoul(argv[i] + 6));
        } else if (std::strncmp(argv[i], "-seed=", 6) == 0) {
            seed = static_cast<unsigned>(std::stoul(argv[i] + 6));
        } else {
            for (Bytes& bytes : seeds_in(argv[i])) {
                seeds.push_back(std::move(bytes));
            }
        }
    }
    if (seeds.empty()) {
        std::fprintf(stderr, "There are no seeds.\n");
        return 2;
    }
    if (LLVMFuzzerInitialize != nullptr) {
        LLVMFuzzerInitialize(&argc, &argv);
    }
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
        std::signal(signal, save_crash);
    }
    const uint8_t nothing = 0;
    LLVMFuzzerTestOneInput(&nothing, 0);  // libFuzzer begins so
    for (const Bytes& bytes : seeds) {
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    for (unsigned run = 0; run < runs; ++run) {
        Bytes bytes = seeds[run % seeds.size()];
        const size_t size = bytes.size();
        bytes.resize(size + room_to_grow);
        bytes.resize(mutate(bytes, size, seed * 1'000'003u + run));
        bytes.shrink_to_fit();  // so that a sanitizer sees what is read beyond the end
        mutant = &bytes;
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
        mutant = nullptr;
    }
    std::printf("%zu seeds and %u mutants read\n", seeds.size(), runs);
    return 0;
}
