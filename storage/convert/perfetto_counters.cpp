// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>

#include "storage/convert/perfetto_parts.h"
#include "storage/text/fact_words.h"
#include "storage/timeline/columns.h"

namespace tidemark::perfetto {
namespace {

/// Of more states, each range of them has its highest and its last value.
constexpr EventNumber most_states = 100'000;
constexpr int breakdown_points = 2000;

/// A counter that writes only changes.
class Counter {
public:
    Counter(const DeviceTimeline& timeline, std::string name) : timeline_(timeline), name_(std::move(name)) {}

    void set(int64_t time, int64_t bytes) {
        if (bytes != last_) {
            timeline_.events.bytes(timeline_.process, name_, timeline_.at(time), bytes);
            last_ = bytes;
        }
    }

private:
    const DeviceTimeline& timeline_;
    const std::string name_;
    int64_t last_ = -1;
};

/// Writes a series of the states in [first, last].
void write_range(Counter& counter, const DeviceTimeline& timeline, Series series, EventNumber first, EventNumber last) {
    const Curves& curves = timeline.context().curves();
    const Extremes highest = curves.extremes_of_states(first, last)[static_cast<size_t>(series)];
    counter.set(timeline.history().time_of_state(highest.max_event), highest.max_of_states);
    counter.set(timeline.history().time_of_state(last), curves.value(series, last));
}

void write_series(const DeviceTimeline& timeline, Series series, const std::string& name) {
    Counter counter(timeline, name);
    const DeviceHistory& device = timeline.history();
    const EventNumber step = std::max(1, device.event_count() / most_states);
    auto repeat = device.repeats.begin();
    for (EventNumber first = 0; first <= device.event_count(); first += step) {
        const EventNumber last = std::min(first + step - 1, device.event_count());
        for (; repeat != device.repeats.end() && repeat->event < first; ++repeat) {
            if (series == Series::allocated) {
                counter.set(repeat->start, repeat->peak_allocated);
                counter.set(repeat->end, timeline.context().curves().value(series, repeat->after));
            }
        }
        write_range(counter, timeline, series, first, last);
    }
}

/// Components of one row that have one name are one counter.
std::map<std::string, int64_t> bytes_by_name(const DeviceTimeline& timeline, const BreakdownRow& row) {
    std::map<std::string, int64_t> bytes;
    for (const Component& component : row.components) {
        bytes[component_name(timeline.words, component)] += component.bytes;
    }
    return bytes;
}

void write_breakdown(const DeviceTimeline& timeline) {
    std::map<std::string, Counter> counters;
    Counter used(timeline, timeline.words("In use as nvidia-smi shows it"));
    const auto columns =
        make_columns(timeline.trace(), timeline.history(), timeline.context().curves(), TimeAxis::wall_clock, 0,
                     static_cast<double>(timeline.trace().duration), breakdown_points);
    for (const Column& column : columns) {
        const BreakdownRow row = timeline.context().breakdown().at(column.time_point);
        auto bytes = bytes_by_name(timeline, row);
        for (auto& [name, counter] : counters) {
            bytes.try_emplace(name, 0);
        }
        for (const auto& [name, value] : bytes) {
            auto counter = counters.find(name);
            if (counter == counters.end()) {
                const std::string title = timeline.words("Breakdown: {component}", with("component", name));
                counter = counters.try_emplace(name, timeline, title).first;
            }
            counter->second.set(row.time, value);
        }
        if (row.device_used) {
            used.set(row.time, *row.device_used);
        }
    }
}

}  // namespace

void write_counters(const DeviceTimeline& timeline) {
    write_series(timeline, Series::allocated, timeline.words("Allocated"));
    write_series(timeline, Series::reserved, timeline.words("Reserved"));
    write_breakdown(timeline);
}

}  // namespace tidemark::perfetto
