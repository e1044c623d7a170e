// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Two threads allocate from the device's pool in stream order. One of them keeps what it takes.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

#include <cuda_runtime.h>

void check(cudaError_t status) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
        std::exit(1);
    }
}

void keep(cudaStream_t stream, std::vector<void*>& kept) {
    void* area = nullptr;
    check(cudaMallocAsync(&area, size_t{4} << 20, stream));  // the site
    kept.push_back(area);
}

void use(cudaStream_t stream) {
    void* area = nullptr;
    check(cudaMallocAsync(&area, size_t{8} << 20, stream));
    check(cudaMemsetAsync(area, 0, size_t{8} << 20, stream));
    check(cudaFreeAsync(area, stream));
}

int main() {
    cudaStream_t first, second;
    check(cudaStreamCreate(&first));
    check(cudaStreamCreate(&second));
    std::vector<void*> kept;
    std::thread user([&] {
        for (int round = 0; round < 60; ++round) {
            use(second);
            usleep(10000);
        }
    });
    for (int round = 0; round < 60; ++round) {
        keep(first, kept);
        usleep(10000);
    }
    user.join();
    check(cudaDeviceSynchronize());
    std::printf("%zu areas\n", kept.size());
    return 0;
}
