// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Every second round of the solver keeps its field.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

#include <cuda_runtime.h>

constexpr size_t field_bytes = size_t{16} << 20;
constexpr int rounds = 40;

void check(cudaError_t status) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
        std::exit(1);
    }
}

struct Solver {
    std::vector<float*> fields;

    float* take() {
        float* field = nullptr;
        check(cudaMalloc(&field, field_bytes));  // the site
        check(cudaMemset(field, 0, field_bytes));
        fields.push_back(field);
        return field;
    }

    void relax(int round) {
        float* field = take();
        if (round % 2 == 1) {
            check(cudaFree(field));
            fields.pop_back();
        }
    }
};

int main() {
    Solver solver;
    for (int round = 0; round < rounds; ++round) {
        solver.relax(round);
        usleep(20000);
    }
    std::printf("%zu fields\n", solver.fields.size());
    return 0;
}
