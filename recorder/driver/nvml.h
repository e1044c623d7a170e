// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads the used memory per device and per process from NVML, which is loaded at run time.
//
// The build requires neither NVML's header nor its library. The recorder process uses it, never the training process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace tidemark::recorder {

class Nvml {
public:
    /// Loads the library. Errors (environment): no NVIDIA driver, or one that is too old. TIDEMARK_NVML: path of
    /// another library, for tests.
    static Result<Nvml> load();
    Nvml(Nvml&&) noexcept;
    Nvml& operator=(Nvml&&) noexcept;
    ~Nvml();

    using DeviceHandle = void*;
    /// Finds a device by UUID ("GPU-..." or "MIG-...") if it is given, else by PCI bus id ("0000:65:00.0").
    Result<DeviceHandle> device(const std::string& pci_bus_id, const std::string& uuid) const;

    struct ProcessUse {
        int64_t pid = 0;               ///< as NVML reports it: in a container it may be the pid on the host
        std::optional<int64_t> bytes;  ///< nothing if the driver does not report it (vGPU, some MIG)
    };
    struct Use {
        int64_t used_bytes = 0;  ///< as in nvidia-smi: without memory that the driver reserves for itself
        int64_t total_bytes = 0;
        std::vector<ProcessUse> processes;  ///< compute and graphics processes, each pid once
    };
    Result<Use> use(DeviceHandle device) const;

    std::string driver_version() const;

private:
    struct Library;
    explicit Nvml(std::unique_ptr<Library> library);
    std::unique_ptr<Library> library_;
};

}  // namespace tidemark::recorder
