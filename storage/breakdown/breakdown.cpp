// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/breakdown/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "storage/breakdown/allocator_components.h"
#include "storage/breakdown/device_samples.h"
#include "storage/breakdown/driver_components.h"

namespace tidemark {

namespace {

constexpr std::array<std::string_view, 11> words{"requested",       "rounding",        "waiting", "free_in_segments",
                                                 "cached_segments", "private_pools",   "library", "context",
                                                 "kernels",         "other_processes", "unknown"};

/// Returns the time of the first segment, in ns since trace start.
std::optional<int64_t> first_segment_time(const DeviceHistory& device) {
    if (device.segments.empty()) {
        return std::nullopt;
    }
    const EventNumber event = device.segments.front().alloc_event;
    return event == before_history ? device.time_of_state(0) : device.event_time[static_cast<size_t>(event)];
}

bool concerns(const DataGap& data_gap, const DeviceHistory& device) {
    return data_gap.device < 0 || data_gap.device == device.device;
}

}  // namespace

int64_t BreakdownRow::bytes_of(ComponentKind kind) const {
    int64_t bytes = 0;
    for (const Component& component : components) {
        bytes += component.kind == kind ? component.bytes : 0;
    }
    return bytes;
}

std::string_view component_word(ComponentKind kind) { return words[static_cast<size_t>(kind)]; }

struct Breakdown::Index {
    const DeviceHistory& device;
    AllocatorComponents allocator;
    DeviceSamples samples;
    std::vector<DriverComponent> driver;

    Index(const Trace& trace, const DeviceHistory& history)
        : device(history),
          allocator(trace, history),
          samples(trace, history.device),
          driver(driver_components(trace, history.device)) {
        const auto is_context = [](const DriverComponent& component) {
            return component.kind == ComponentKind::context;
        };
        if (std::none_of(driver.begin(), driver.end(), is_context)) {
            guess_context();
        }
    }

