// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The program's main loop. In a loop, execution returns to an earlier line of one function, which the Python stacks of
// consecutive allocations show. The layers of a model, the gradients of a backward pass and the states of an optimizer
// come from loops, too, but these run within one call of the library and make up one iteration.
#pragma once

#include <optional>
#include <vector>

#include "storage/timeline/curves.h"
#include "storage/trace/trace.h"

namespace tidemark {

struct Loop {
    FrameId first = 0, last = 0;          ///< the first and the last line of the body that allocates; of one function
    std::vector<EventNumber> iterations;  ///< the first allocation of each iteration
    std::optional<EventNumber> end;       ///< of the last iteration, if it is known
};

/// Returns the main loop between two states: its iterations cover most of the events, regularly, and each uses as much
/// memory as an iteration of any loop. Iterations that repeat exactly need no jump in the code. Returns nothing if no
/// loop has three iterations. Visits the allocations a few times. `curves`: of the device.
std::optional<Loop> find_main_loop(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                                   EventNumber from, EventNumber to);

}  // namespace tidemark
