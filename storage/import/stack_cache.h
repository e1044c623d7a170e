// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds whole stacks in one lookup. A trace contains each of its few thousand stacks hundreds of times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/trace/stack_table.h"

namespace tidemark {

/// Finds in one step what StackTable::intern_stack finds in one step per frame.
class StackCache {
public:
    StackCache();
    StackId intern(StackTable& table, std::span<const FrameId> innermost_first);

private:
    void grow();

    struct Slot {
        uint64_t hash = 0;
        StackId stack = 0;  ///< 0: free
    };
    uint64_t seed_;
    std::vector<Slot> slots_;  ///< open addressing, a power of two, at most half full
    size_t used_ = 0;
};

}  // namespace tidemark
