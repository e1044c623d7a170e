// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A fake CUDA driver for machines without one, with the few functions that the driver part calls. Its name is
// libcuda.so.1.
#include <cstddef>
#include <cstdint>

extern "C" {

/// Bytes in the device's pool; set by the test.
uint64_t fake_cuda_pool_bytes = 0;

int cuCtxGetDevice(int* device) {
    *device = 5;
    return 0;
}

int cuDeviceGetMemPool(uint64_t* pool, int device) {
    *pool = 700 + static_cast<uint64_t>(device);
    return 0;
}

int cuMemPoolGetAttribute(uint64_t, int attribute, void* value) {
    *static_cast<uint64_t*>(value) = fake_cuda_pool_bytes;
    return attribute == 5 ? 0 : 1;
}

int cuMemGetAddressRange_v2(uint64_t* base, size_t* size, uint64_t address) {
    *base = address;
    *size = 4096;
    return 0;
}
}
