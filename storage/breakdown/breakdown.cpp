// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/breakdown/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "storage/breakdown/allocator_components.h"
#include "storage/breakdown/device_samples.h"
#include "storage/breakdown/driver_components.h"
#include "storage/breakdown/sample_fit.h"
#include "storage/replay/repeated_step.h"

namespace tidemark {

namespace {

constexpr std::array<std::string_view, 12> words{
    "requested",    "rounding", "waiting", "free_in_segments", "cached_segments", "private_pools",
    "driver_pools", "library",  "context", "kernels",          "other_processes", "unknown"};

/// Returns the time of the first segment, in ns since trace start.
std::optional<int64_t> first_segment_time(const DeviceHistory& device) {
    if (device.segments.empty()) {
        return std::nullopt;
    }
    const EventNumber event = device.segments.front().alloc_event;
    return event == before_history ? device.time_of_state(0) : device.event_time[static_cast<size_t>(event)];
}

int64_t time_of_event(const DeviceHistory& device, EventNumber event) {
    return event == before_history ? INT64_MIN : device.event_time[static_cast<size_t>(event)];
}

/// Returns the memory that is known by its allocation: segments of the caching allocator, and driver memory.
Amount certain_memory(const DeviceHistory& device, const std::vector<DriverComponent>& driver) {
    Amount certain;
    for (const Segment& segment : device.segments) {
        const auto bytes = static_cast<int64_t>(segment.size);
        certain.change(time_of_event(device, segment.alloc_event), bytes, 1);
        if (segment.free_event != never) {
            certain.change(time_of_event(device, segment.free_event), -bytes, -1);
        }
    }
    for (const DriverComponent& component : driver) {
        if (component.is_certain) {
            certain.add(component.amount);
        }
    }
    certain.settle();
    return certain;
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
    const EventSource event_source;
    AllocatorComponents allocator;
    DeviceSamples samples;
    std::vector<DriverComponent> driver;
    SampleFit fit;

    Index(const Trace& trace, const DeviceHistory& history)
        : device(history),
          event_source(trace.event_source),
          allocator(trace, history),
          samples(trace, history.device),
          driver(driver_components(trace, history.device)),
          fit(samples, certain_memory(history, driver), [this](int64_t time) { return estimated(time); }) {
        const auto is_context = [](const DriverComponent& component) {
            return component.kind == ComponentKind::context;
        };
        if (std::none_of(driver.begin(), driver.end(), is_context)) {
            guess_context();
        }
    }

    BreakdownRow row(const TimePoint& point, int64_t time) const;

private:
    /// Bytes of a row that the records do not name.
    struct Rest {
        int64_t overestimated = 0;  ///< by which estimates exceed what NVML shows
        int64_t own = 0;            ///< unexplained memory of the recorded process
        int64_t beside = 0;         ///< of other processes, and the unexplained
    };

    void guess_context();
    /// Returns the memory whose size is inferred.
    int64_t estimated(int64_t time) const { return sum_of(false, time); }
    int64_t sum_of(bool is_certain, int64_t time) const;
    Rest rest(const BreakdownRow& row, const FittedSample* sample, int64_t certain) const;
    void add_allocator(BreakdownRow& row, const TimePoint& point) const;
    void add_driver(BreakdownRow& row, int64_t overestimated) const;
    void add_beside(BreakdownRow& row, const FittedSample& fitted, const Rest& rest) const;
};

/// Estimates the context, which was not measured: what the process has beyond all known memory in the first NVML
/// sample. It exists from the first segment on if that is earlier than the sample.
void Breakdown::Index::guess_context() {
    const FittedSample* first = fit.first_of_process();
    const int64_t bytes = first != nullptr ? *first->own_rest - estimated(first->time) : 0;
    if (bytes <= 0) {
        return;
    }
    DriverComponent context;
    context.kind = ComponentKind::context;
    context.is_certain = false;
    context.amount.change(std::min(first->time, first_segment_time(device).value_or(first->time)), bytes, 0);
    context.amount.settle();
    const auto kernels = std::find_if(driver.begin(), driver.end(), [](const DriverComponent& component) {
        return component.kind == ComponentKind::kernels;
    });
    driver.insert(kernels, std::move(context));
}

int64_t Breakdown::Index::sum_of(bool is_certain, int64_t time) const {
    int64_t bytes = 0;
    for (const DriverComponent& component : driver) {
        bytes += component.is_certain == is_certain ? component.amount.at(time).bytes : 0;
    }
    return bytes;
}

BreakdownRow Breakdown::Index::row(const TimePoint& point, int64_t time) const {
    BreakdownRow row;
    row.event = point.event;
    row.repeated = point.repeated;
    row.time = time;
    row.device_total = std::max(device.total_bytes, samples.total_bytes());
    const FittedSample* sample = fit.nearest(time);
    const int64_t certain = allocator.segments(point).reserved + sum_of(true, time);
    const Rest beyond = rest(row, sample, certain);
    add_allocator(row, point);
    add_driver(row, beyond.overestimated);
    if (sample != nullptr) {
        add_beside(row, *sample, beyond);
    }
    std::erase_if(row.components, [](const Component& component) { return component.bytes == 0; });
    return row;
}

/// Between two samples, NVML's figures change by as much as the known memory. Together they never exceed the device:
/// other processes must have freed what this one has allocated since the sample.
Breakdown::Index::Rest Breakdown::Index::rest(const BreakdownRow& row, const FittedSample* sample,
                                              int64_t certain) const {
    Rest rest;
    const int64_t now = estimated(row.time);
    if (sample != nullptr) {
        const int64_t then = estimated(sample->time),
                      in_sample = std::min(then, sample->own_rest.value_or(sample->rest));
        rest.overestimated = std::min(now, then - in_sample);
        rest.own = sample->own_rest.value_or(in_sample) - in_sample;
        rest.beside = sample->rest - in_sample;
    }
    if (row.device_total > 0) {
        const int64_t room = std::max<int64_t>(row.device_total - certain, 0);
        rest.overestimated = std::max(rest.overestimated, now - room);
        rest.beside = std::min(rest.beside, room - (now - rest.overestimated));
        rest.own = std::min(rest.own, rest.beside);
    }
    return rest;
}

void Breakdown::Index::add_allocator(BreakdownRow& row, const TimePoint& point) const {
    const BlockSums blocks = allocator.blocks(point);
    const SegmentSums segments = allocator.segments(point);
    if (event_source == EventSource::driver) {
        row.components = {{ComponentKind::requested, std::string(driver_name), segments.reserved, blocks.blocks, 0}};
        return;
    }
    // Within a repeated step, blocks may lie in segments that were cached.
    const int64_t unused = segments.reserved - blocks.active() - segments.private_free;
    const int64_t cached = std::min(segments.cached, std::max<int64_t>(unused, 0));
    row.components = {
        {ComponentKind::requested, "", blocks.requested, blocks.blocks, 0},
        {ComponentKind::rounding, "", blocks.rounding, 0, 0},
        {ComponentKind::pending, "", blocks.pending, blocks.pending_blocks, 0},
        {ComponentKind::free_in_segments, "", std::max<int64_t>(unused, 0) - cached, segments.partial_segments, 0},
        {ComponentKind::cached_segments, "", cached, segments.cached_segments, 0},
        {ComponentKind::private_pools, "", segments.private_free, segments.private_segments, 0}};
}

/// Estimates that exceed what NVML shows become smaller: managed memory first, the context last.
void Breakdown::Index::add_driver(BreakdownRow& row, int64_t overestimated) const {
    const size_t first = row.components.size();
    for (const DriverComponent& component : driver) {
        const Amount::Value amount = component.amount.at(row.time);
        row.components.push_back({component.kind, component.name, amount.bytes,
                                  component.kind == ComponentKind::library ? amount.count : 0, 0});
    }
    for (const ComponentKind kind : {ComponentKind::library, ComponentKind::kernels, ComponentKind::context}) {
        for (size_t i = 0; i < driver.size(); ++i) {
            if (!driver[i].is_certain && driver[i].kind == kind) {
                int64_t& bytes = row.components[first + i].bytes;
                const int64_t less = std::min(bytes, overestimated);
                bytes -= less;
                overestimated -= less;
            }
        }
    }
    for (size_t i = row.components.size() - 1; i > first; --i) {  // managed and other memory of a library are adjacent
        Component &component = row.components[i], &before = row.components[i - 1];
        if (component.kind == before.kind && component.name == before.name) {
            before.bytes += component.bytes;
            before.count += component.count;
            component.bytes = 0;
        }
    }
}

void Breakdown::Index::add_beside(BreakdownRow& row, const FittedSample& fitted, const Rest& rest) const {
    int64_t own = rest.own;
    for (const Component& component : row.components) {
        own += component.bytes;
    }
    row.sample_time = fitted.time;
    row.device_used = own - rest.own + rest.beside;
    if (fitted.own_rest) {
        row.process_used = own;
    }
    const std::vector<DeviceSample::Process>& others = fitted.sample->others;
    const int64_t room = rest.beside - rest.own, wanted = fitted.sample->others_bytes();
    if (wanted > room && others.size() > 1) {
        row.components.push_back({ComponentKind::other_processes, "", room, static_cast<int64_t>(others.size()), 0});
    } else {
        for (const auto& [pid, bytes, count] : others) {
            row.components.push_back({ComponentKind::other_processes, pid == 0 ? "" : fmt::format("process {}", pid),
                                      std::min(bytes, room), pid == 0 ? count : 0, pid});
        }
    }
    row.components.push_back({ComponentKind::unknown, "", rest.beside - std::min(wanted, room), 0, 0});
}

Breakdown::Breakdown(std::shared_ptr<const Analysis> analysis)
    : analysis_(std::move(analysis)), index_(std::make_shared<Index>(analysis_->trace(), analysis_->device())) {}

BreakdownRow Breakdown::at(const TimePoint& point) const {
    const DeviceHistory& device = analysis_->device();
    TimePoint clamped = point;
    clamped.event = std::clamp(point.event, 0, device.event_count());
    return index_->row(clamped, time_of(device, clamped));
}

BreakdownRow Breakdown::at_time(int64_t time) const {
    return index_->row(time_point_at(analysis_->trace(), analysis_->device(), time), time);
}

std::vector<BreakdownRow> Breakdown::band(const std::vector<int64_t>& times) const {
    std::vector<BreakdownRow> rows;
    rows.reserve(times.size());
    std::transform(times.begin(), times.end(), std::back_inserter(rows),
                   [this](int64_t time) { return at_time(time); });
    return rows;
}

bool Breakdown::lists_process() const { return index_->samples.knows_process(); }

std::vector<BreakdownGap> Breakdown::gaps() const {
    const Trace& trace = analysis_->trace();
    const DeviceHistory& device = analysis_->device();
    const DeviceSamples& samples = index_->samples;
    std::vector<BreakdownGap> gaps;
    if (samples.empty()) {
        gaps.push_back({BreakdownGapKind::no_samples, 0, {}});
    } else if (!device.event_time.empty() && index_->fit.nearest(device.event_time.front()) == nullptr) {
        gaps.push_back({BreakdownGapKind::samples_begin_late, samples.all().front().time, {}});
    }
    if (index_->fit.contradictions() > 0) {
        gaps.push_back({BreakdownGapKind::samples_contradict_calls, 0, {}, index_->fit.contradictions()});
    }
    if (samples.contradictions() > 0) {
        gaps.push_back({BreakdownGapKind::processes_exceed_device, 0, {}, samples.contradictions()});
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
