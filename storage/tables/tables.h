// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The tables of a trace: one definition for `tidemark export` and the Python package. docs/FLEET.md and docs/PYTHON.md
// describe their columns. The numbers are those of the other commands. Each function passes on the rows of one device
// and returns the error of `take`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "storage/attribution/attribution.h"
#include "storage/compare/compare.h"
#include "storage/explain/explained_devices.h"
#include "storage/tables/table.h"

namespace tidemark {

/// One row: the device as it was recorded.
const TableInfo& runs_table();
Status write_runs(const Explained& device, const TakeBatch& take);

/// The lines that allocate, with their bytes at the peak, at the end and in total.
const TableInfo& sites_table();
Status write_sites(const AnalysisContext& context, const TakeBatch& take);

/// Training steps, or otherwise iterations.
const TableInfo& steps_table();
Status write_steps(const AnalysisContext& context, const TakeBatch& take);

const TableInfo& findings_table();
Status write_findings(const Explained& device, const TakeBatch& take);

/// The components of memory at each of the points in time. Their names are those of find_time_point().
struct NamedPoint {
    std::string name;
    TimePoint point;
};
const TableInfo& breakdown_table();
Status write_breakdown(const AnalysisContext& context, std::span<const NamedPoint> points, const TakeBatch& take);
/// Returns the peak and the end, which every trace has.
std::vector<NamedPoint> peak_and_end(const AnalysisContext& context);

enum class ExportedAllocations : uint8_t {
    alive,  ///< active at the peak or at the end
    all,
};
const TableInfo& allocations_table();
Status write_allocations(const AnalysisContext& context, ExportedAllocations which, const TakeBatch& take);

/// The allocations that are active at a point in time.
const TableInfo& active_table();
Status write_active(const AnalysisContext& context, const TimePoint& point, const TakeBatch& take);

/// The events that the trace has, with the counters after each.
const TableInfo& events_table();
Status write_events(const AnalysisContext& context, const TakeBatch& take);

/// What is active at a point in time, in groups.
const TableInfo& groups_table();
Status write_groups(const AnalysisContext& context, const TimePoint& point, GroupBy by, const GroupOptions& options,
                    const TakeBatch& take);

/// The difference between two states.
const TableInfo& changes_table();
Status write_changes(const Comparison& comparison, const TakeBatch& take);

/// Returns the tables of a dataset of many runs, which write_dataset() passes on.
std::span<const TableInfo* const> dataset_tables();
Status write_dataset(const Explained& device, ExportedAllocations allocations, const TakeBatch& take);

}  // namespace tidemark