    BreakdownRow row(EventNumber event, int64_t time) const;

private:
    void guess_context();
    /// Returns all bytes that are known to belong to the recorded process.
    int64_t known(EventNumber event, int64_t time) const;
    int64_t known(int64_t time) const { return known(device.events_until(time), time); }
    void add_allocator(BreakdownRow& row) const;
    void add_driver(BreakdownRow& row) const;
    void add_rest(BreakdownRow& row) const;
};

/// Estimates the context, which was not measured: the process's memory in the first NVML sample minus all known memory.
/// It exists from the first segment on if that is earlier than the sample.
void Breakdown::Index::guess_context() {
    const DeviceSamples::Reading* first = samples.first_of_process();
    const int64_t bytes = first ? first->bytes - known(first->time) : 0;
    if (bytes <= 0) {
        return;
    }
    DriverComponent context;
    context.kind = ComponentKind::context;
    context.amount.change(std::min(first->time, first_segment_time(device).value_or(first->time)), bytes, 0);
    context.amount.settle();
    const auto kernels = std::find_if(driver.begin(), driver.end(), [](const DriverComponent& component) {
        return component.kind == ComponentKind::kernels;
    });
    driver.insert(kernels, std::move(context));
}

int64_t Breakdown::Index::known(EventNumber event, int64_t time) const {
    int64_t bytes = allocator.segments(event).reserved;
    for (const DriverComponent& component : driver) {
        bytes += component.amount.at(time).bytes;
    }
    return bytes;
}

BreakdownRow Breakdown::Index::row(EventNumber event, int64_t time) const {
    BreakdownRow row;
    row.event = event;
    row.time = time;
    row.device_total = device.total_bytes != 0 ? device.total_bytes : samples.total_bytes();
    add_allocator(row);
    add_driver(row);
    add_rest(row);
    std::erase_if(row.components, [](const Component& component) { return component.bytes == 0; });
    return row;
}

void Breakdown::Index::add_allocator(BreakdownRow& row) const {
    const BlockSums blocks = allocator.blocks(row.event);
    const SegmentSums segments = allocator.segments(row.event);
    const int64_t partial = segments.reserved - blocks.active() - segments.cached - segments.private_free;
    row.components = {{ComponentKind::requested, "", blocks.requested, blocks.blocks, 0},
                      {ComponentKind::rounding, "", blocks.rounding, 0, 0},
                      {ComponentKind::pending, "", blocks.pending, blocks.pending_blocks, 0},
                      {ComponentKind::free_in_segments, "", partial, segments.partial_segments, 0},
                      {ComponentKind::cached_segments, "", segments.cached, segments.cached_segments, 0},
                      {ComponentKind::private_pools, "", segments.private_free, segments.private_segments, 0}};
}

void Breakdown::Index::add_driver(BreakdownRow& row) const {
    for (const DriverComponent& component : driver) {
        const Amount::Value amount = component.amount.at(row.time);
        row.components.push_back({component.kind, component.name, amount.bytes,
                                  component.kind == ComponentKind::library ? amount.count : 0, 0});
    }
}

/// Between two samples, NVML's figures change by as much as the known memory, so the unknown part stays constant.
void Breakdown::Index::add_rest(BreakdownRow& row) const {
    const int64_t now = known(row.event, row.time);
    if (const auto* process = samples.process_at(row.time)) {
        row.process_used = process->bytes + now - known(process->time);
    }
    const auto* sample = samples.device_at(row.time);
    if (!sample) {
        return;
    }
    row.sample_time = sample->time;
    row.device_used = sample->bytes + now - known(sample->time);
    int64_t unknown = *row.device_used - now;
    samples.for_each_other(row.time, [&](int64_t pid, int64_t bytes) {
        row.components.push_back({ComponentKind::other_processes, fmt::format("process {}", pid), bytes, 0, pid});
        unknown -= bytes;
    });
    row.components.push_back({ComponentKind::unknown, "", unknown, 0, 0});
}

Breakdown::Breakdown(std::shared_ptr<const Analysis> analysis)
    : analysis_(std::move(analysis)), index_(std::make_shared<Index>(analysis_->trace(), analysis_->device())) {}

BreakdownRow Breakdown::at(EventNumber event) const {
    const DeviceHistory& device = analysis_->device();
    const EventNumber n = std::clamp(event, 0, device.event_count());
    return index_->row(n, device.time_of_state(n));
}

BreakdownRow Breakdown::at_time(int64_t time) const {
    return index_->row(analysis_->device().events_until(time), time);
}

std::vector<BreakdownRow> Breakdown::band(const std::vector<int64_t>& times) const {
    std::vector<BreakdownRow> rows;
    rows.reserve(times.size());
    std::transform(times.begin(), times.end(), std::back_inserter(rows),
                   [this](int64_t time) { return at_time(time); });
    return rows;
}

std::vector<BreakdownGap> breakdown_gaps(const Trace& trace, const DeviceHistory& device) {
    const DeviceSamples samples(trace, device.device);
    std::vector<BreakdownGap> gaps;
    if (samples.empty()) {
        gaps.push_back({BreakdownGapKind::no_samples, 0, {}});
    } else if (!device.event_time.empty() && samples.first_time() > device.event_time.front()) {
        gaps.push_back({BreakdownGapKind::samples_begin_late, samples.first_time(), {}});
    }
    if (!has_driver_calls(trace, device.device)) {
        gaps.push_back({samples.knows_process() ? BreakdownGapKind::libraries_in_context
                                                : BreakdownGapKind::libraries_not_recorded,
                        0,
                        {}});
    }
    if (!samples.empty() && !samples.knows_process()) {
        gaps.push_back(
            {samples.has_processes() ? BreakdownGapKind::process_not_listed : BreakdownGapKind::processes_not_listed,
             0,
             {}});
    }
    for (const DataGap& data_gap : trace.data_gaps) {
        if ((data_gap.kind == DataGapKind::not_recorded || data_gap.kind == DataGapKind::recorder_overrun) &&
            concerns(data_gap, device)) {
            gaps.push_back({BreakdownGapKind::data_gap, data_gap.time, data_gap});
        }
    }
    return gaps;
}

}  // namespace tidemark
