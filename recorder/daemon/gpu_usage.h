// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes NVML's readings as samples, and estimates the memory of the program's context and kernels from them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "recorder/daemon/driver_log.h"
#include "recorder/daemon/nvml_sampler.h"
#include "recorder/daemon/tick_clock.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

/// Attributes the bytes that the process uses beyond its known driver memory. Uses only readings without a change of
/// driver memory nearby. The bytes belong to the context if one was created since the last such reading (or if this is
/// the first), as far as earlier readings allow; else to kernels if modules were loaded, else to nothing.
class ContextGrowth {
public:
    struct Usage {
        int64_t process_bytes = 0, driver_bytes = 0;
        int64_t contexts = 0, modules = 0;  ///< number created or loaded so far
    };
    struct Growth {
        DriverMemoryKind kind = DriverMemoryKind::context;  ///< context or kernels
        int64_t bytes = 0;
        int64_t first_module = 0;  ///< kernels: position of the first module that they may belong to
    };
    /// Returns the context before kernels.
    std::vector<Growth> attribute(const Usage& usage);
    /// Tells that the context already existed when the process had these bytes, of which at least `driver_bytes` were
    /// driver memory. So it is no larger than the rest, even if later readings show more.
    void limit_context(const Usage& usage);

private:
    std::optional<Usage> last_;
    std::optional<Usage> limit_;  ///< the smallest rest since the last reading
    int64_t attributed_ = 0;      ///< bytes of context and kernels so far
};

class GpuUsage {
public:
    GpuUsage(StreamingWriter& writer, const DriverLog& driver, const TickClock& clock, int64_t program)
        : writer_(writer), driver_(driver), clock_(clock), program_(program) {}

    /// Writes a reading. `reserved_bytes`: of the allocator's segments, used while driver calls are not recorded.
    void on_reading(const NvmlReading& reading, int64_t reserved_bytes);
    /// Marks a reading as that of an out-of-memory error: the last one, or the next one if none was taken for the
    /// error.
    void on_out_of_memory(int device, bool was_sampled);
    /// Attributes the readings that have no change of driver memory within 2 ms. `read_until`: trace time up to which
    /// all events are known.
    void attribute_quiet_readings(int64_t read_until);

private:
    struct PendingReading {
        int64_t time;
        ContextGrowth::Usage usage;
        int64_t last_change;  ///< before it
    };
    struct Device {
        std::vector<int64_t> first_pids;
        std::optional<int64_t> pid_at_driver;  ///< the program's pid as NVML reports it
        std::optional<NvmlReading> last;
        std::deque<PendingReading> pending;
        ContextGrowth growth;
        bool sample_is_of_oom = false;
    };

    void find_program(Device& device, const NvmlReading& reading);
    void write_samples(const NvmlReading& reading, SampleSource source);
    void attribute(int id, Device& device, const PendingReading& pending);
    void limit_context(int id, Device& device, const PendingReading& pending);
    void write_growth(int device, DriverMemoryKind kind, int64_t bytes, int64_t time);
    /// Distributes the bytes of kernels over the modules loaded between two readings, by the size of their code.
    void write_kernels(int device, std::span<const DriverLog::ModuleLoad> loads, int64_t bytes);

    StreamingWriter& writer_;
    const DriverLog& driver_;
    const TickClock& clock_;
    const int64_t program_;
    std::map<int, Device> devices_;
};

}  // namespace tidemark::recorder
