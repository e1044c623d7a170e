// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The active allocations at an event, summed by stack, line, module, step, ...
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/base/result.h"
#include "storage/graph/categories.h"
#include "storage/replay/alive_index.h"
#include "storage/replay/time_point.h"

namespace tidemark {

enum class GroupBy : uint8_t {
    stack,
    line,
    file,
    size,
    stream,
    pool,
    annotation,
    module,
    op,
    phase,
    step,
    category,    ///< at GroupOptions::time
    node,        ///< type of the autograd node that produced the memory, or otherwise of the node that saved it
    graph_step,  ///< step in which that node was created, i.e. the age of the graph
};
Result<GroupBy> group_by_from_name(std::string_view name);
/// Returns all names for help and errors: "stack, line, file, ...".
std::string group_by_names();

/// Options of some groupings.
struct GroupOptions {
    const Categories* categories = nullptr;  ///< of the same trace, for category, node, graph_step; nullptr: all memory
                                             ///< is in the group "no graph recorded"
    int64_t time = never_happened;           ///< ns since trace start: the time of GroupBy::category
    int module_depth = 0;                    ///< for GroupBy::module: see module_at_depth; 0: the whole name
};

/// Returns the first `depth` names of a module path: "transformer.h" of "transformer.h.3.mlp" for 2; all of them for 0.
std::string_view module_at_depth(std::string_view module, int depth);

struct AttributionGroup {
    std::string name;   ///< "train.py:42 forward", "2.00 MiB", "stream 0"
    StackId stack = 0;  ///< GroupBy::stack: the stack; GroupBy::line and file: one example
    int64_t allocations = 0;
    int64_t requested = 0;    ///< bytes
    int64_t block_bytes = 0;  ///< bytes of the blocks
    int64_t pending = 0;      ///< bytes of block_bytes that are pending free
    AllocationIndex largest = no_allocation;
};

/// Returns all groups, most bytes first. Their sum is the active bytes at the point, which also sets options.time.
std::vector<AttributionGroup> attribution_at(const Trace& trace, const DeviceHistory& device, const AliveIndex& live,
                                             const TimePoint& point, GroupBy by, const GroupOptions& options = {});

/// Assigns allocations to groups. Builds and stores a name once per stack, size, stream, ..., so use one grouper for
/// many allocations. Keeps references to the trace, the device and the categories. Not thread-safe.
class Grouper {
public:
    Grouper(const Trace& trace, const DeviceHistory& device, GroupBy by, const GroupOptions& options = {});
    ~Grouper();

    /// Returns a small number that is the same for all allocations of one group: 0, 1, 2, ... in order of first use.
    uint32_t group_of(AllocationIndex a);
    /// Changes GroupOptions::time for the allocations that follow.
    void set_time(int64_t time);
    const std::string& name(uint32_t group) const;
    uint32_t group_count() const;

private:
    class Keys;
    /// Finds or makes the group of a key, which is that of allocation `a`.
    uint32_t group_of_key(uint64_t key, AllocationIndex a);

    std::unique_ptr<Keys> keys_;
    std::vector<std::string> names_;
    std::unordered_map<uint64_t, uint32_t> group_of_key_;
};

/// Returns the name of the group that an allocation belongs to. By stack, line and file, "no Python frame" means that
/// it has no stack, and "no site: …" that its stack has nothing but the frames of the allocator and the interpreter.
std::string group_name(const Trace& trace, const DeviceHistory& device, AllocationIndex a, GroupBy by,
                       const GroupOptions& options = {});

}  // namespace tidemark
