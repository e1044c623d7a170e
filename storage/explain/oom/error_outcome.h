// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Whether an out-of-memory error ended the run, or the program caught it and went on.
#pragma once

#include <vector>

#include "storage/explain/iterations.h"

namespace tidemark {

struct OomErrors {
    const OtherEvent* last = nullptr;       ///< the error after which the work did not go on; nullptr: there was none
    std::vector<const OtherEvent*> caught;  ///< by time; empty if there is a `last`
};
/// Finds the errors before the state `until` that no retry of the allocator resolved. Refused workspaces of
/// convolutions, which cuDNN does without, are not among the caught ones.
OomErrors find_oom_errors(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                          const Iterations& iterations, EventNumber until);

/// Returns the number of iterations that began after the event.
size_t iterations_after(const Iterations& iterations, EventNumber event);

/// Returns whether the request was for the workspace of a convolution.
bool is_workspace_request(const Trace& trace, const OtherEvent& oom);

}  // namespace tidemark
