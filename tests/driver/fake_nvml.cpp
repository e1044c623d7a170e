// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A fake NVML for machines without a GPU, loaded through TIDEMARK_NVML. FAKE_NVML selects its behavior: "broken" (the
// driver does not respond), or "old" (functions newer than driver 450 are not supported).
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "recorder/driver/nvml_abi.h"

using namespace tidemark::recorder;

namespace {

int gpu, part;

bool behaves(const char* how) {
    const char* selected = std::getenv("FAKE_NVML");
    return selected != nullptr && std::strcmp(selected, how) == 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return behaves("broken") ? nvml::driver_not_loaded : nvml::success; }
int nvmlShutdown() { return nvml::success; }
const char* nvmlErrorString(int status) {
    return status == nvml::driver_not_loaded ? "Driver Not Loaded" : "Not Found";
}

int nvmlSystemGetDriverVersion(char* version, unsigned size) {
    std::snprintf(version, size, "580.95.05");
    return nvml::success;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvml::Device* device) {
    *device = &gpu;
    return std::strcmp(id, "0000:65:00.0") == 0 ? nvml::success : nvml::not_found;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, nvml::Device* device) {
    *device = std::strcmp(uuid, "MIG-7") == 0 ? &part : &gpu;
    return std::strcmp(uuid, "MIG-7") == 0 || std::strcmp(uuid, "GPU-1") == 0 ? nvml::success : nvml::not_found;
}

int nvmlDeviceGetMemoryInfo(nvml::Device, nvml::Memory* memory) {
    *memory = {1000, 500, 500};
    return nvml::success;
}

int nvmlDeviceGetMemoryInfo_v2(nvml::Device device, nvml::MemoryV2* memory) {
    if (behaves("old") || memory->version != nvml::memory_v2_version) {
        return nvml::not_supported;
    }
    memory->total = device == &part ? 100 : 1000;
    memory->used = device == &part ? 40 : 400;
    return nvml::success;
}

int nvmlDeviceGetComputeRunningProcesses_v3(nvml::Device, unsigned* count, nvml::ProcessV2* list) {
    constexpr unsigned processes = 70;  // more than the recorder's initial buffer
    if (*count < processes) {
        *count = processes;
        return nvml::insufficient_size;
    }
    *count = processes;
    for (unsigned i = 0; i < processes; ++i) {
        list[i] = {100 + i, 10, 0, 0};
    }
    list[1].used = nvml::value_not_available;
    list[3] = {list[2].pid, 10, 1, 0};  // one process uses two instances
    list[5] = {list[4].pid, 10, 0, 0};  // one process is listed twice
    return nvml::success;
}

int nvmlDeviceGetGraphicsRunningProcesses(nvml::Device, unsigned* count, nvml::ProcessV1* list) {
    *count = 2;
    list[0] = {100, 10};
    list[1] = {900, 5};
    return nvml::success;
}
}
