// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The Python frames of stacks, without the C++ frames between them, as a tree of calls.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/trace/stack_table.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Position of a call in PythonPaths; 0: none, the caller of all outermost calls.
using PathId = uint32_t;

/// Immutable. Keeps a reference to the table. Thread: any.
class PythonPaths {
public:
    /// `allocations`: of a device, to tell which calls run the program; nullptr: none does.
    explicit PythonPaths(const StackTable& table, const Allocations* allocations = nullptr);

    /// Returns the innermost Python call of a stack; 0 if the stack has none.
    PathId of(StackId stack) const { return path_of_[stack]; }
    PathId caller(PathId path) const { return calls_[path].caller; }
    FrameId frame_id(PathId path) const { return calls_[path].frame; }
    const Frame& frame(PathId path) const { return table_.frame(calls_[path].frame); }
    size_t size() const { return calls_.size(); }
    bool is_same_function(FrameId a, FrameId b) const {
        return table_.frame(a).function == table_.frame(b).function && table_.frame(a).file == table_.frame(b).file;
    }
    PathId outermost(PathId path) const { return calls_[path].outermost; }
    /// Returns whether the call, or one of its callers, does a part of one iteration, however often it repeats: a
    /// module, an optimizer, backward(), a constructor, a __call__; not one that runs the program.
    bool is_part_of_iteration(PathId path) const { return calls_[path].is_part; }

    /// Returns whether the call is of PyTorch's code that calls a module's hooks and its forward().
    bool is_call_of_module(PathId path) const;

    /// Returns the innermost call that two paths share; 0 if there is none.
    PathId common_caller(PathId a, PathId b) const;
    /// Returns the calls of one caller in which two paths part; 0 for the path that ends at this caller.
    std::pair<PathId, PathId> where_they_part(PathId a, PathId b) const;

private:
    struct Call {
        PathId caller = 0;
        FrameId frame = 0;
        PathId outermost = 0;
        uint32_t depth = 0;
        bool is_part = false;
    };
    struct Memory {
        size_t count = 0;
        uint64_t bytes = 0, freed = 0;
        Memory& operator+=(const Memory& other) {
            count += other.count;
            bytes += other.bytes;
            freed += other.freed;
            return *this;
        }
    };
    PathId intern(PathId caller, FrameId frame);
    void find_parts_of_iterations(const std::vector<Memory>& inside);
    bool runs_program(FrameId frame, const Memory& inside, const Memory& all) const;
    /// Returns the memory of each call and what it calls; for 0, of all calls.
    std::vector<Memory> memory_inside(const Allocations& allocations) const;

    const StackTable& table_;
    std::vector<PathId> path_of_;  // by stack
    std::vector<Call> calls_;
    std::unordered_map<uint64_t, PathId> ids_;
};

}  // namespace tidemark
