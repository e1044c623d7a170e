// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <filesystem>

#include "storage/allocator/rules.h"
#include "storage/replay/repeated_step.h"
#include "storage/tables/table_points.h"
#include "storage/tables/tables.h"
#include "storage/timeline/time_point.h"

namespace tidemark {
namespace {

/// The one row of a device.
struct RunRow {
    explicit RunRow(const Explained& of)
        : explained(of),
          context(*of.context),
          trace(context.trace()),
          device(context.device()),
          process(trace.processes.empty() ? nullptr : &trace.processes.front()),
          place(process != nullptr ? process->place : JobPlace()),
          peak(point_of(context, "peak")),
          end(point_of(context, "end")) {}

    int64_t highest(Series series) const { return context.curves().peak(series).max; }
    int64_t at_end(Series series) const { return context.curves().value(series, end); }
    std::optional<int64_t> pid() const { return process != nullptr ? std::optional(process->pid) : std::nullopt; }
    /// Returns the number of gaps of the device and of the whole trace.
    int64_t data_gaps() const {
        return std::count_if(trace.data_gaps.begin(), trace.data_gaps.end(),
                             [&](const DataGap& gap) { return gap.device < 0 || gap.device == device.device; });
    }
    std::optional<int64_t> limit() const;
    std::optional<int64_t> highest_sample(std::optional<int64_t> of_pid) const;

    const Explained& explained;
    const AnalysisContext& context;
    const Trace& trace;
    const DeviceHistory& device;
    const Process* process;  ///< nullptr: not recorded
    JobPlace place;
    TimePoint peak, end;
};

/// Returns the bytes that the process may reserve: those of the device, or the part that the program set.
std::optional<int64_t> RunRow::limit() const {
    const double fraction = AllocatorSettings::from_text(trace.settings).memory_fraction;
    const int64_t total = device.total_bytes;
    if (total == 0) {
        return std::nullopt;
    }
    return fraction > 0 ? static_cast<int64_t>(fraction * static_cast<double>(total)) : total;
}

/// Returns the most bytes that NVML reported for the device, or for a process on it.
std::optional<int64_t> RunRow::highest_sample(std::optional<int64_t> of_pid) const {
    std::optional<int64_t> highest;
    for (const Sample& sample : trace.samples) {
        if (sample.device == device.device && sample.pid == of_pid) {
            highest = std::max(highest.value_or(0), sample.used_bytes);
        }
    }
    return highest;
}

std::optional<int64_t> known(int64_t value) { return value == 0 ? std::nullopt : std::optional(value); }

using enum ColumnType;

constexpr ColumnOf<RunRow> run_columns[] = {
    {"device", int32, [](Column& c, const RunRow& r) { c.number(r.device.device); }},
    {"device_name", text, [](Column& c, const RunRow& r) { c.text(r.device.name); }},
    {"device_uuid", text, [](Column& c, const RunRow& r) { c.text(r.device.uuid); }},
    {"trace", text,
     [](Column& c, const RunRow& r) { c.text(std::filesystem::absolute(r.trace.path).lexically_normal().string()); }},
    {"process_id", int64, [](Column& c, const RunRow& r) { c.number(r.pid()); }},
    {"rank", int64, [](Column& c, const RunRow& r) { c.number(r.place.rank); }},
    {"world_size", int64, [](Column& c, const RunRow& r) { c.number(r.place.world_size); }},
    {"node", text, [](Column& c, const RunRow& r) { c.text(r.place.node); }},
    {"role", text, [](Column& c, const RunRow& r) { c.text(r.place.role); }},
    {"start", utc_time, [](Column& c, const RunRow& r) { c.number(known(r.trace.start_utc_ns)); }},
    {"duration_ns", int64, [](Column& c, const RunRow& r) { c.number(r.trace.duration); }},
    {"steps", int64, [](Column& c, const RunRow& r) { c.number(static_cast<int64_t>(r.trace.steps.size())); }},
    {"events", int64, [](Column& c, const RunRow& r) { c.number(r.device.event_count()); }},
    {"allocations", int64, [](Column& c, const RunRow& r) { c.number(r.device.allocations.size()); }},
    {"device_total_bytes", int64, [](Column& c, const RunRow& r) { c.number(known(r.device.total_bytes)); }},
    {"limit_bytes", int64, [](Column& c, const RunRow& r) { c.number(r.limit()); }},
    {"peak_allocated_bytes", int64, [](Column& c, const RunRow& r) { c.number(r.highest(Series::allocated)); }},
    {"peak_active_bytes", int64, [](Column& c, const RunRow& r) { c.number(r.highest(Series::active)); }},
    {"peak_reserved_bytes", int64, [](Column& c, const RunRow& r) { c.number(r.highest(Series::reserved)); }},
    {"peak_device_used_bytes", int64, [](Column& c, const RunRow& r) { c.number(r.highest_sample(std::nullopt)); }},
    {"peak_process_used_bytes", int64,
     [](Column& c, const RunRow& r) {
         const auto pid = r.pid();
         c.number(pid ? r.highest_sample(r.trace.nvml_pid.value_or(*pid)) : std::nullopt);
     }},
    {"peak_time_ns", int64, [](Column& c, const RunRow& r) { c.number(time_of(r.device, r.peak)); }},
    {"end_allocated_bytes", int64, [](Column& c, const RunRow& r) { c.number(r.at_end(Series::allocated)); }},
    {"end_active_bytes", int64, [](Column& c, const RunRow& r) { c.number(r.at_end(Series::active)); }},
    {"end_reserved_bytes", int64, [](Column& c, const RunRow& r) { c.number(r.at_end(Series::reserved)); }},
    {"trend", text, [](Column& c, const RunRow& r) { c.text(run_trend_word(r.explained.explanation.run_trend)); }},
    {"out_of_memory", flag, [](Column& c, const RunRow& r) { c.flag(r.context.out_of_memory() != nullptr); }},
    {"how_ended", text,
     [](Column& c, const RunRow& r) { c.text(r.process != nullptr ? word_of(r.process->how_ended) : ""); }},
    {"exit_status", int64,
     [](Column& c, const RunRow& r) { c.number(r.process != nullptr ? r.process->exit_status : std::nullopt); }},
    {"clean_end", flag, [](Column& c, const RunRow& r) { c.flag(r.trace.clean_end); }},
    {"data_gaps", int64, [](Column& c, const RunRow& r) { c.number(r.data_gaps()); }},
    {"writer", text, [](Column& c, const RunRow& r) { c.text(r.trace.writer); }},
};

}  // namespace

const TableInfo& runs_table() {
    static const TableInfo info = table_info("runs", run_columns);
    return info;
}

Status write_runs(const Explained& device, const TakeBatch& take) {
    TableRows<RunRow> rows(runs_table(), run_columns, take);
    TIDEMARK_TRY(rows.add(RunRow(device)));
    return rows.finish();
}

}  // namespace tidemark
