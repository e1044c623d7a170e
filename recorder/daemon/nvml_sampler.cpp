// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/nvml_sampler.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tidemark::recorder {

namespace {

constexpr auto period = std::chrono::milliseconds(200);
/// A driver call of the program may delay a reading. Then it is unknown which of its moments the figures show.
constexpr auto longest_reading = std::chrono::milliseconds(2);
constexpr int most_attempts = 3;
/// Limit of readings that wait for the recorder.
constexpr size_t most_readings = 10'000;

}  // namespace

NvmlSampler::~NvmlSampler() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) {
        thread_.join();
    }
}

void NvmlSampler::add_device(int device, const std::string& pci_bus_id, const std::string& uuid) {
    const std::lock_guard lock(mutex_);
    const bool is_known =
        std::any_of(devices_.begin(), devices_.end(), [device](const Device& d) { return d.device == device; });
    if (is_known || (pci_bus_id.empty() && uuid.empty())) {
        return;
    }
    devices_.push_back({device, pci_bus_id, uuid});
    if (!thread_.joinable()) {
        thread_ = std::thread([this] { run(); });
    }
}

void NvmlSampler::serve_requests() {
    const uint32_t wanted = header_.samples_wanted.load(std::memory_order_acquire);
    if (wanted == header_.samples_taken.load(std::memory_order_relaxed)) {
        return;
    }
    if (thread_.joinable()) {
        sample_now();
    } else {
        header_.samples_taken.store(wanted, std::memory_order_release);  // no sample can be taken
    }
}

void NvmlSampler::sample_now() {
    const std::lock_guard lock(mutex_);
    at_once_ = true;
    changed_.notify_all();
}

std::vector<NvmlReading> NvmlSampler::take_readings() {
    const std::lock_guard lock(mutex_);
    return std::exchange(readings_, {});
}

std::vector<std::string> NvmlSampler::take_failures() {
    const std::lock_guard lock(mutex_);
    return std::exchange(failures_, {});
}

void NvmlSampler::fail(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    if (std::find(failures_reported_.begin(), failures_reported_.end(), sentence) == failures_reported_.end()) {
        failures_reported_.push_back(sentence);
        failures_.push_back(sentence);
    }
}

void NvmlSampler::run() {
    auto nvml = Nvml::load();
    if (!nvml) {
        fail(nvml.error().sentence.english());
    }
    std::map<int, Nvml::DeviceHandle> handles;
    std::unique_lock lock(mutex_);
    auto next = std::chrono::steady_clock::now();
    while (!stopping_) {
        at_once_ = false;
        const std::vector<Device> devices = devices_;
        lock.unlock();
        const uint32_t wanted = header_.samples_wanted.load(std::memory_order_acquire);
        if (nvml) {
            sample(*nvml, handles, devices);
        }
        header_.samples_taken.store(wanted, std::memory_order_release);
        next = std::max(next + period, std::chrono::steady_clock::now());
        lock.lock();
        changed_.wait_until(lock, next, [&] { return at_once_ || stopping_; });
    }
}

void NvmlSampler::sample(const Nvml& nvml, std::map<int, Nvml::DeviceHandle>& handles,
                         const std::vector<Device>& devices) {
    for (const Device& device : devices) {
        auto handle = handles.find(device.device);
        if (handle == handles.end()) {
            const auto found = nvml.device(device.pci_bus_id, device.uuid);
            if (!found) {
                fail(found.error().sentence.english());
                continue;
            }
            handle = handles.emplace(device.device, *found).first;
        }
        auto reading = read_promptly(nvml, handle->second);
        if (!reading) {
            fail(reading.error().sentence.english());
            continue;
        }
        reading->device = device.device;
        const std::lock_guard lock(mutex_);
        if (readings_.size() < most_readings) {
            readings_.push_back(*std::move(reading));
        }
    }
}

Result<NvmlReading> read_promptly(const Nvml& nvml, Nvml::DeviceHandle handle) {
    using Clock = std::chrono::steady_clock;
    NvmlReading best;
    auto shortest = Clock::duration::max();
    for (int attempt = 0; attempt < most_attempts && shortest > longest_reading; ++attempt) {
        const auto start = Clock::now();
        const uint64_t before = ticks();
        auto use = nvml.use(handle);
        const uint64_t after = ticks();
        if (!use) {
            return use.error();
        }
        if (const auto duration = Clock::now() - start; duration < shortest) {
            shortest = duration;
            best = {before + (after - before) / 2, 0, *std::move(use)};
        }
    }
    return best;
}

}  // namespace tidemark::recorder
