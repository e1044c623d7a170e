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
    Amount amount;
};

/// Returns whether driver calls were recorded on a device. NVML measurements without allocations do not count.
bool has_driver_calls(const Trace& trace, int device);

/// Returns one component per library that allocated, "PyTorch" for its memory outside the caching allocator, then
/// context and kernels. Their amounts are settled.
std::vector<DriverComponent> driver_components(const Trace& trace, int device);

}  // namespace tidemark
