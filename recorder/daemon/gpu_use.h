// What NVML's readings say about a device: samples, and how much of the program's use is its context and its kernels.
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

/// At quiet moments, what the process uses beyond the driver memory it is known to have: its context when one was
/// made since the last quiet moment (or this is the first), kernels when modules were loaded; else it stays unknown.
class ContextGrowth {
public:
    struct TimePoint {
        int64_t process_bytes = 0, driver_bytes = 0;
        int64_t contexts = 0, modules = 0;  ///< so far
    };
    struct Growth {
        DriverMemoryKind kind;  ///< context or kernels
        int64_t bytes;
    };
    std::optional<Growth> look(const TimePoint& time_point);

private:
    std::optional<TimePoint> last_;
    int64_t explained_ = 0;  ///< bytes of context and kernels so far
};

class GpuUse {
public:
    GpuUse(StreamingWriter& writer, const DriverLog& driver, const TickClock& clock, int64_t program)
        : writer_(writer), driver_(driver), clock_(clock), program_(program) {}

    /// `reserved_bytes`: of the allocator's segments on a device, where driver calls are not seen.
    void on_reading(const NvmlReading& reading, int64_t reserved_bytes);
    /// The program ran out of memory on a device: the last reading, or the next when none was taken for it.
    void on_out_of_memory(int device, bool was_sampled);
    /// Looks at readings whose moment has turned out to be quiet. `read_until`: events up to there are known.
    void look_at_quiet_time_points(int64_t read_until);

private:
    struct Held {
        int64_t time;
        ContextGrowth::TimePoint time_point;
        int64_t last_change;  ///< before it
    };
    struct Device {
        std::vector<int64_t> first_pids;
        std::optional<int64_t> pid_at_driver;  ///< how the driver numbers the program
        std::optional<NvmlReading> last;
        std::deque<Held> held;
        ContextGrowth growth;
        size_t modules_seen = 0;  ///< at the last quiet moment
        bool sample_is_of_oom = false;
    };

    void find_program(Device& device, const NvmlReading& reading);
    void write_samples(const NvmlReading& reading, SampleSource source);
    void explain(int id, Device& device, const Held& held);
    void write_growth(int device, DriverMemoryKind kind, int64_t bytes, int64_t time);
    /// What kernels took between two looks, shared out over the modules that came between, by the size of their code.
    void write_kernels(int device, std::span<const DriverLog::ModuleLoad> loads, int64_t bytes);

    StreamingWriter& writer_;
    const DriverLog& driver_;
    const TickClock& clock_;
    const int64_t program_;
    std::map<int, Device> devices_;
};

}  // namespace tidemark::recorder
