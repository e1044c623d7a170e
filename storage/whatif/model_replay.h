// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Replays a recording once in the allocator model with the recorded settings, and compares every event.
#pragma once

#include <optional>

#include "storage/whatif/hidden_inputs.h"

namespace tidemark {

struct ReplayResult {
    ModelCheck check;
    /// The event at which the model would not have called the driver: the new memory may belong to another pool.
    std::optional<EventNumber> unneeded_arrival_at;
    /// Segments that stayed although the model returned all unused memory: their pools may keep their memory.
    std::vector<uint32_t> kept_segments;
    /// The garbage collector did less than recorded, so its limit is lower; or more, so its limit is higher.
    bool limit_is_lower = false, limit_is_higher = false;
};

ReplayResult replay_in_model(const Trace& trace, const DeviceHistory& device, const HiddenInputs& inputs,
                             Progress& progress);

}  // namespace tidemark
