// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Inputs of the allocator that no event shows.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/base/progress.h"
#include "storage/trace/trace.h"
#include "storage/whatif/what_if.h"

namespace tidemark {

struct HiddenInputs {
    /// The pool of each segment. Where the recording lacks it (PyTorch before 2.12), the allocator's behavior shows it:
    /// it called the driver although memory of another pool would have served.
    std::vector<uint32_t> pools;
    int inferred_pools = 0;     ///< numbers beyond Trace::pools
    uint64_t memory_limit = 0;  ///< the garbage collector's threshold is a fraction of it; 0: it never showed
};

/// As recorded, with nothing inferred.
HiddenInputs recorded_inputs(const DeviceHistory& device);

/// Whether there may be something to infer.
bool has_hidden_inputs(const Trace& trace, const DeviceHistory& device);

/// The inputs with which the model comes closest to the recording, and how close: replays until it is exact or nothing
/// can be inferred any more. One replay where everything was recorded.
struct Understanding {
    HiddenInputs inputs;
    ModelCheck check;
};
Understanding understand(const Trace& trace, const DeviceHistory& device, Progress& progress);

}  // namespace tidemark
