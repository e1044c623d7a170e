// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Declarations of nvml.h for nvml.cpp, which is built without NVIDIA headers.
//
// Names and layouts as in nvml.h of driver 450 and later (11.0 to 13.x); later functions are looked up by name at run
// time. tests/driver/abi_test.cpp compares them with nvml.h if it is installed.
#pragma once

#include <cstdint>

namespace tidemark::recorder::nvml {

enum Status : int {
    success = 0,
    not_supported = 3,
    no_permission = 4,
    not_found = 6,
    insufficient_size = 7,
    driver_not_loaded = 9,
    lib_rm_version_mismatch = 18,
};

using Device = void*;

/// nvmlMemory_t; `used` includes what the driver reserves for itself.
struct Memory {
    unsigned long long total, free, used;
};

/// nvmlMemory_v2_t (driver 510 and later); `used` is without `reserved`, as nvidia-smi shows it.
struct MemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
constexpr unsigned memory_v2_version = sizeof(MemoryV2) | 2u << 24;

/// nvmlProcessInfo_v1_t, for the functions without a version, such as nvmlDeviceGetComputeRunningProcesses.
struct ProcessV1 {
    unsigned pid;
    unsigned long long used;
};

/// nvmlProcessInfo_v2_t, for the functions with suffix _v2 (driver 450) and _v3 (driver 510).
struct ProcessV2 {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};
constexpr unsigned long long value_not_available = ~0ull;

constexpr unsigned driver_version_size = 80;

}  // namespace tidemark::recorder::nvml
