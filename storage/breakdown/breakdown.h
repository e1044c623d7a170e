// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The memory breakdown: components from the bytes a program requested up to the figure of nvidia-smi. Their sum is
// exact.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/analysis/analysis.h"

namespace tidemark {

/// Ordered from the innermost component outwards. Blocks of private pools count as requested, rounding and pending like
/// all others; `private_pools` is the free memory of these pools.
enum class ComponentKind : uint8_t {
    requested,         ///< bytes requested, in blocks that are allocated; with `name` driver: allocated from the driver
    rounding,          ///< block size beyond the requested bytes
    pending,           ///< freed by the program, still used by a stream
    free_in_segments,  ///< free bytes of segments (default pool) that also contain blocks
    cached_segments,   ///< segments (default pool) without blocks
    private_pools,     ///< free bytes of segments that belong to private pools
    driver_pools,      ///< memory in pools of the driver (cudaMallocAsync) that no allocation uses
    library,           ///< driver memory outside the allocator, one component per library
    context,           ///< the CUDA context; includes the libraries' memory if driver calls were not recorded
    kernels,           ///< growth when modules were loaded
    other_processes,   ///< the same GPU, one component per pid
    unknown,           ///< the remainder
};
/// The name of the component of driver allocations that are the events of the device.
constexpr std::string_view driver_name = "driver";

/// Returns a stable word for JSON and the window's translation table: "free_in_segments".
std::string_view component_word(ComponentKind kind);

struct Component {
    ComponentKind kind = ComponentKind::unknown;
    std::string name;   ///< of the library or process; otherwise empty
    int64_t bytes = 0;  ///< never negative
    int64_t count = 0;  ///< blocks, segments, driver allocations or processes of pid 0; 0 if a count has no meaning
    int64_t pid = 0;    ///< for other_processes; 0: all of them together, because NVML's figures of them cannot be true
};

struct BreakdownRow {
    EventNumber event = 0;
    std::optional<RepeatedPlace> repeated;  ///< of the allocator's components
    int64_t time = 0;
    /// NVML's figure for the device at this time: that of the nearest sample, with what the allocator and the driver
    /// allocated and freed in between. Never above `device_total`. Nothing if there is no sample; the components then
    /// end with the known memory.
    std::optional<int64_t> device_used;
    std::optional<int64_t> process_used;  ///< the same for the recorded process
    int64_t device_total = 0;             ///< 0: unknown
    std::optional<int64_t> sample_time;   ///< may be later than `time`
    std::vector<Component>
        components;  ///< sum of bytes == device_used if there is one; components of 0 bytes are omitted

    /// Returns the sum over all components of this kind, in bytes.
    int64_t bytes_of(ComponentKind kind) const;
};

/// Data gaps of a device's breakdown.
enum class BreakdownGapKind : uint8_t {
    no_samples,
    samples_begin_late,        ///< the first NVML sample was taken at `time`, long after the first event
    samples_contradict_calls,  ///< `count` samples show less than the program had allocated; they are not used
    processes_exceed_device,   ///< in `count` samples the processes have more than the device
    libraries_in_context,      ///< no driver calls: the CUDA context includes the libraries' memory
    libraries_not_recorded,    ///< no driver calls, and no NVML figure for the process
    process_not_listed,        ///< NVML's list of processes does not contain the recorded one
    processes_not_listed,      ///< NVML lists no processes
    data_gap,
};
struct BreakdownGap {
    BreakdownGapKind kind = BreakdownGapKind::no_samples;
    int64_t time = 0;  ///< ns since trace start
    DataGap data_gap;
    int64_t count = 0;
};

/// The memory breakdown of one device. Immutable after construction; keeps the analysis alive. A call takes
/// microseconds, at any time of any trace.
class Breakdown {
public:
    /// Visits every event once (about 100 ns each).
    explicit Breakdown(std::shared_ptr<const Analysis> analysis);

    BreakdownRow at(const TimePoint& point) const;
    /// Returns the row at any time, also between events, because driver memory and samples change then too. Within a
    /// repeated step, the allocator's components are those of time_point_at().
    BreakdownRow at_time(int64_t time) const;
    /// Returns one row per time.
    std::vector<BreakdownRow> band(const std::vector<int64_t>& times) const;
    std::vector<BreakdownGap> gaps() const;
    /// Returns whether NVML lists the recorded process, so that rows have `process_used` while it uses the device.
    bool lists_process() const;

private:
    struct Index;
    std::shared_ptr<const Analysis> analysis_;
    std::shared_ptr<const Index> index_;
};

}  // namespace tidemark
