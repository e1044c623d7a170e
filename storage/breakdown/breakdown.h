// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The memory breakdown: components from the bytes a program requested up to what nvidia-smi shows. They add up exactly.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/analysis/analysis.h"

namespace tidemark {

/// From the innermost outwards. Blocks of private pools count as requested, rounding and pending like all others;
/// `private_pools` is the free memory of such pools.
enum class ComponentKind : uint8_t {
    requested,         ///< bytes requested, in blocks that are allocated
    rounding,          ///< block size beyond the request
    pending,           ///< freed by the program, still used by a stream
    free_in_segments,  ///< free bytes of segments (default pool) that also hold blocks
    cached_segments,   ///< segments (default pool) without any block
    private_pools,     ///< free bytes of segments that belong to private pools
    library,           ///< driver memory outside the allocator, one component per library
    context,           ///< the CUDA context; where driver calls were not recorded, what libraries took is in it too
    kernels,           ///< growth when modules were loaded
    other_processes,   ///< the same GPU, one layer per pid
    unknown,           ///< the rest; negative when the layers claim more than NVML shows
};
/// Stable word for JSON and the window's translation table: "free_in_segments".
std::string_view component_word(ComponentKind kind);

struct Component {
    ComponentKind kind = ComponentKind::unknown;
    std::string name;  ///< of the library or process; empty elsewhere
    int64_t bytes = 0;
    int64_t count = 0;  ///< blocks, segments or driver allocations in it, 0 where that says nothing
    int64_t pid = 0;    ///< other_processes
};

struct BreakdownRow {
    EventNumber event = 0;
    int64_t time = 0;
    /// NVML's figure for the device at this time: the last sample, plus what the allocator and the driver are known to
    /// have allocated since, minus what they freed. Nothing: no sample; the components then end at what is known.
    std::optional<int64_t> device_used;
    std::optional<int64_t> process_used;  ///< likewise, of the recorded process
    int64_t device_total = 0;
    std::optional<int64_t> sample_time;
    std::vector<Component>
        components;  ///< sum of bytes == device_used when there is one; components of 0 bytes are left out

    /// Returns the bytes of all components of this kind together.
    int64_t bytes_of(ComponentKind kind) const;
};

/// What the breakdown of a device lacks.
enum class BreakdownGapKind : uint8_t {
    no_samples,
    samples_begin_late,      ///< NVML was first asked at `time`
    libraries_in_context,    ///< no driver calls: the CUDA context contains what libraries took
    libraries_not_recorded,  ///< no driver calls, and no figure of the process
    process_not_listed,      ///< NVML's list of processes lacks the recorded one
    processes_not_listed,    ///< NVML lists no processes
    data_gap,
};
struct BreakdownGap {
    BreakdownGapKind kind = BreakdownGapKind::no_samples;
    int64_t time = 0;  ///< ns since trace start
    DataGap data_gap;
};
std::vector<BreakdownGap> breakdown_gaps(const Trace& trace, const DeviceHistory& device);

/// Breakdown of one device. Immutable after construction; keeps the analysis alive. A call takes microseconds, at any
/// time of any trace.
class Breakdown {
public:
    /// Walks every event once (about 100 ns each).
    explicit Breakdown(std::shared_ptr<const Analysis> analysis);

    BreakdownRow at(EventNumber event) const;
    /// Returns the row of a time between events: driver memory and samples change then too.
    BreakdownRow at_time(int64_t time) const;
    /// Returns one row per time.
    std::vector<BreakdownRow> band(const std::vector<int64_t>& times) const;

private:
    struct Index;
    std::shared_ptr<const Analysis> analysis_;
    std::shared_ptr<const Index> index_;
};

}  // namespace tidemark
