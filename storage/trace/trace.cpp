// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "storage/base/in_halves.h"
#include "storage/base/parse_number.h"

namespace tidemark {

namespace {

template <class AllocationColumns, class Each>
void for_each_column(AllocationColumns& a, Each&& each) {
    each(a.alloc_event, &Allocation::alloc_event);
    each(a.free_event, &Allocation::free_event);
    each(a.free_completed, &Allocation::free_completed);
    each(a.address, &Allocation::address);
    each(a.requested, &Allocation::requested);
    each(a.block_size, &Allocation::block_size);
    each(a.stack, &Allocation::stack);
    each(a.free_stack, &Allocation::free_stack);
    each(a.segment, &Allocation::segment);
    each(a.origin, &Allocation::origin);
}

}  // namespace

void Allocations::reserve(size_t count) {
    for_each_column(*this, [&](auto& column, auto) { column.reserve(count); });
}

void Allocations::resize(size_t count) {
    // The time goes into the first access to new memory, so two threads share it; both parts have about the same size.
    const auto resize_columns_of = [&](size_t width) {
        for_each_column(*this, [&](auto& column, auto) {
            if (sizeof(column[0]) == width) {
                column.resize(count);
            }
        });
    };
    static_assert(sizeof(block_size[0]) == sizeof(uint64_t) && sizeof(stack[0]) == sizeof(uint32_t));
    in_halves(
        2,
        [&](int first, int last) {
            for (int part = first; part < last; ++part) {
                resize_columns_of(part == 0 ? sizeof(uint64_t) : sizeof(uint32_t));
            }
        },
        count < fewest_rows_to_halve ? 3 : 0);
}

void Allocations::push_back(const Allocation& row) {
    for_each_column(*this, [&](auto& column, auto field) { column.push_back(row.*field); });
}

void Allocations::put(size_t index, const Allocation& row) {
    if (index == size()) {
        push_back(row);
        return;
    }
    for_each_column(*this, [&](auto& column, auto field) { column[index] = row.*field; });
}

Allocation Allocations::at(size_t index) const {
    Allocation row;
    for_each_column(*this, [&](const auto& column, auto field) { row.*field = column[index]; });
    return row;
}

bool Allocations::are_in_order() const {
    return std::adjacent_find(alloc_event.begin(), alloc_event.end(), [](EventNumber a, EventNumber b) {
               return b <= a && b != before_history;
           }) == alloc_event.end();
}

AllocationIndex Allocations::begin_of_history() const {
    const auto first = std::upper_bound(alloc_event.begin(), alloc_event.end(), before_history);
    return static_cast<AllocationIndex>(first - alloc_event.begin());
}

EventNumber DeviceHistory::events_until(int64_t time) const {
    return static_cast<EventNumber>(std::upper_bound(event_time.begin(), event_time.end(), time) - event_time.begin());
}

int64_t DeviceHistory::time_of_state(EventNumber n) const {
    if (event_time.empty()) {
        return 0;
    }
    return event_time[static_cast<size_t>(std::clamp(n - 1, 0, event_count() - 1))];
}

const RepeatedSteps* DeviceHistory::repeated_at(int64_t time) const {
    const auto found = std::partition_point(repeats.begin(), repeats.end(),
                                            [&](const RepeatedSteps& steps) { return steps.end < time; });
    return found == repeats.end() || time <= found->start ? nullptr : &*found;
}

int64_t DeviceHistory::time_until(EventNumber n, int64_t end) const {
    const int64_t begin = time_of_state(n);
    return n < event_count() ? std::max(begin, event_time[static_cast<size_t>(n)] - 1) : std::max(begin, end);
}

int64_t DeviceHistory::alloc_time(AllocationIndex a) const {
    const EventNumber event = allocations.alloc_event[a];
    return event == before_history ? time_of_state(0) : event_time[static_cast<size_t>(event)];
}

std::optional<int64_t> DeviceHistory::free_time(AllocationIndex a) const {
    const EventNumber event = allocations.free_event[a];
    if (event == never) {
        return std::nullopt;
    }
    return event == before_history ? time_of_state(0) : event_time[static_cast<size_t>(event)];
}

int64_t DeviceHistory::allocation_id(AllocationIndex a) const {
    const EventNumber event = allocations.alloc_event[a];
    return event == before_history ? preexisting_id(device, a) : event_id(device, numbers.in_file(event));
}

std::optional<AllocationIndex> DeviceHistory::find_allocation(int64_t id) const {
    if (id < 0 || id >> event_id_shift != device) {
        return std::nullopt;
    }
    const int64_t sequence = id & (preexisting_bit - 1);
    if (id & preexisting_bit) {
        const bool exists =
            sequence < allocations.size() && allocations.alloc_event[static_cast<size_t>(sequence)] == before_history;
        return exists ? std::optional(static_cast<AllocationIndex>(sequence)) : std::nullopt;
    }
    const auto event = numbers.find(sequence);
    if (!event || *event >= event_count()) {
        return std::nullopt;
    }
    const EventRef ref = event_ref[static_cast<size_t>(*event)];
    return ref.action() == Action::alloc ? std::optional(ref.index()) : std::nullopt;
}

std::string DeviceHistory::allocation_name(AllocationIndex a) const {
    const bool is_earlier = allocations.alloc_event[a] == before_history;
    const std::string on_device = device == 0 ? std::string() : fmt::format("{}:", device);
    return is_earlier ? fmt::format("before:{}{}", on_device, a)
                      : fmt::format("{}{}", on_device, allocations.alloc_event[a]);
}

std::optional<AllocationIndex> DeviceHistory::find_allocation(std::string_view text) const {
    constexpr std::string_view earlier = "before";
    text.remove_prefix(text.starts_with('#') ? 1 : 0);
    const bool is_earlier = text.starts_with(earlier) && text.size() > earlier.size();
    text.remove_prefix(is_earlier ? earlier.size() + 1 : 0);
    const size_t colon = text.find(':');
    const auto number = parse_count(text.substr(colon == text.npos ? 0 : colon + 1));
    const auto of_device = colon == text.npos ? std::optional<int64_t>(0) : parse_count(text.substr(0, colon));
    if (!number || !of_device) {
        return std::nullopt;
    }
    if (colon == text.npos && !is_earlier) {
        return find_allocation(*number);
    }
    const bool is_here = *of_device == device && *number < preexisting_bit;
    return is_here ? find_allocation(is_earlier ? preexisting_id(device, *number) : event_id(device, *number))
                   : std::nullopt;
}

std::string Pool::describe() const {
    if (owner[0] == 0 && owner[1] == 0) {
        return "default pool";
    }
    return fmt::format("private pool ({}, {})", owner[0], owner[1]);
}

std::string DataGap::argument(std::string_view name) const {
    const auto found = arguments.find(name);
    return found == arguments.end() ? std::string() : found->second;
}

int64_t DataGap::number(std::string_view name) const { return std::strtoll(argument(name).c_str(), nullptr, 10); }

const DeviceHistory* Trace::device(int index) const {
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.device == index; });
    return found == devices.end() ? nullptr : &*found;
}

const DeviceHistory& Trace::main_device() const {
    const auto weight = [](const DeviceHistory& device) {
        // Snapshots without history have no events, only segments.
        const uint64_t bytes = std::accumulate(device.segments.begin(), device.segments.end(), uint64_t{0},
                                               [](uint64_t sum, const Segment& segment) { return sum + segment.size; });
        return std::pair(device.event_count(), bytes);
    };
    return *std::max_element(devices.begin(), devices.end(),
                             [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
}

}  // namespace tidemark
