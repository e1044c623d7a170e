// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/repeated_work.h"

#include <algorithm>

namespace tidemark {

AllocationRange repeated_allocations(const Trace& trace, const DeviceHistory& device, const RepeatedSteps& repeats) {
    if (!repeats.like) {
        return {};
    }
    const auto step =
        std::find_if(trace.steps.begin(), trace.steps.end(), [&](const Step& one) { return one.end == repeats.like; });
    if (step == trace.steps.end()) {
        return {};
    }
    const auto& made = device.allocations.alloc_event;
    const auto position = [&](int64_t time) {
        const auto found = std::lower_bound(made.begin(), made.end(), device.events_until(time));
        return static_cast<AllocationIndex>(found - made.begin());
    };
    return {position(step->start), position(*repeats.like)};
}

}  // namespace tidemark
