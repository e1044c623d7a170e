// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/settle.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "storage/base/in_halves.h"
#include "storage/base/scratch_folder.h"
#include "storage/read/database.h"
#include "storage/read/device_tables.h"
#include "storage/trace/limits.h"

namespace tidemark {

namespace {

/// All sizes together, in blocks of 512 bytes: sums of bytes fit into 64 bits.
constexpr uint64_t most_blocks = uint64_t{1} << 53;

bool is_sound(const DeviceHistory& device, const Trace& trace) {
    const Allocations& a = device.allocations;
    const uint32_t stacks = trace.stacks.stack_count();
    const auto origins = static_cast<uint32_t>(trace.origins.size());
    std::atomic<uint64_t> allocated{0};
    std::atomic<bool> sound{a.are_in_order()};
    const auto check = [&](uint32_t first, uint32_t last) {
        uint64_t blocks = 0;
        for (uint32_t i = first; i < last; ++i) {
            if (a.stack[i] >= stacks || a.free_stack[i] >= stacks || a.origin[i] >= origins ||
                a.block_size[i] > largest_size) {
                sound = false;
                return;
            }
            blocks += a.block_size[i] >> 9;
        }
        allocated += blocks;
    };
    in_halves(a.size(), check, fewest_rows_to_halve);
    uint64_t total = 0;
    for (const Segment& s : device.segments) {
        total += s.size >> 9;
    }
    sound = sound && std::all_of(device.others.begin(), device.others.end(),
                                 [origins](const OtherEvent& other) { return other.origin < origins; });
    return sound && total <= most_blocks && allocated <= most_blocks;
}

bool happened(EventNumber event) { return event != before_history && event != never; }

/// Returns how many events of allocations are described by a row that is not the one the event refers to.
int64_t count_contradicting_allocations(const DeviceHistory& device) {
    const Allocations& a = device.allocations;
    std::atomic<int64_t> count{0};
    const auto compare = [&](uint32_t first, uint32_t last) {
        int64_t found = 0;
        for (uint32_t i = first; i < last; ++i) {
            for (const EventNumber event : {a.alloc_event[i], a.free_event[i], a.free_completed[i]}) {
                const EventRef ref = happened(event) ? device.event_ref[static_cast<size_t>(event)] : EventRef();
                found += happened(event) && (ref.action() > Action::free_completed || ref.index() != i) ? 1 : 0;
            }
        }
        count += found;
    };
    in_halves(a.size(), compare, fewest_rows_to_halve);
    return count;
}

/// Returns how many events are described by a row that is not the one the event refers to.
int64_t count_contradictions(const DeviceHistory& device) {
    int64_t count = count_contradicting_allocations(device);
    const auto compare = [&](EventNumber event, auto&& is_of_row) {
        count += happened(event) && !is_of_row(device.event_ref[static_cast<size_t>(event)]) ? 1 : 0;
    };
    // Pieces of expandable memory share the event that mapped or unmapped them.
    const auto is_of_segment = [](EventRef ref) {
        return Action::segment_alloc <= ref.action() && ref.action() <= Action::segment_unmap;
    };
    for (const Segment& s : device.segments) {
        compare(s.alloc_event, is_of_segment);
        compare(s.free_event, is_of_segment);
    }
    for (size_t i = 0; i < device.others.size(); ++i) {
        compare(device.others[i].event,
                [i](EventRef ref) { return ref.action() > Action::segment_unmap && ref.index() == i; });
    }
    return count;
}

/// All events without a row refer to one entry of kind "unknown".
void describe_gaps(DeviceHistory& device, std::vector<DataGap>& data_gaps, Damage& damage) {
    damage.add(DataGapReason::events_described_twice, count_contradictions(device), device.device);
    int64_t gaps = 0;
    for (EventNumber e = 0; e < device.event_count(); ++e) {
        EventRef& ref = device.event_ref[static_cast<size_t>(e)];
        if (ref.packed != nothing_reported.packed) {
            continue;
        }
        if (gaps++ == 0) {
            OtherEvent gap;
            gap.event = e;
            gap.name = "not recorded";
            device.others.push_back(std::move(gap));
        }
        ref = EventRef(Action::unknown, static_cast<uint32_t>(device.others.size() - 1));
    }
    if (gaps > 0) {
        data_gaps.push_back(
            {DataGapKind::events_inconsistent, device.device, 0, gaps, 0, DataGapReason::undescribed_events, {}, {}});
    }
}

/// Makes times non-decreasing. An event without a time gets the time of the previous event; events before the first
/// known time get that one.
void complete_times(std::vector<int64_t>& times, Damage& damage) {
    if (times.empty() ||
        (is_time(times.front()) && is_time(times.back()) && std::is_sorted(times.begin(), times.end()))) {
        return;
    }
    int64_t last = no_time_reported;
    for (int64_t& time : times) {
        const int64_t known = time == no_time_reported ? last : damage.time(time, last);
        last = time = std::max(known, last);
    }
    for (size_t i = times.size(); i-- > 0;) {
        if (times[i] == no_time_reported) {
            times[i] = i + 1 < times.size() ? times[i + 1] : 0;
        }
    }
}

template <class T>
void sort_by(std::vector<T>& rows, int64_t T::*time) {
    const auto earlier = [time](const T& a, const T& b) { return a.*time < b.*time; };
    if (!std::is_sorted(rows.begin(), rows.end(), earlier)) {
        std::stable_sort(rows.begin(), rows.end(), earlier);
    }
}

void complete_ends(Trace& trace) {
    trace.duration = std::max(trace.duration, trace.committed_time);
    for (const DeviceHistory& device : trace.devices) {
        if (!device.event_time.empty()) {
            trace.duration = std::max(trace.duration, device.event_time.back());
        }
    }
    for (Annotation& a : trace.annotations) {
        if (!a.closed) {
            a.end = std::max(a.start, trace.duration);
        }
    }
}

void report_deleted_details(Trace& trace) {
    for (const DeviceHistory& device : trace.devices) {
        int64_t steps = 0, time = 0;
        bool any = false;
        for (const RepeatedSteps& row : device.repeats) {
            if (row.are_details_deleted()) {
                any = true;
                steps += row.count;
                time = row.end;
            }
        }
        const bool is_reported =
            std::any_of(trace.data_gaps.begin(), trace.data_gaps.end(), [&](const DataGap& data_gap) {
                return data_gap.reason == DataGapReason::details_deleted && data_gap.device == device.device;
            });
        if (any && !is_reported) {
            trace.data_gaps.push_back({DataGapKind::not_recorded,
                                       device.device,
                                       time,
                                       steps,
                                       0,
                                       DataGapReason::details_deleted,
                                       {{"limit", fmt::to_string(trace.most_bytes)}},
                                       {}});
        }
    }
}

void report_unclean_end(Trace& trace) {
    const auto is_unclean_end = [](const DataGap& data_gap) { return data_gap.kind == DataGapKind::unclean_end; };
    if (trace.clean_end || trace.being_written ||
        std::any_of(trace.data_gaps.begin(), trace.data_gaps.end(), is_unclean_end)) {
        return;
    }
    DataGapArguments arguments;
    if (const std::string place = trace_behind_link(trace.path); !place.empty()) {
        arguments = {{"place", place}, {"command", move_command(place, trace.path)}};
    }
    trace.data_gaps.push_back(
        {DataGapKind::unclean_end, -1, trace.duration, 0, 0, DataGapReason::recorder_gone, std::move(arguments), {}});
}

/// Finds the driver memory that is a segment of the allocator although its row does not say so: the recorder learns of
/// a segment after its step, when the driver may have freed the memory. Counted twice, it would be a library's as well.
void find_driver_memory_of_segments(DeviceHistory& device, Trace& trace) {
    const auto may_be_segment = [&](const DriverAllocation& a) {
        return a.device == device.device && a.kind == DriverMemoryKind::device && !a.in_allocator;
    };
    if (trace.event_source == EventSource::driver ||
        std::none_of(trace.driver_allocations.begin(), trace.driver_allocations.end(), may_be_segment)) {
        return;
    }
    std::multimap<uint64_t, const Segment*> by_address;
    for (const Segment& segment : device.segments) {
        if (segment.alloc_event != before_history && segment.alloc_event < device.event_count()) {
            by_address.emplace(segment.address, &segment);
        }
    }
    for (DriverAllocation& a : trace.driver_allocations) {
        const auto [first, last] = by_address.equal_range(a.address);
        a.in_allocator |=
            may_be_segment(a) && std::any_of(first, last, [&](const auto& at_address) {
                const Segment& segment = *at_address.second;
                const int64_t time = device.event_time[static_cast<size_t>(segment.alloc_event)];
                return segment.size == a.bytes && a.time <= time && (!a.free_time || time <= *a.free_time);
            });
    }
}

}  // namespace

Result<std::shared_ptr<const Trace>> settled(Trace raw, Damage damage) {
    auto trace = std::make_shared<Trace>(std::move(raw));
    if (trace->devices.empty() && trace->being_written) {
        return input_error("{path} contains no device yet: its program has not used a GPU since the recording began.",
                           with("path", trace->path));
    }
    if (trace->devices.empty()) {
        return input_error(
            "{path} contains no device, because the program used no GPU while it was recorded. Record it while it uses "
            "the GPU: tidemark record -- COMMAND",
            with("path", trace->path));
    }
    for (DeviceHistory& device : trace->devices) {
        if (!is_sound(device, *trace)) {
            return damaged(trace->path,
                           Sentence("allocations are out of order, too large, or refer to missing stacks or origins"));
        }
        describe_gaps(device, trace->data_gaps, damage);
        complete_times(device.event_time, damage);
        find_driver_memory_of_segments(device, *trace);
    }
    for (DataGap& gap : damage.data_gaps()) {
        trace->data_gaps.push_back(std::move(gap));
    }
    if (trace->streams.empty()) {
        trace->streams.push_back({});
    }
    if (trace->pools.empty()) {
        trace->pools.push_back({});
    }
    sort_by(trace->steps, &Step::start);
    sort_by(trace->driver_allocations, &DriverAllocation::time);
    sort_by(trace->samples, &Sample::time);
    complete_ends(*trace);
    report_deleted_details(*trace);
    report_unclean_end(*trace);
    return std::shared_ptr<const Trace>(std::move(trace));
}

}  // namespace tidemark
