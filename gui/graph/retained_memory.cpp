// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/retained_memory.h"

namespace tidemark::gui {

RetainedMemory::RetainedMemory(const GraphIndex& index, int64_t time) : index_(index), time_(time) {
    for (const DeviceHistory& device : index.trace().devices) {
        events_.push_back(device.events_until(time));
    }
}

bool RetainedMemory::retains(NodeIndex node) const { return holds_saved(index_.state(node, time_)); }

bool RetainedMemory::is_allocated(AllocationRef ref) const {
    if (!ref || ref.device >= events_.size()) {
        return false;
    }
    const Allocations& all = index_.trace().devices[ref.device].allocations;
    const EventNumber now = events_[ref.device];
    return ref.index < all.size() && all.alloc_event[ref.index] < now && now <= all.free_event[ref.index];
}

uint64_t RetainedMemory::bytes(AllocationRef ref) const {
    return ref ? index_.trace().devices[ref.device].allocations.block_size[ref.index] : 0;
}

}  // namespace tidemark::gui
