// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/driver/cuda_driver.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "recorder/driver/cupti_abi.h"

namespace tidemark::recorder::cuda_driver {
namespace {

struct Library {
    int (*context_device)(int*) = nullptr;
    int (*device_pool)(uint64_t*, int) = nullptr;
    int (*pool_attribute)(uint64_t, int, void*) = nullptr;
    int (*device_at)(int*, int) = nullptr;
    int (*device_name)(char*, int, int) = nullptr;
    int (*device_bytes)(size_t*, int) = nullptr;
    int (*device_bus_id)(char*, int, int) = nullptr;
    int (*device_uuid)(unsigned char*, int) = nullptr;
    int (*address_range)(uint64_t*, size_t*, uint64_t) = nullptr;

    Library() {
        void* handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (handle == nullptr) {
            return;
        }
        look_up(handle, context_device, "cuCtxGetDevice");
        look_up(handle, device_pool, "cuDeviceGetMemPool");
        look_up(handle, pool_attribute, "cuMemPoolGetAttribute");
        look_up(handle, device_at, "cuDeviceGet");
        look_up(handle, device_name, "cuDeviceGetName");
        look_up(handle, device_bytes, "cuDeviceTotalMem_v2");
        look_up(handle, device_bus_id, "cuDeviceGetPCIBusId");
        look_up(handle, device_uuid, "cuDeviceGetUuid_v2");
        if (device_uuid == nullptr) {
            look_up(handle, device_uuid, "cuDeviceGetUuid");
        }
        look_up(handle, address_range, "cuMemGetAddressRange_v2");
    }

    template <class Function>
    static void look_up(void* handle, Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(handle, name));
    }
};

/// Returns "GPU-" and the UUID in the form of nvidia-smi.
std::string uuid_text(const std::array<unsigned char, 16>& uuid) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "GPU-";
    for (size_t i = 0; i < uuid.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            text += '-';
        }
        text += digits[uuid[i] >> 4];
        text += digits[uuid[i] & 15];
    }
    return text;
}

/// Used inside driver callbacks only, so the driver is loaded.
const Library& library() {
    static const Library loaded;
    return loaded;
}

}  // namespace

std::optional<DeviceFacts> facts_of(int number) {
    const Library& cuda = library();
    int device = 0;
    if (cuda.device_at == nullptr || cuda.device_at(&device, number) != cupti::success) {
        return std::nullopt;
    }
    DeviceFacts facts;
    std::array<char, 256> text{};
    size_t bytes = 0;
    std::array<unsigned char, 16> uuid{};
    const int size = static_cast<int>(text.size());
    if (cuda.device_name != nullptr && cuda.device_name(text.data(), size, device) == cupti::success) {
        facts.name = text.data();
    }
    if (cuda.device_bus_id != nullptr && cuda.device_bus_id(text.data(), size, device) == cupti::success) {
        facts.pci_bus_id = text.data();
    }
    if (cuda.device_bytes != nullptr && cuda.device_bytes(&bytes, device) == cupti::success) {
        facts.total_bytes = bytes;
    }
    if (cuda.device_uuid != nullptr && cuda.device_uuid(uuid.data(), device) == cupti::success) {
        facts.uuid = uuid_text(uuid);
    }
    return facts;
}

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
