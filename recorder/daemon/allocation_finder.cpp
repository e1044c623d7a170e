// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/allocation_finder.h"

namespace tidemark::recorder {

std::optional<int64_t> AllocationFinder::find(uint8_t device, uint64_t address, uint64_t sequence,
                                              const MemoryTicket& ticket) {
    if (device == TIDEMARK_NO_DEVICE || address == 0) {
        return no_allocation_row;
    }
    DeviceTrack* track = track_(device);
    const auto found = track == nullptr ? no_allocation_row : track->ask({address, sequence, ticket});
    not_found_ += found == no_allocation_row;
    return found;
}

}  // namespace tidemark::recorder
