// What decides how the allocator behaved but no event tells.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/base/progress.h"
#include "storage/trace/trace.h"
#include "storage/whatif/what_if.h"

namespace tidemark {

struct HiddenInputs {
    /// The pool of each segment. Where the recording does not tell (PyTorch before 2.12), pools are told apart by what
    /// the allocator did: it asked the driver although memory of another pool would have served.
    std::vector<uint32_t> pools;
    int inferred_pools = 0;     ///< numbers beyond Trace::pools
    uint64_t memory_limit = 0;  ///< that the garbage collector's threshold is a part of; 0: it never showed
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
