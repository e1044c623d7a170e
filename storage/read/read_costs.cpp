// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/read_costs.h"

#include "storage/read/row_source.h"
#include "storage/read/trace_connection.h"
#include "storage/trace/limits.h"

namespace tidemark {

namespace {

constexpr int first_version_with_costs = 6;

bool can_be_true(const RecordingCost& cost) {
    return is_time(cost.start) && is_time(cost.end) && cost.start <= cost.end && cost.count >= 0 &&
           cost.duration >= 0 && cost.duration <= cost.end - cost.start && cost.longest >= 0 &&
           cost.longest <= cost.end - cost.start;
}

}  // namespace

Result<std::vector<RecordingCost>> read_recording_costs(const Trace& trace, Progress& progress) {
    std::vector<RecordingCost> costs;
    if (trace.format_version < first_version_with_costs) {
        return costs;
    }
    auto connection = connect_to(trace, progress);
    if (!connection) {
        return connection.error();
    }
    RowSource source(*connection, trace.path, progress);
    TIDEMARK_TRY(source.each(
        "SELECT kind, thread, start_time, end_time, count, duration, longest FROM recording_cost ORDER BY id",
        [&](Statement& row) {
            const RecordingCost cost{fact_from_word<CostKind>(row.text(0)),
                                     row.integer(1),
                                     row.integer(2),
                                     row.integer(3),
                                     row.integer(4),
                                     row.integer(5),
                                     row.integer(6)};
            if (can_be_true(cost)) {
                costs.push_back(cost);
            }
            return true;
        }));
    return costs;
}

}  // namespace tidemark
