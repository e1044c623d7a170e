// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/replay/time_point.h"

#include <algorithm>

namespace tidemark {

bool has_times(const Trace& trace, const DeviceHistory& device) {
    return std::none_of(trace.data_gaps.begin(), trace.data_gaps.end(), [&](const DataGap& gap) {
        return gap.reason == DataGapReason::no_times && gap.device == device.device;
    });
}

}  // namespace tidemark
