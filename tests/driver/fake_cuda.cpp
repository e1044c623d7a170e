// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A fake CUDA driver for machines without one, with the few functions that the driver part calls. Its name is
// libcuda.so.1.
#include <cstddef>
#include <cstdint>
#include <cstdio>

extern "C" {

/// Bytes in the device's pool; set by the test.
uint64_t fake_cuda_pool_bytes = 0;

int cuDeviceGet(int* device, int number) {
    *device = number;
    return 0;
}

int cuDeviceGetName(char* name, int size, int device) {
    std::snprintf(name, static_cast<size_t>(size), "Fake GPU %d", device);
    return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int) {
    *bytes = size_t{80} << 30;
    return 0;
}

int cuDeviceGetPCIBusId(char* id, int size, int device) {
    std::snprintf(id, static_cast<size_t>(size), "0000:%02d:00.0", device);
    return 0;
}

int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
    for (int i = 0; i < 16; ++i) {
        uuid[i] = static_cast<unsigned char>(16 * device + i);
    }
    return 0;
}

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
