// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// NVML samples of one device, by time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

class DeviceSamples {
public:
    struct Reading {
        int64_t time = 0, bytes = 0;
    };

    DeviceSamples(const Trace& trace, int device);

    bool empty() const { return device_.empty(); }
    int64_t first_time() const { return device_.front().time; }
    int64_t total_bytes() const { return total_bytes_; }

    /// Returns the last reading of the whole device at or before `time`.
    const Reading* device_at(int64_t time) const { return last_until(device_, time); }
    /// Returns the last reading of the recorded process; nullptr if it did not use the device at that time.
    const Reading* process_at(int64_t time) const { return own_ ? process_at(*own_, time) : nullptr; }
    /// Returns the first reading of the recorded process.
    const Reading* first_of_process() const;
    /// Calls visit(pid, bytes) for every other process that used the device at that time, by pid.
    template <class Visit>
    void for_each_other(int64_t time, Visit&& visit) const {
        for (const auto& [pid, readings] : processes_) {
            const Reading* reading = own_ && pid != *own_ ? process_at(pid, time) : nullptr;
            if (reading) {
                visit(pid, reading->bytes);
            }
        }
    }

    /// Returns whether NVML reported the memory of single processes.
    bool has_processes() const { return !processes_.empty(); }
    /// Returns whether the recorded process was identified among them.
    bool knows_process() const { return own_.has_value(); }

private:
    static const Reading* last_until(const std::vector<Reading>& readings, int64_t time);
    const Reading* process_at(int64_t pid, int64_t time) const;
    std::optional<int64_t> recorded_pid(const Trace& trace) const;

    std::vector<Reading> device_;
    std::map<int64_t, std::vector<Reading>> processes_;
    std::optional<int64_t> own_;  ///< pid in NVML's numbering
    int64_t total_bytes_ = 0;
};

}  // namespace tidemark
