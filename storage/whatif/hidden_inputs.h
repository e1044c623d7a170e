// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Inputs of the allocator that events do not contain.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/base/progress.h"
#include "storage/trace/trace.h"
#include "storage/whatif/what_if.h"

namespace tidemark {

struct HiddenInputs {
    /// The pool of each segment. If the recording lacks it (PyTorch before 2.12), it follows from the allocator's
    /// behavior: the allocator called the driver although memory of another pool was large enough.
    std::vector<uint32_t> pools;
    int inferred_pools = 0;     ///< number of pools in addition to Trace::pools
    uint64_t memory_limit = 0;  ///< the garbage collector's threshold is a fraction of it; 0: unknown
};

/// Returns the recorded inputs, without inferred ones.
HiddenInputs recorded_inputs(const DeviceHistory& device);

/// Returns whether inputs may be missing.
bool has_hidden_inputs(const Trace& trace, const DeviceHistory& device);

/// The inputs with which the model comes closest to the recording, and the remaining difference. Found by replays until
/// the model is exact or nothing more can be inferred; one replay if all inputs were recorded.
struct InferredInputs {
    HiddenInputs inputs;
    ModelCheck check;
};
InferredInputs infer_inputs(const Trace& trace, const DeviceHistory& device, Progress& progress);

}  // namespace tidemark
