// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/stretch.h"

#include <algorithm>

namespace tidemark {

Stretch stretch_of(const AnalysisContext& context) {
    constexpr int64_t short_part = 3, margin = 8;
    const std::vector<int64_t>& times = context.device().event_time;
    if (times.empty()) {
        return {0, std::max<int64_t>(1, context.trace().duration)};
    }
    const int64_t first = times.front(), end = std::max(context.trace().duration, first + 1);
    const int64_t busy = times[times.size() / 50], quiet = times[times.size() - 1 - times.size() / 50];
    const int64_t room = (quiet - busy) / margin + 1;
    if ((quiet - busy) * short_part < end - first) {
        return {std::max(first, busy - room), std::min(end, quiet + room), true};
    }
    return {std::max<int64_t>(0, first - (end - first) / 50), end};
}

}  // namespace tidemark
