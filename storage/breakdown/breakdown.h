// From the bytes a program asked for up to what nvidia-smi shows: layers that add up exactly.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/analysis/analysis.h"

namespace tidemark {

/// From the innermost outwards. Blocks of private pools count as requested, rounding and waiting like all others;
/// `private_pools` is what such pools hold without handing it out.
enum class ComponentKind : uint8_t {
    requested,         ///< bytes asked for, in blocks that are allocated
    rounding,          ///< block size beyond what was asked for
    pending,           ///< freed by the program, still used by a stream
    free_in_segments,  ///< free bytes of segments (default pool) that also hold blocks
    cached_segments,   ///< segments (default pool) without any block
    private_pools,     ///< free bytes of segments that belong to private pools
    library,           ///< driver memory beside the allocator, one layer per library that asked
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
    /// NVML's figure for the device at this moment: the last sample, moved by what the allocator and the driver are
    /// known to have taken or given back since. Nothing: no sample; the layers then end at what is known.
    std::optional<int64_t> device_used;
    std::optional<int64_t> process_used;  ///< likewise, of the recorded process
    int64_t device_total = 0;
    std::optional<int64_t> sample_time;
    std::vector<Component>
        components;  ///< sum of bytes == device_used when there is one; layers of 0 bytes are left out

    /// Of all layers of this kind together.
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

/// Ledger of one device. Immutable after construction; keeps the analysis alive. Asking costs microseconds, at any
/// moment of any trace.
class Breakdown {
public:
    /// Walks every event once (about 100 ns each).
    explicit Breakdown(std::shared_ptr<const Analysis> analysis);

    BreakdownRow at(EventNumber event) const;
    /// At a time between events: driver memory and samples change then too.
    BreakdownRow at_time(int64_t time) const;
    /// One row per moment.
    std::vector<BreakdownRow> band(const std::vector<int64_t>& times) const;

private:
    struct Index;
    std::shared_ptr<const Analysis> analysis_;
    std::shared_ptr<const Index> index_;
};

}  // namespace tidemark
