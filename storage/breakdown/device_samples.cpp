// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/breakdown/device_samples.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace tidemark {

namespace {

/// Returns the recorded process's pid in NVML's numbering. In a container NVML uses the host's pids. If the recording
/// has no mapping and only one process uses the device, that process is the recorded one.
std::optional<int64_t> recorded_pid(const Trace& trace, const std::set<int64_t>& listed) {
    if (trace.nvml_pid) {
        return listed.contains(*trace.nvml_pid) ? trace.nvml_pid : std::nullopt;
    }
    if (!trace.processes.empty() && listed.contains(trace.processes.front().pid)) {
        return trace.processes.front().pid;
    }
    return listed.size() == 1 ? std::optional(*listed.begin()) : std::nullopt;
}

std::set<int64_t> listed_pids(const Trace& trace, int device) {
    std::set<int64_t> listed;
    for (const Sample& sample : trace.samples) {
        if (sample.device == device && sample.pid) {
            listed.insert(*sample.pid);
        }
    }
    return listed;
}

}  // namespace

int64_t DeviceSample::others_bytes() const {
    return std::accumulate(others.begin(), others.end(), int64_t{0},
                           [](int64_t sum, const Process& process) { return sum + process.bytes; });
}

/// A sample that was taken for an out-of-memory error may have the rows of the sample before: same time, same figures.
DeviceSamples::DeviceSamples(const Trace& trace, int device) {
    for (const Sample& sample : trace.samples) {
        if (sample.device == device && !sample.pid) {
            samples_.push_back({sample.time, sample.used_bytes, std::nullopt, {}});
            total_bytes_ = std::max(total_bytes_, sample.total_bytes);
        }
    }
    std::stable_sort(samples_.begin(), samples_.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
    samples_.erase(
        std::unique(samples_.begin(), samples_.end(), [](const auto& a, const auto& b) { return a.time == b.time; }),
        samples_.end());
    add_processes(trace, device);
    for (DeviceSample& sample : samples_) {
        limit_others(sample);
    }
}

/// A process belongs to the first sample of the device that is not older than its row.
void DeviceSamples::add_processes(const Trace& trace, int device) {
    const std::set<int64_t> listed = listed_pids(trace, device);
    has_processes_ = !listed.empty();
    own_ = recorded_pid(trace, listed);
    for (const Sample& row : trace.samples) {
        if (row.device != device || !row.pid || !own_) {
            continue;
        }
        const auto sample = std::lower_bound(samples_.begin(), samples_.end(), row.time,
                                             [](const DeviceSample& s, int64_t time) { return s.time < time; });
        if (sample == samples_.end()) {
            continue;
        }
        if (*row.pid == *own_) {
            sample->own = row.used_bytes;
            continue;
        }
        auto& others = sample->others;
        const auto same = std::lower_bound(others.begin(), others.end(), *row.pid,
                                           [](const auto& process, int64_t pid) { return process.pid < pid; });
        if (same != others.end() && same->pid == *row.pid) {
            same->bytes = row.used_bytes;
        } else {
            others.insert(same, {*row.pid, row.used_bytes});
        }
    }
}

/// NVML may list a process of several containers several times, or count memory that processes share in each of them.
/// It is unknown which figure is wrong, so only their possible sum remains.
void DeviceSamples::limit_others(DeviceSample& sample) {
    const int64_t room = std::max<int64_t>(sample.used - sample.own.value_or(0), 0);
    if (sample.others_bytes() > room) {
        ++contradictions_;
        sample.others = {sample.others.size() == 1
                             ? DeviceSample::Process{sample.others.front().pid, room}
                             : DeviceSample::Process{0, room, static_cast<int64_t>(sample.others.size())}};
    }
}

}  // namespace tidemark
