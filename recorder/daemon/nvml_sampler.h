// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Samples NVML five times a second and on request. Uses its own thread, because NVML may be slow and the rings must not
// wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "recorder/core/ring.h"
#include "recorder/driver/nvml.h"

namespace tidemark::recorder {

struct NvmlReading {
    uint64_t ticks = 0;
    int device = 0;
    Nvml::Use use;
};

/// Reads a device, again if the reading took long; returns the shortest of three readings, with the time of its middle.
/// The caller sets `device`.
Result<NvmlReading> read_promptly(const Nvml& nvml, Nvml::DeviceHandle handle);

/// Thread-safe.
class NvmlSampler {
public:
    /// Sets `samples_taken` of the header after requested samples. The header must outlive this object.
    explicit NvmlSampler(RegionHeader& header) : header_(header) {}
    NvmlSampler(const NvmlSampler&) = delete;
    NvmlSampler& operator=(const NvmlSampler&) = delete;
    ~NvmlSampler();

    /// Adds a device; the first one starts the thread. A device without bus id and UUID cannot be sampled.
    void add_device(int device, const std::string& pci_bus_id, const std::string& uuid);
    /// Takes a sample if samples_wanted has risen. The caller calls this often.
    void serve_requests();
    /// Requests a sample as soon as possible.
    void sample_now();

    /// Returns the readings since the last call.
    std::vector<NvmlReading> take_readings();
    /// Returns sentences about failures, each once.
    std::vector<std::string> take_failures();

private:
    struct Device {
        int device;
        std::string pci_bus_id, uuid;
    };

    void run();
    void sample(const Nvml& nvml, std::map<int, Nvml::DeviceHandle>& handles, const std::vector<Device>& devices);
    void fail(const std::string& sentence);

    RegionHeader& header_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Device> devices_;
    std::vector<NvmlReading> readings_;
    std::vector<std::string> failures_, failures_reported_;
    bool at_once_ = false, stopping_ = false;
    std::thread thread_;
};

}  // namespace tidemark::recorder
