// Asks NVML five times a second, and when somebody wants it at once, on a thread of its own: NVML may be slow, and
// the rings must not wait for it.
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

/// Thread-safe.
class NvmlSampler {
public:
    /// `header`: samples_taken follows what was wanted.
    explicit NvmlSampler(RegionHeader& header) : header_(header) {}
    NvmlSampler(const NvmlSampler&) = delete;
    NvmlSampler& operator=(const NvmlSampler&) = delete;
    ~NvmlSampler();

    /// The first one starts the thread. An empty bus id and UUID: the device cannot be asked for.
    void add_device(int device, const std::string& pci_bus_id, const std::string& uuid);
    /// Somebody waits for a sample: called whenever samples_wanted may have risen.
    void look_at_wishes();
    /// A sample as soon as possible.
    void sample_now();

    /// What came since the last call.
    std::vector<NvmlReading> take_readings();
    /// Why there are none, each reason once.
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
