// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/gpu_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::recorder {

namespace {

/// A reading without a change of driver memory in this time before and after it can be attributed.
constexpr int64_t quiet_ns = 2'000'000;
/// NVML counts in pages; smaller changes are noise.
constexpr int64_t least_growth = 1 << 20;

}  // namespace

std::vector<ContextGrowth::Growth> ContextGrowth::attribute(const Usage& usage) {
    const std::optional<Usage> last = std::exchange(last_, usage), limit = std::exchange(limit_, std::nullopt);
    const bool has_context = !last || usage.contexts > last->contexts;
    int64_t rest = usage.process_bytes - usage.driver_bytes - attributed_;
    std::vector<Growth> growths;
    const auto attribute = [&](DriverMemoryKind kind, int64_t bytes, int64_t first_module) {
        if (bytes >= least_growth) {
            growths.push_back({kind, bytes, first_module});
            attributed_ += bytes;
            rest -= bytes;
        }
    };
    if (has_context) {
        const int64_t most = limit ? limit->process_bytes - limit->driver_bytes - attributed_ : rest;
        attribute(DriverMemoryKind::context, std::min(rest, most), 0);
    }
    // All modules that were loaded before the context was measured belong to it.
    const int64_t modules_before = has_context ? limit ? limit->modules : usage.modules : last->modules;
    if (usage.modules > modules_before) {
        attribute(DriverMemoryKind::kernels, rest, modules_before);
    }
    return growths;
}

void ContextGrowth::limit_context(const Usage& usage) {
    const int64_t rest = usage.process_bytes - usage.driver_bytes;
    if (rest - attributed_ >= least_growth && (!limit_ || rest < limit_->process_bytes - limit_->driver_bytes)) {
        limit_ = usage;
    }
}

void GpuUsage::find_program(Device& device, const NvmlReading& reading) {
    const auto& processes = reading.use.processes;
    if (!device.last) {
        for (const auto& process : processes) {
            device.first_pids.push_back(process.pid);
        }
    }
    if (device.pid_at_driver) {
        return;
    }
    const auto own =
        std::find_if(processes.begin(), processes.end(), [&](const auto& process) { return process.pid == program_; });
    if (own != processes.end()) {
        device.pid_at_driver = program_;
        return;
    }
    // In a container the driver reports pids of the host. A process that appeared later, or the only process, must be
    // the program.
    std::vector<int64_t> candidates;
    for (const auto& process : processes) {
        const bool was_running =
            std::find(device.first_pids.begin(), device.first_pids.end(), process.pid) != device.first_pids.end();
        if (!was_running || processes.size() == 1) {
            candidates.push_back(process.pid);
        }
    }
    if (candidates.size() == 1) {
        device.pid_at_driver = candidates.front();
        writer_.meta("recorded.nvml_pid", fmt::format("{}", candidates.front()));
    }
}

void GpuUsage::write_samples(const NvmlReading& reading, SampleSource source) {
    Sample sample;
    sample.time = clock_.time_of(reading.ticks);
    sample.device = reading.device;
    sample.used_bytes = reading.use.used_bytes;
    sample.total_bytes = reading.use.total_bytes;
    sample.source = source;
    writer_.sample(sample);
    for (const auto& process : reading.use.processes) {
        if (process.bytes) {
            sample.pid = process.pid;
            sample.used_bytes = *process.bytes;
            sample.total_bytes = 0;
            writer_.sample(sample);
        }
    }
}

void GpuUsage::on_reading(const NvmlReading& reading, int64_t reserved_bytes) {
    Device& device = devices_[reading.device];
    find_program(device, reading);
    write_samples(reading, device.sample_is_of_oom ? SampleSource::nvml_at_oom : SampleSource::nvml);
    device.sample_is_of_oom = false;
    device.last = reading;
    for (const auto& process : reading.use.processes) {
        if (process.bytes && process.pid == device.pid_at_driver) {
            const int64_t driver_bytes = driver_.bytes_on(reading.device).value_or(reserved_bytes);
            device.pending.push_back({clock_.time_of(reading.ticks),
                                      {*process.bytes, driver_bytes, driver_.contexts_on(reading.device),
                                       static_cast<int64_t>(driver_.modules_on(reading.device).size())},
                                      driver_.last_change(reading.device)});
        }
    }
}

void GpuUsage::on_out_of_memory(int id, bool was_sampled) {
    Device& device = devices_[id];
    if (was_sampled && device.last) {
        write_samples(*device.last, SampleSource::nvml_at_oom);
    } else {
        device.sample_is_of_oom = true;
    }
}

void GpuUsage::attribute_quiet_readings(int64_t read_until) {
    for (auto& [id, device] : devices_) {
        while (!device.pending.empty() && device.pending.front().time < read_until - quiet_ns) {
            const PendingReading pending = device.pending.front();
            device.pending.pop_front();
            const int64_t last_change = driver_.last_change(id);
            const bool was_quiet = pending.time - pending.last_change >= quiet_ns &&
                                   (last_change == pending.last_change || last_change - pending.time >= quiet_ns);
            was_quiet ? attribute(id, device, pending) : limit_context(id, device, pending);
        }
    }
}

void GpuUsage::attribute(int id, Device& device, const PendingReading& pending) {
    const auto loaded = driver_.modules_on(id).first(static_cast<size_t>(pending.usage.modules));
    for (const ContextGrowth::Growth& growth : device.growth.attribute(pending.usage)) {
        if (growth.kind == DriverMemoryKind::kernels) {
            write_kernels(id, loaded.subspan(static_cast<size_t>(growth.first_module)), growth.bytes);
        } else {
            write_growth(id, growth.kind, growth.bytes, driver_.last_context_on(id));
        }
    }
}

void GpuUsage::limit_context(int id, Device& device, const PendingReading& pending) {
    const auto least = driver_.least_bytes_on(id, pending.time - quiet_ns, pending.time + quiet_ns);
    if (least && driver_.contexts_on(id) > 0 && driver_.last_context_on(id) <= pending.time - quiet_ns) {
        ContextGrowth::Usage usage = pending.usage;
        usage.driver_bytes = *least;
        device.growth.limit_context(usage);
    }
}

void GpuUsage::write_kernels(int device, std::span<const DriverLog::ModuleLoad> loads, int64_t bytes) {
    double all = 0, seen = 0;
    for (const auto& load : loads) {
        all += static_cast<double>(load.code_bytes);
    }
    int64_t written = 0;
    for (const auto& load : loads) {
        seen += static_cast<double>(load.code_bytes);
        const bool is_last = &load == &loads.back();
        const auto up_to_here = static_cast<int64_t>(static_cast<double>(bytes) * seen / std::max(all, 1.0));
        const int64_t share = (is_last ? bytes : up_to_here) - written;
        if (share >= least_growth || is_last) {
            write_growth(device, DriverMemoryKind::kernels, share, load.time);
            written += share;
        }
    }
}

void GpuUsage::write_growth(int device, DriverMemoryKind kind, int64_t bytes, int64_t time) {
    DriverAllocation row;
    row.kind = kind;
    row.device = device;
    row.bytes = static_cast<uint64_t>(bytes);
    row.time = time;
    writer_.driver_allocated(row, no_segment);
}

}  // namespace tidemark::recorder
