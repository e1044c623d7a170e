// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/driver/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "recorder/driver/nvml_abi.h"

namespace tidemark::recorder {
namespace {

constexpr const char* library_name = "libnvidia-ml.so.1";

template <class Process>
using ListProcesses = int (*)(nvml::Device, unsigned* count, Process* list);

/// One of NVML's lists of processes. The newest function of this driver reads it.
struct ProcessList {
    ListProcesses<nvml::ProcessV2> with_instances = nullptr;
    ListProcesses<nvml::ProcessV1> plain = nullptr;
};

using BytesByProcess = std::map<int64_t, std::optional<int64_t>>;

using Instance = std::pair<unsigned, unsigned>;  ///< a MIG instance of a GPU and of its processors
Instance instance_of(const nvml::ProcessV2& process) { return {process.gpu_instance, process.compute_instance}; }
Instance instance_of(const nvml::ProcessV1&) { return {}; }

/// Adds the bytes of all processes. A process that uses several MIG instances is listed once for each; its bytes are
/// their sum. If it is listed twice for the same instance, both are all of its bytes.
template <class Process>
void add_processes(const std::vector<Process>& processes, BytesByProcess& bytes) {
    std::map<std::pair<int64_t, Instance>, std::optional<int64_t>> by_instance;
    for (const Process& process : processes) {
        std::optional<int64_t>& known = by_instance[{process.pid, instance_of(process)}];
        if (process.used != nvml::value_not_available) {
            known = std::max(known, std::optional(static_cast<int64_t>(process.used)));
        }
    }
    for (const auto& [process, used] : by_instance) {
        std::optional<int64_t>& sum = bytes[process.first];
        sum = used ? sum.value_or(0) + *used : sum;
    }
}

template <class Process>
int read_list(ListProcesses<Process> list, nvml::Device device, BytesByProcess& bytes) {
    std::vector<Process> processes(64);
    for (int attempt = 0;; ++attempt) {
        auto count = static_cast<unsigned>(processes.size());
        const int status = list(device, &count, processes.data());
        if (status == nvml::insufficient_size && attempt < 4) {
            processes.resize(std::max<size_t>(count, processes.size()) * 2);
            continue;
        }
        processes.resize(status == nvml::success ? std::min<size_t>(count, processes.size()) : 0);
        add_processes(processes, bytes);
        return status;
    }
}

int read_list(const ProcessList& list, nvml::Device device, BytesByProcess& bytes) {
    if (list.with_instances != nullptr) {
        return read_list(list.with_instances, device, bytes);
    }
    return list.plain != nullptr ? read_list(list.plain, device, bytes) : nvml::not_supported;
}

}  // namespace

struct Nvml::Library {
    void* handle = nullptr;
    bool initialized = false;

    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    const char* (*error_string)(int) = nullptr;
    int (*system_driver_version)(char*, unsigned) = nullptr;
    int (*device_by_pci_bus_id)(const char*, nvml::Device*) = nullptr;
    int (*device_by_uuid)(const char*, nvml::Device*) = nullptr;
    int (*memory)(nvml::Device, nvml::Memory*) = nullptr;
    int (*memory_v2)(nvml::Device, nvml::MemoryV2*) = nullptr;
    ProcessList compute, graphics;

    Library() = default;
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() {
        if (initialized && shutdown != nullptr) {
            shutdown();
        }
        if (handle != nullptr) {
            dlclose(handle);
        }
    }

    template <class Function>
    bool look_up(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(handle, name));
        return function != nullptr;
    }

    void look_up_list(ProcessList& list, const std::string& name) {
        if (!look_up(list.with_instances, (name + "_v3").c_str())) {
            look_up(list.with_instances, (name + "_v2").c_str());
        }
        look_up(list.plain, name.c_str());
    }

    /// Returns false if the library lacks a required function.
    bool look_up_all() {
        look_up(shutdown, "nvmlShutdown");
        look_up(error_string, "nvmlErrorString");
        look_up(system_driver_version, "nvmlSystemGetDriverVersion");
        look_up(device_by_uuid, "nvmlDeviceGetHandleByUUID");
        look_up(memory_v2, "nvmlDeviceGetMemoryInfo_v2");
        look_up_list(compute, "nvmlDeviceGetComputeRunningProcesses");
        look_up_list(graphics, "nvmlDeviceGetGraphicsRunningProcesses");
        return look_up(init, "nvmlInit_v2") && look_up(device_by_pci_bus_id, "nvmlDeviceGetHandleByPciBusId_v2") &&
               look_up(memory, "nvmlDeviceGetMemoryInfo");
    }

