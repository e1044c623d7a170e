// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What was done again in steps that were not written, because they repeat an earlier one.
#pragma once

#include "storage/trace/trace.h"

namespace tidemark {

/// Allocations by age: [begin, end).
struct AllocationRange {
    AllocationIndex begin = 0, end = 0;
};

/// Returns the allocations of the step that `repeats` repeat: the others made the same.
AllocationRange repeated_allocations(const Trace& trace, const DeviceHistory& device, const RepeatedSteps& repeats);

}  // namespace tidemark
