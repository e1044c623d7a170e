// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/driver/cuda_driver.h"

#include <dlfcn.h>

#include <cstddef>

#include "recorder/driver/cupti_abi.h"

namespace tidemark::recorder::cuda_driver {
namespace {

struct Library {
    int (*context_device)(int*) = nullptr;
    int (*device_pool)(uint64_t*, int) = nullptr;
    int (*pool_attribute)(uint64_t, int, void*) = nullptr;
    int (*address_range)(uint64_t*, size_t*, uint64_t) = nullptr;

    Library() {
        void* handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (handle == nullptr) {
            return;
        }
        look_up(handle, context_device, "cuCtxGetDevice");
        look_up(handle, device_pool, "cuDeviceGetMemPool");
        look_up(handle, pool_attribute, "cuMemPoolGetAttribute");
        look_up(handle, address_range, "cuMemGetAddressRange_v2");
    }

    template <class Function>
    static void look_up(void* handle, Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(handle, name));
    }
};

/// Used inside driver callbacks only, so the driver is loaded.
const Library& library() {
    static const Library loaded;
    return loaded;
}

}  // namespace

std::optional<int> current_device() {
    int device = 0;
    if (library().context_device == nullptr || library().context_device(&device) != cupti::success) {
        return std::nullopt;
    }
    return device;
}

std::optional<uint64_t> pool_reserved(uint64_t& pool, int device) {
    if (library().pool_attribute == nullptr || library().device_pool == nullptr) {
        return std::nullopt;
    }
    if (pool == 0 && library().device_pool(&pool, device) != cupti::success) {
        return std::nullopt;
    }
    uint64_t bytes = 0;
    if (library().pool_attribute(pool, cupti::pool_reserved_now, &bytes) != cupti::success) {
        return std::nullopt;
    }
    return bytes;
}

uint64_t allocation_size(uint64_t address) {
    uint64_t base = 0;
    size_t size = 0;
    if (library().address_range == nullptr || library().address_range(&base, &size, address) != cupti::success) {
        return 0;
    }
    return base == address ? size : 0;
}

}  // namespace tidemark::recorder::cuda_driver
