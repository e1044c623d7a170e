// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One replay of a recording in the allocator model with the recorded settings, compared event by event.
#pragma once

#include <optional>

#include "storage/whatif/hidden_inputs.h"

namespace tidemark {

struct ReplayResult {
    ModelCheck check;
    /// Where the model would not have called the driver: the memory that arrived may be of another pool.
    std::optional<EventNumber> foreign_memory_at;
    /// Segments that stayed where the model returned everything unused: they may be of pools that keep theirs.
    std::vector<uint32_t> kept_segments;
    /// The garbage collector did less than recorded: its limit is lower. Or more: higher.
    bool limit_is_lower = false, limit_is_higher = false;
};

ReplayResult replay_in_model(const Trace& trace, const DeviceHistory& device, const HiddenInputs& inputs,
                             Progress& progress);

}  // namespace tidemark
