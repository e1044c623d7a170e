// Memory of the recorded process that the driver gave past the allocator: libraries, kernels, the context.
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

/// Whether somebody told of driver calls on a device (what NVML showed at quiet moments does not count).
bool has_driver_calls(const Trace& trace, int device);

/// One layer per library that asked ("PyTorch beside its allocator" is one of them), then context and kernels. Settled.
std::vector<DriverComponent> driver_components(const Trace& trace, int device);

}  // namespace tidemark
