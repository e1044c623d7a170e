// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The part of a run that plots over time show: programs import libraries and wait before they use GPU memory.
#pragma once

#include <cstdint>

#include "storage/timeline/curves.h"
#include "storage/trace/trace.h"

namespace tidemark {

struct ShownTime {
    int64_t start = 0, end = 1;  ///< ns since trace start
    bool is_part = false;        ///< not the whole run
};

/// Returns the run from shortly before the first use of the device's memory until `end`, or until the last event.
ShownTime used_time(const Trace& trace, const DeviceHistory& device, int64_t end);

/// Returns the part of that in which nearly all events lie, if it is short. What it leaves out before is too little
/// memory to be seen beside the peak, or few events. It contains the peak and the last error of the allocator; memory
/// outside the allocator does not change after it.
ShownTime busy_time(const Trace& trace, const DeviceHistory& device, const Curves& curves, int64_t end);

}  // namespace tidemark
