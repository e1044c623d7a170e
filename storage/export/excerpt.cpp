// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/excerpt.h"

#include <algorithm>
#include <memory>

#include "storage/breakdown/breakdown.h"
#include "storage/breakdown/device_samples.h"
#include "storage/export/graph_excerpt.h"

namespace tidemark {
namespace {

constexpr uint32_t dropped = UINT32_MAX;
constexpr uint32_t refers_to_nothing = 0x0fffffff;  // the index that EventRef stores for "no index"

/// Maps old indexes to new indexes; `dropped` if the item is not copied.
using Places = std::vector<uint32_t>;

uint32_t place_of(const Places& places, uint32_t index, uint32_t otherwise) {
    return index >= places.size() || places[index] == dropped ? otherwise : places[index];
}

EventNumber renumber(EventNumber event, Stretch::Range range) {
    if (event == never || event >= range.last) {
        return never;
    }
    return event < range.first ? before_history : event - range.first;
}

/// Assigns new indexes to the items that exist at the start of the range or begin in it.
Places places_of(const std::vector<EventNumber>& begins, const std::vector<EventNumber>& ends, Stretch::Range range) {
    Places places(begins.size(), dropped);
    uint32_t copied = 0;
    for (size_t i = 0; i < begins.size(); ++i) {
        if (begins[i] < range.last && ends[i] >= range.first) {
            places[i] = copied++;
        }
    }
    return places;
}

template <class T, class Change>
std::vector<T> copy_items(const std::vector<T>& column, const Places& places, Change&& change) {
    std::vector<T> copied;
    for (size_t i = 0; i < column.size(); ++i) {
        if (places[i] != dropped) {
            copied.push_back(change(column[i]));
        }
    }
    return copied;
}

template <class T>
std::vector<T> copy_items(const std::vector<T>& column, const Places& places) {
    return copy_items(column, places, [](const T& value) { return value; });
}

Allocations cut_allocations(const Allocations& from, const Places& places, const Places& segments,
                            Stretch::Range range) {
    const auto number = [range](EventNumber event) { return renumber(event, range); };
    Allocations to;
    to.alloc_event = copy_items(from.alloc_event, places, number);
    to.free_event = copy_items(from.free_event, places, number);
    to.free_completed = copy_items(from.free_completed, places, number);
    to.address = copy_items(from.address, places);
    to.requested = copy_items(from.requested, places);
    to.block_size = copy_items(from.block_size, places);
    to.stack = copy_items(from.stack, places);
    to.free_stack = copy_items(from.free_stack, places);
    to.segment = copy_items(from.segment, places, [&](uint32_t s) { return place_of(segments, s, no_segment); });
    to.origin = copy_items(from.origin, places);
    for (size_t i = 0; i < to.free_event.size(); ++i) {
        if (to.free_event[i] == never) {
            to.free_stack[i] = 0;
        }
    }
    return to;
}

Places places_of_segments(const std::vector<Segment>& segments, Stretch::Range range) {
    std::vector<EventNumber> begins;
    std::vector<EventNumber> ends;
    for (const Segment& segment : segments) {
        begins.push_back(segment.alloc_event);
        ends.push_back(segment.free_event);
    }
    return places_of(begins, ends, range);
}

Places places_of_others(const std::vector<OtherEvent>& others, Stretch::Range range) {
    Places places(others.size(), dropped);
    uint32_t copied = 0;
    for (size_t i = 0; i < others.size(); ++i) {
        if (others[i].event >= range.first && others[i].event < range.last) {
            places[i] = copied++;
        }
    }
    return places;
}

EventRef moved(EventRef ref, const Places& allocations, const Places& segments, const Places& others) {
    switch (ref.action()) {
        case Action::alloc:
        case Action::free_requested:
        case Action::free_completed: return {ref.action(), place_of(allocations, ref.index(), refers_to_nothing)};
        case Action::segment_alloc:
        case Action::segment_free:
        case Action::segment_map:
        case Action::segment_unmap: return {ref.action(), place_of(segments, ref.index(), refers_to_nothing)};
        default: return {ref.action(), place_of(others, ref.index(), refers_to_nothing)};
    }
}

/// Copies the repeated steps within the range. Their counters count from the begin of the whole trace.
std::vector<RepeatedSteps> cut_repeats(const std::vector<RepeatedSteps>& repeats, Stretch::Range range, int64_t start) {
    std::vector<RepeatedSteps> copied;
    for (RepeatedSteps steps : repeats) {
        if (steps.event >= range.first && steps.after <= range.last && steps.start >= start) {
            steps.event -= range.first;
            steps.after -= range.first;
            steps.start -= start;
            steps.end -= start;
            if (steps.like) {
                *steps.like -= start;
            }
            steps.counters.clear();
            copied.push_back(std::move(steps));
        }
    }
    return copied;
}

DeviceHistory cut_device(const DeviceHistory& from, const Places& allocations, Stretch::Range range, int64_t start) {
    const Places segments = places_of_segments(from.segments, range);
    const Places others = places_of_others(from.others, range);
    DeviceHistory to;
    to.device = from.device;
    to.name = from.name;
    to.total_bytes = from.total_bytes;
    to.truncated = from.truncated;
    to.allocations = cut_allocations(from.allocations, allocations, segments, range);
    to.segments = copy_items(from.segments, segments, [range](Segment segment) {
        segment.alloc_event = renumber(segment.alloc_event, range);
        segment.free_event = renumber(segment.free_event, range);
        segment.free_stack = segment.free_event == never ? 0 : segment.free_stack;
        return segment;
    });
    to.others = copy_items(from.others, others, [range](OtherEvent other) {
        other.event -= range.first;
        return other;
    });
    to.repeats = cut_repeats(from.repeats, range, start);
    for (EventNumber n = range.first; n < range.last; ++n) {
        const auto event = static_cast<size_t>(n);
        to.event_time.push_back(std::max<int64_t>(0, from.event_time[event] - start));
        to.event_ref.push_back(moved(from.event_ref[event], allocations, segments, others));
    }
    return to;
}

std::vector<Annotation> cut_annotations(const std::vector<Annotation>& annotations, const Stretch& stretch) {
    std::vector<Annotation> copied;
    for (Annotation annotation : annotations) {
        const int64_t end = annotation.closed ? annotation.end : stretch.end;
        if (annotation.start > stretch.end || end < stretch.start) {
            continue;
        }
        annotation.closed = annotation.closed && annotation.end <= stretch.end;
        annotation.start = std::max(annotation.start, stretch.start) - stretch.start;
        annotation.end = std::min(end, stretch.end) - stretch.start;
        copied.push_back(std::move(annotation));
    }
    return copied;
}

std::vector<Mark> cut_marks(const std::vector<Mark>& marks, const Stretch& stretch) {
    std::vector<Mark> copied;
    for (Mark mark : marks) {
        if (mark.time < stretch.start || mark.time > stretch.end) {
            continue;
        }
        mark.time -= stretch.start;
        for (auto& [device, events] : mark.events) {
            if (const auto range = stretch.events.find(device); range != stretch.events.end()) {
                events = std::clamp(events, range->second.first, range->second.last) - range->second.first;
            }
        }
        copied.push_back(std::move(mark));
    }
    return copied;
}

/// Returns nothing for a time after the end of the range.
std::optional<int64_t> cut_end(std::optional<int64_t> end, const Stretch& stretch) {
    return end && *end <= stretch.end ? std::optional(std::max(*end, stretch.start) - stretch.start) : std::nullopt;
}

/// Copies the spans that overlap the range. Their beginning and end may be missing.
template <class Span>
std::vector<Span> cut_spans(const std::vector<Span>& spans, const Stretch& stretch, int64_t Span::*begin,
                            std::optional<int64_t> Span::*end) {
    std::vector<Span> copied;
    for (Span span : spans) {
        if (span.*begin > stretch.end || (span.*end && *(span.*end) < stretch.start)) {
            continue;
        }
        span.*begin = std::max(span.*begin, stretch.start) - stretch.start;
        span.*end = cut_end(span.*end, stretch);
        copied.push_back(std::move(span));
    }
    return copied;
}

std::vector<Process> cut_processes(std::vector<Process> processes, const Stretch& stretch) {
    for (Process& process : processes) {
        process.start = std::max<int64_t>(process.start - stretch.start, 0);
        process.end = cut_end(process.end, stretch);
    }
    return processes;
}

/// Copies the samples of the range. It starts with the last samples before it.
std::vector<Sample> cut_samples(const std::vector<Sample>& samples, const Stretch& stretch) {
    std::map<int, int64_t> last_before;  // of the device as a whole, by device
    for (const Sample& sample : samples) {
        if (!sample.pid && sample.time <= stretch.start) {
            last_before[sample.device] = sample.time;
        }
    }
    std::vector<Sample> copied;
    for (Sample sample : samples) {
        const auto first = last_before.find(sample.device);
        if (sample.time <= stretch.end && sample.time >= (first == last_before.end() ? stretch.start : first->second)) {
            sample.time = std::max(sample.time, stretch.start) - stretch.start;
            copied.push_back(std::move(sample));
        }
    }
    return copied;
}

/// Returns the memory of a process in a row; nothing if it has none of its own there.
std::optional<int64_t> bytes_of_process(const BreakdownRow& row, int64_t pid, std::optional<int64_t> own_pid) {
    if (pid == own_pid) {
        return row.process_used;
    }
    const auto found = std::find_if(row.components.begin(), row.components.end(), [pid](const Component& component) {
        return component.kind == ComponentKind::other_processes && component.pid == pid;
    });
    return found == row.components.end() ? std::nullopt : std::optional(found->bytes);
}

/// Gives the samples that moved to the start the figures of that time, so that they fit the state there.
void renew_first_samples(std::vector<Sample>& samples, const Trace& trace, const Stretch& stretch) {
    const std::shared_ptr<const Trace> borrowed(std::shared_ptr<void>(), &trace);
    for (const DeviceHistory& device : trace.devices) {
        const auto is_first = [&](const Sample& sample) { return sample.time == 0 && sample.device == device.device; };
        if (std::none_of(samples.begin(), samples.end(), is_first)) {
            continue;
        }
        const BreakdownRow row = Breakdown(std::make_shared<const Analysis>(borrowed, device)).at_time(stretch.start);
        const std::optional<int64_t> own_pid = DeviceSamples(trace, device.device).own_pid();
        for (Sample& sample : samples) {
            if (is_first(sample)) {
                sample.used_bytes = (sample.pid ? bytes_of_process(row, *sample.pid, own_pid) : row.device_used)
                                        .value_or(sample.used_bytes);
            }
        }
    }
}

}  // namespace

Trace excerpt(const Trace& trace, const Stretch& stretch, GraphTables* graph) {
    Trace part;
    part.source = trace.source;
    part.start_utc_ns = trace.start_utc_ns == 0 ? 0 : trace.start_utc_ns + stretch.start;
    part.duration = std::max<int64_t>(0, stretch.end - stretch.start);
    part.clean_end = trace.clean_end;
    part.settings = trace.settings;
    part.stacks = trace.stacks;
    part.source_text = trace.source_text;
    part.streams = trace.streams;
    part.pools = trace.pools;
    part.origins = trace.origins;
    part.annotations = cut_annotations(trace.annotations, stretch);
    part.marks = cut_marks(trace.marks, stretch);
    part.processes = cut_processes(trace.processes, stretch);
    part.nvml_pid = trace.nvml_pid;
    part.event_source = trace.event_source;
    part.steps = cut_spans(trace.steps, stretch, &Step::start, &Step::end);
    part.driver_allocations =
        cut_spans(trace.driver_allocations, stretch, &DriverAllocation::time, &DriverAllocation::free_time);
    part.samples = cut_samples(trace.samples, stretch);
    renew_first_samples(part.samples, trace, stretch);
    part.data_gaps = trace.data_gaps;
    for (DataGap& data_gap : part.data_gaps) {
        data_gap.arguments["of_whole_trace"] = "yes";
        data_gap.time = std::clamp(data_gap.time - stretch.start, int64_t{0}, part.duration);
    }
    std::vector<Places> allocations;
    for (const DeviceHistory& device : trace.devices) {
        const Stretch::Range range = stretch.events.at(device.device);
        allocations.push_back(places_of(device.allocations.alloc_event, device.allocations.free_completed, range));
        part.devices.push_back(cut_device(device, allocations.back(), range, stretch.start));
    }
    if (graph != nullptr) {
        *graph = excerpt_graph(*graph, stretch.start, stretch.end, [&](AllocationRef a) {
            const uint32_t place = a ? place_of(allocations[a.device], a.index, no_allocation) : no_allocation;
            return place == no_allocation ? AllocationRef{} : AllocationRef{a.device, place};
        });
    }
    return part;
}

}  // namespace tidemark
