// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A program without PyTorch: a solver that keeps the field of every second round ("retains"), or of none.
#include <cstddef>
#include <cstring>
#include <vector>

extern "C" int cudaMalloc(void** memory, size_t size);
extern "C" int cudaFree(void* memory);

namespace {

struct Solver {
    std::vector<void*> fields;

    [[gnu::always_inline]] void* take() {
        void* field = nullptr;
        cudaMalloc(&field, size_t{16} << 20);  // the site
        fields.push_back(field);
        return field;
    }

    void relax(bool keeps) {
        void* field = take();
        if (!keeps) {
            cudaFree(field);
            fields.pop_back();
        }
    }
};

}  // namespace

int main(int count, char** words) {
    const bool retains = count > 1 && std::strcmp(words[1], "retains") == 0;
    void* table = nullptr;
    cudaMalloc(&table, size_t{64} << 20);
    Solver solver;
    for (int round = 0; round < 40; ++round) {
        solver.relax(retains && round % 2 == 0);
    }
    return 0;
}
