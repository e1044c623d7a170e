// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// NVML samples of one device, by time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

/// The figures of one NVML reading. The other processes never have more than the device has beside the recorded one.
struct DeviceSample {
    struct Process {
        int64_t pid = 0;  ///< 0: all other processes together, if NVML's figures of them cannot be true
        int64_t bytes = 0;
        int64_t count = 1;  ///< of processes
    };
    int64_t time = 0, used = 0;
    std::optional<int64_t> own;   ///< of the recorded process; nothing if it is unknown or did not use the device
    std::vector<Process> others;  ///< by pid; empty if the recorded process is unknown

    int64_t others_bytes() const;
};

class DeviceSamples {
public:
    DeviceSamples(const Trace& trace, int device);

    const std::vector<DeviceSample>& all() const { return samples_; }
    bool empty() const { return samples_.empty(); }
    int64_t total_bytes() const { return total_bytes_; }
    /// Returns whether NVML reported the memory of single processes.
    bool has_processes() const { return has_processes_; }
    /// Returns whether the recorded process was identified among them.
    bool knows_process() const { return own_.has_value(); }
    /// Returns its pid in NVML's numbering.
    std::optional<int64_t> own_pid() const { return own_; }
    /// Returns the number of samples in which the figures of the processes add up to more than that of the device.
    int64_t contradictions() const { return contradictions_; }

private:
    void add_processes(const Trace& trace, int device);
    void limit_others(DeviceSample& sample);

    std::vector<DeviceSample> samples_;  ///< one per time
    std::optional<int64_t> own_;
    int64_t total_bytes_ = 0, contradictions_ = 0;
    bool has_processes_ = false;
};

}  // namespace tidemark
