#include "recorder/daemon/gpu_use.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::recorder {

namespace {

constexpr int64_t quiet_ns = 5'000'000;
/// NVML counts in pages; less is noise.
constexpr int64_t least_growth = 1 << 20;

}  // namespace

std::optional<ContextGrowth::Growth> ContextGrowth::look(const Moment& moment) {
    const bool is_first = !last_;
    const bool has_context = is_first || moment.contexts > last_->contexts;
    const bool has_kernels = !is_first && moment.modules > last_->modules;
    last_ = moment;
    const int64_t rest = moment.process_bytes - moment.driver_bytes - explained_;
    if (rest < least_growth || (!has_context && !has_kernels)) {
        return std::nullopt;
    }
    explained_ += rest;
    return has_context ? Growth{"context", rest, moment.time} : Growth{"kernels", rest, moment.last_module};
}

void GpuUse::find_program(Device& device, const NvmlReading& reading) {
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
    // In a container the driver shows the host's numbers. One process that came after us, or the only one there is,
    // can only be the program.
    std::vector<int64_t> candidates;
    for (const auto& process : processes) {
        const bool was_there =
            std::find(device.first_pids.begin(), device.first_pids.end(), process.pid) != device.first_pids.end();
        if (!was_there || processes.size() == 1) {
            candidates.push_back(process.pid);
        }
    }
    if (candidates.size() == 1) {
        device.pid_at_driver = candidates.front();
        writer_.meta("recorded.nvml_pid", fmt::format("{}", candidates.front()));
    }
}

void GpuUse::write_samples(const NvmlReading& reading, const char* source) {
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

void GpuUse::on_reading(const NvmlReading& reading, int64_t reserved_bytes) {
    Device& device = devices_[reading.device];
    find_program(device, reading);
    write_samples(reading, device.sample_is_of_oom ? "nvml at oom" : "nvml");
    device.sample_is_of_oom = false;
    device.last = reading;
    for (const auto& process : reading.use.processes) {
        if (process.bytes && process.pid == device.pid_at_driver) {
            const int64_t driver_bytes = driver_.bytes_on(reading.device).value_or(reserved_bytes);
            device.held.push_back({{*process.bytes, driver_bytes, driver_.contexts_on(reading.device),
                                    driver_.modules_on(reading.device), clock_.time_of(reading.ticks),
                                    driver_.last_module_on(reading.device)},
                                   driver_.last_change(reading.device)});
        }
    }
}

void GpuUse::on_out_of_memory(int id, bool was_sampled) {
    Device& device = devices_[id];
    if (was_sampled && device.last) {
        write_samples(*device.last, "nvml at oom");
    } else {
        device.sample_is_of_oom = true;
    }
}

void GpuUse::look_at_quiet_moments(int64_t read_until) {
    for (auto& [id, device] : devices_) {
        while (!device.held.empty() && device.held.front().moment.time < read_until - quiet_ns) {
            const Held held = device.held.front();
            device.held.pop_front();
            const int64_t last_change = driver_.last_change(id);
            const int64_t time = held.moment.time;
            const bool was_quiet = time - held.last_change >= quiet_ns &&
                                   (last_change == held.last_change || last_change - time >= quiet_ns);
            const auto growth = was_quiet ? device.growth.look(held.moment) : std::nullopt;
            if (growth) {
                DriverAllocation row;
                row.kind = growth->kind;
                row.device = id;
                row.bytes = static_cast<uint64_t>(growth->bytes);
                row.time = growth->time;
                writer_.driver_allocated(row, no_segment);
            }
        }
    }
}

}  // namespace tidemark::recorder
