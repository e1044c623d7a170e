// Who holds the memory at a moment: active allocations added up by stack, line, module, step, ...
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/base/result.h"
#include "storage/read/live_index.h"

namespace tidemark {

enum class GroupBy : uint8_t { stack, line, file, size, stream, pool, annotation, module, op, phase, step };
Result<GroupBy> group_by_from_name(std::string_view name);
/// For help and errors: "stack, line, file, ...".
std::string group_by_names();

struct HolderGroup {
    std::string name;   ///< "train.py:42 forward", "2.00 MiB", "stream 0"
    StackId stack = 0;  ///< with GroupBy::stack, and a representative one with line and file
    int64_t allocations = 0;
    int64_t requested = 0;    ///< bytes
    int64_t block_bytes = 0;  ///< bytes taken
    int64_t pending = 0;      ///< bytes of block_bytes that wait for a stream
    AllocationIndex largest = no_allocation;
};

/// All groups, most bytes first; they add up to the active bytes at event n.
std::vector<HolderGroup> holders_at(const Trace& trace, const DeviceHistory& device, const LiveIndex& live,
                                    EventNumber n, GroupBy by);

/// Tells allocations apart by `by`. Names are made once per stack, size, stream, ... and kept: ask one grouper about
/// many allocations. Keeps references to the trace and the device. Not thread-safe.
class Grouper {
public:
    Grouper(const Trace& trace, const DeviceHistory& device, GroupBy by);
    ~Grouper();

    /// A small number, the same for all allocations of one group: 0, 1, 2, ... in order of appearance.
    uint32_t group_of(AllocationIndex a);
    const std::string& name(uint32_t group) const;
    uint32_t group_count() const;

private:
    class Keys;
    std::unique_ptr<Keys> keys_;
    std::vector<std::string> names_;
    std::unordered_map<uint64_t, uint32_t> group_of_key_;
};

/// Name of the group an allocation belongs to ("no Python frame" for those without a stack).
std::string group_name(const Trace& trace, const DeviceHistory& device, AllocationIndex a, GroupBy by);

}  // namespace tidemark
