// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/tables/table_points.h"

#include "storage/timeline/time_point.h"

namespace tidemark {

TimePoint point_of(const AnalysisContext& context, const char* name) {
    return *find_time_point(context.trace(), context.device(), context.curves(), name);
}

std::vector<ActiveAllocation> active_at(const AnalysisContext& context, const TimePoint& point) {
    return active_allocations(context.device(), context.analysis().live(), point);
}

std::optional<Category> category_of(const AnalysisContext& context, const ActiveAllocation& active) {
    if (context.graph() == nullptr) {
        return std::nullopt;
    }
    return context.graph()->categories.at({context.device_position(), active.allocation},
                                          context.device().time_until(active.state, context.trace().duration));
}

}  // namespace tidemark
