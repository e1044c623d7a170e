// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/breakdown/device_samples.h"

#include <algorithm>

namespace tidemark {

DeviceSamples::DeviceSamples(const Trace& trace, int device) {
    for (const Sample& sample : trace.samples) {
        if (sample.device != device) {
            continue;
        }
        if (sample.pid) {
            processes_[*sample.pid].push_back({sample.time, sample.used_bytes});
        } else {
            device_.push_back({sample.time, sample.used_bytes});
            total_bytes_ = std::max(total_bytes_, sample.total_bytes);
        }
    }
    own_ = recorded_pid(trace);
}

/// Returns the recorded process's pid in NVML's numbering. In a container NVML uses the host's pids. If the recording
/// has no mapping and only one process uses the device, that process is the recorded one.
std::optional<int64_t> DeviceSamples::recorded_pid(const Trace& trace) const {
    if (trace.nvml_pid) {
        return processes_.contains(*trace.nvml_pid) ? trace.nvml_pid : std::nullopt;
    }
    if (!trace.processes.empty() && processes_.contains(trace.processes.front().pid)) {
        return trace.processes.front().pid;
    }
    return processes_.size() == 1 ? std::optional(processes_.begin()->first) : std::nullopt;
}

const DeviceSamples::Reading* DeviceSamples::last_until(const std::vector<Reading>& readings, int64_t time) {
    const auto after = std::upper_bound(readings.begin(), readings.end(), time,
                                        [](int64_t t, const Reading& reading) { return t < reading.time; });
    return after == readings.begin() ? nullptr : &*std::prev(after);
}

/// A process that the latest sample does not list has ended: its last reading is not newer than the previous sample.
const DeviceSamples::Reading* DeviceSamples::process_at(int64_t pid, int64_t time) const {
    const Reading* reading = last_until(processes_.at(pid), time);
    const Reading* latest = device_at(time);
    if (!reading || !latest) {
        return reading;
    }
    const bool has_ended = latest != device_.data() && reading->time <= (latest - 1)->time;
    return has_ended ? nullptr : reading;
}

const DeviceSamples::Reading* DeviceSamples::first_of_process() const {
    if (!own_) {
        return nullptr;
    }
    const auto& readings = processes_.at(*own_);
    const auto found = std::find_if(readings.begin(), readings.end(), [](const Reading& r) { return r.bytes > 0; });
    return found == readings.end() ? nullptr : &*found;
}

}  // namespace tidemark