    std::string reason(int status) const {
        return error_string == nullptr ? fmt::format("NVML error {}", status) : error_string(status);
    }

    int read_memory(nvml::Device device, Use& use) const {
        nvml::MemoryV2 exact{nvml::memory_v2_version, 0, 0, 0, 0};
        if (memory_v2 != nullptr && memory_v2(device, &exact) == nvml::success) {
            use.used_bytes = static_cast<int64_t>(exact.used);
            use.total_bytes = static_cast<int64_t>(exact.total);
            return nvml::success;
        }
        nvml::Memory plain{};
        const int status = memory(device, &plain);
        use.used_bytes = static_cast<int64_t>(plain.used);
        use.total_bytes = static_cast<int64_t>(plain.total);
        return status;
    }

    /// Returns all processes. A process that computes and renders is in both lists, each time with all of its bytes.
    std::vector<ProcessUse> read_processes(nvml::Device device) const {
        BytesByProcess all;
        for (const ProcessList* list : {&compute, &graphics}) {
            BytesByProcess some;
            read_list(*list, device, some);
            for (const auto& [pid, bytes] : some) {
                std::optional<int64_t>& known = all[pid];
                known = std::max(known, bytes);
            }
        }
        std::vector<ProcessUse> uses;
        for (const auto& [pid, bytes] : all) {
            uses.push_back({pid, bytes});
        }
        return uses;
    }
};

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::Nvml(Nvml&&) noexcept = default;
Nvml& Nvml::operator=(Nvml&&) noexcept = default;
Nvml::~Nvml() = default;

Result<Nvml> Nvml::load() {
    const char* selected = std::getenv("TIDEMARK_NVML");
    const char* name = selected != nullptr && *selected != '\0' ? selected : library_name;
    auto library = std::make_unique<Library>();
    library->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library->handle == nullptr) {
        return environment_error(
            "The NVIDIA driver was not found ({library} cannot be loaded); install it, or start the container with "
            "--gpus all.",
            with("library", name));
    }
    if (!library->look_up_all()) {
        return environment_error("The NVIDIA driver is too old to report memory; install version 450 or later.");
    }
    const int status = library->init();
    if (status == nvml::lib_rm_version_mismatch) {
        return environment_error("The NVIDIA driver was updated while in use; restart the machine.");
    }
    if (status != nvml::success) {
        return environment_error("The NVIDIA driver does not answer ({reason}); try nvidia-smi.",
                                 with("reason", library->reason(status)));
    }
    library->initialized = true;
    return Nvml(std::move(library));
}

Result<Nvml::DeviceHandle> Nvml::device(const std::string& pci_bus_id, const std::string& uuid) const {
    DeviceHandle device = nullptr;
    int status = nvml::not_found;
    // CUDA reports the UUID of a MIG instance with the prefix of a GPU, so the MIG prefix is tried, too.
    for (const std::string& name : {uuid, uuid.starts_with("GPU-") ? "MIG-" + uuid.substr(4) : ""}) {
        if (status != nvml::success && !name.empty() && library_->device_by_uuid != nullptr) {
            status = library_->device_by_uuid(name.c_str(), &device);
        }
    }
    // A MIG instance must not be taken for the whole GPU.
    if (status != nvml::success && !pci_bus_id.empty() && !uuid.starts_with("MIG-")) {
        status = library_->device_by_pci_bus_id(pci_bus_id.c_str(), &device);
    }
    if (status != nvml::success) {
        return environment_error("The NVIDIA driver does not know the GPU {gpu} ({reason}).",
                                 with("gpu", uuid.empty() ? pci_bus_id : uuid),
                                 with("reason", library_->reason(status)));
    }
    return device;
}

Result<Nvml::Use> Nvml::use(DeviceHandle device) const {
    Use use;
    if (const int status = library_->read_memory(device, use); status != nvml::success) {
        return environment_error("The NVIDIA driver does not report the used memory ({reason}).",
                                 with("reason", library_->reason(status)));
    }
    use.processes = library_->read_processes(device);
    return use;
}

std::string Nvml::driver_version() const {
    std::array<char, nvml::driver_version_size + 1> version{};
    if (library_->system_driver_version != nullptr) {
        library_->system_driver_version(version.data(), nvml::driver_version_size);
    }
    return version.data();
}

}  // namespace tidemark::recorder
