// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The memory that nodes retain at one time.
#pragma once

#include "storage/graph/graph_state.h"

namespace tidemark::gui {

/// Refers to the index for its lifetime. Thread: any.
class RetainedMemory {
public:
    RetainedMemory(const GraphIndex& index, int64_t time);

    /// Returns whether the node has not released what it saved.
    bool retains(NodeIndex node) const;
    bool is_allocated(AllocationRef ref) const;
    uint64_t bytes(AllocationRef ref) const;  ///< of the block; 0 for no allocation
    /// Calls `visit(position in SavedTensors)` for each saved tensor of the node.
    template <class Visit>
    void for_each_saved(NodeIndex node, Visit visit) const {
        const auto& first = index_.tables().saved.first;
        for (uint32_t s = first[node]; s < first[node + 1]; ++s) {
            visit(s);
        }
    }

private:
    const GraphIndex& index_;
    int64_t time_;
    std::vector<EventNumber> events_;  ///< of each device at the time
};

}  // namespace tidemark::gui
