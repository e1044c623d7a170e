// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Allocates its table once, and frees each field in its round.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <cuda_runtime.h>

void check(cudaError_t status) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
        std::exit(1);
    }
}

void relax() {
    float* field = nullptr;
    check(cudaMalloc(&field, size_t{16} << 20));
    check(cudaMemset(field, 0, size_t{16} << 20));
    check(cudaFree(field));
}

int main() {
    float* table = nullptr;
    check(cudaMalloc(&table, size_t{64} << 20));
    for (int round = 0; round < 40; ++round) {
        relax();
        usleep(20000);
    }
    std::printf("done\n");
    return 0;
}
