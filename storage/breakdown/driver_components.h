// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Driver memory of the recorded process outside the caching allocator: libraries, kernels, the context.
#pragma once

#include <string>
#include <vector>

#include "storage/breakdown/amount.h"
#include "storage/breakdown/breakdown.h"

namespace tidemark {

struct DriverComponent {
    ComponentKind kind = ComponentKind::library;
    std::string name;
    /// Every byte was allocated in device memory. Otherwise the amount is a limit: context and kernels are inferred
    /// from NVML, and managed memory may be in the host's memory.
    bool is_certain = true;
    Amount amount;
};

/// Returns whether driver calls were recorded on a device. NVML measurements without allocations do not count.
bool has_driver_calls(const Trace& trace, int device);

/// Returns one component per library that allocated, "PyTorch" for its memory outside the caching allocator (two if it
/// has managed memory, too), then context and kernels. Their amounts are settled.
std::vector<DriverComponent> driver_components(const Trace& trace, int device);

}  // namespace tidemark
