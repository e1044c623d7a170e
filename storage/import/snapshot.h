// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A PyTorch CUDA memory snapshot in memory: the content of `torch.cuda.memory._snapshot()`, compact and typed. Source
// of the layout: torch/csrc/cuda/memory_snapshot.cpp and torch/csrc/cuda/Module.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/trace/stack_table.h"
#include "storage/trace/vocabulary.h"

namespace tidemark {

constexpr int64_t no_time = INT64_MIN;
constexpr uint32_t pool_not_recorded = UINT32_MAX;

struct SnapshotEvent {
    uint64_t address = 0;       ///< for oom: free bytes of the device
    uint64_t size = 0;          ///< bytes: requested for alloc and free, actual for segment actions
    int64_t time_us = no_time;  ///< µs since the Unix epoch
    StackId stack = 0;
    uint32_t context = 0;               ///< index into Snapshot::contexts
    uint32_t pool = pool_not_recorded;  ///< index into Snapshot::pools
    uint16_t stream = 0;                ///< index into Snapshot::streams
    Action action = Action::unknown;
    uint8_t unknown_action = 0;  ///< for Action::unknown: index into Snapshot::unknown_actions
};

struct SnapshotBlock {
    uint64_t address = 0;
    uint64_t size = 0;
    uint64_t requested = 0;
    StackId stack = 0;
    BlockState state = BlockState::inactive;
};

struct SnapshotSegment {
    int device = 0;
    uint64_t address = 0;
    uint64_t total_size = 0;
    uint16_t stream = 0;
    bool is_large = false;
    bool is_expandable = false;
    uint32_t pool = 0;  ///< index into Snapshot::pools
    StackId stack = 0;
    std::vector<SnapshotBlock> blocks;  ///< by address, covering the segment
};

struct SnapshotAnnotation {
    std::string name;
    bool is_start = false;
    int device = 0;
    int64_t time_us = no_time;
};

/// Data that PyTorch records with an allocation in addition to its stack.
struct SnapshotContext {
    StringId compile_context = 0;  ///< 0 if PyTorch wrote "N/A"
    StringId user_metadata = 0;
    bool operator==(const SnapshotContext&) const = default;
};

using PoolKey = std::array<int64_t, 2>;  ///< PyTorch's MempoolId_t; {0, 0} is the default pool

struct Snapshot {
    StackTable stacks;
    std::vector<uint64_t> streams;       ///< CUDA stream handles, in order of first use
    std::vector<PoolKey> pools{{0, 0}};  ///< index 0 is the default pool
    std::vector<SnapshotContext> contexts{{}};
    std::vector<std::string> unknown_actions;
    std::vector<std::vector<SnapshotEvent>> traces;  ///< per device index, oldest first
    std::vector<SnapshotSegment> segments;           ///< the state when the snapshot was taken
    std::vector<SnapshotAnnotation> annotations;
    std::map<std::string, std::string> settings;  ///< allocator settings, values as JSON text
    std::map<std::string, std::string> extra;     ///< unknown top-level keys with small scalar values, as JSON text
    std::map<std::string, int64_t> damaged;       ///< values that could not be used: count by "event.stream"
    int pickle_protocol = 0;
};

}  // namespace tidemark
