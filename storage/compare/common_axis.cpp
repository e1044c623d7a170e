// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/compare/common_axis.h"

#include <cmath>
#include <utility>

#include "storage/timeline/time_point.h"

namespace tidemark {
namespace {

using Knot = RunOnAxis::Knot;

/// Returns the ended steps of the user, or else of the optimizer, as their numbers ascend. A second loop that counts
/// from 0 again is left out.
std::vector<const Step*> counted_steps(const Trace& trace) {
    constexpr int64_t highest = int64_t{1} << 52;  // a place distinguishes the numbers below
    const bool has_own = std::any_of(trace.steps.begin(), trace.steps.end(),
                                     [](const Step& step) { return step.source == StepSource::user; });
    std::vector<const Step*> steps;
    for (const Step& step : trace.steps) {
        const bool is_wanted =
            step.end && (step.source == StepSource::user) == has_own && step.number >= 0 && step.number < highest;
        if (is_wanted && (steps.empty() || (step.number > steps.back()->number && step.start >= *steps.back()->end))) {
            steps.push_back(&step);
        }
    }
    return steps;
}

bool shares_number(const std::vector<const Step*>& a, const std::vector<const Step*>& b) {
    auto other = b.begin();
    return std::any_of(a.begin(), a.end(), [&](const Step* step) {
        other = std::find_if(other, b.end(), [&](const Step* each) { return each->number >= step->number; });
        return other != b.end() && (*other)->number == step->number;
    });
}

/// In steps. The program may take long to exit, but no line should go on to numbers of steps that it never had.
constexpr double most_room_of_idle_end = 0.25;

int64_t first_time(const DeviceHistory& device) { return device.time_of_state(0); }

/// Returns the time of the last event that is not only about reserved memory, as when the program ends.
int64_t last_change_of_active(const DeviceHistory& device) {
    const auto& events = device.event_ref;
    const auto last = std::find_if(events.rbegin(), events.rend(), [](const EventRef& event) {
        return event.action() == Action::alloc || event.action() == Action::free_requested ||
               event.action() == Action::free_completed;
    });
    return device.time_of_state(static_cast<EventNumber>(events.rend() - last));
}

int64_t last_time(const Trace& trace, const DeviceHistory& device) {
    return std::max(trace.duration, device.time_of_state(device.event_count()));
}

RunOnAxis placed_by_steps(const Trace& trace, const DeviceHistory& device, const std::vector<const Step*>& steps) {
    std::vector<Knot> knots;
    knots.reserve(steps.size() + 4);  // the end of the last step, and what comes before and after
    for (const Step* step : steps) {
        knots.push_back({static_cast<double>(step->number), step->start});
    }
    knots.push_back({static_cast<double>(steps.back()->number) + 1, *steps.back()->end});
    const auto count = static_cast<double>(steps.size());
    const double mean = std::max(static_cast<double>(knots.back().time - knots.front().time) / count, 1.0);
    const auto room = [&](int64_t from, int64_t to) { return std::min(static_cast<double>(to - from) / mean, count); };
    const int64_t begin = first_time(device), end = last_time(trace, device);
    if (const int64_t last_change = last_change_of_active(device); last_change > knots.back().time) {
        knots.push_back({knots.back().place + room(knots.back().time, last_change), last_change});
    }
    if (end > knots.back().time) {
        knots.push_back({knots.back().place + std::min(room(knots.back().time, end), most_room_of_idle_end), end});
    }
    if (begin < knots.front().time) {
        knots.insert(knots.begin(), {knots.front().place - room(begin, knots.front().time), begin});
    }
    return RunOnAxis(std::move(knots));
}

RunOnAxis placed_by_time(const Trace& trace, const DeviceHistory& device) {
    const int64_t begin = first_time(device), end = std::max(last_time(trace, device), begin);
    return RunOnAxis({{0, begin}, {static_cast<double>(end - begin), end}});
}

}  // namespace

int64_t RunOnAxis::time_at(double place) const {
    const auto after = std::upper_bound(knots_.begin(), knots_.end(), place,
                                        [](double wanted, const Knot& knot) { return wanted < knot.place; });
    if (after == knots_.begin() || after == knots_.end()) {
        return after == knots_.begin() ? begin() : end();
    }
    const Knot &from = *(after - 1), &to = *after;
    const double part = (place - from.place) / (to.place - from.place);
    return from.time + std::llround(part * static_cast<double>(to.time - from.time));
}

double RunOnAxis::place_of(int64_t time) const {
    const auto after = std::upper_bound(knots_.begin(), knots_.end(), time,
                                        [](int64_t wanted, const Knot& knot) { return wanted < knot.time; });
    if (after == knots_.begin() || after == knots_.end()) {
        return after == knots_.begin() ? first() : last();
    }
    const Knot &from = *(after - 1), &to = *after;
    const double part = static_cast<double>(time - from.time) / static_cast<double>(to.time - from.time);
    return from.place + part * (to.place - from.place);
}

SharedSteps shared_steps(const Trace& a, const Trace& b) {
    const auto steps_a = counted_steps(a), steps_b = counted_steps(b);
    return steps_a.empty() && steps_b.empty() ? SharedSteps::none_in_either
           : steps_a.empty()                  ? SharedSteps::none_in_a
           : steps_b.empty()                  ? SharedSteps::none_in_b
           : shares_number(steps_a, steps_b)  ? SharedSteps::some
                                              : SharedSteps::other_numbers;
}

std::optional<CommonAxis> common_axis(const Trace& trace_a, const DeviceHistory& a, const Trace& trace_b,
                                      const DeviceHistory& b) {
    if (shared_steps(trace_a, trace_b) == SharedSteps::some) {
        return CommonAxis{AxisUnit::steps, placed_by_steps(trace_a, a, counted_steps(trace_a)),
                          placed_by_steps(trace_b, b, counted_steps(trace_b))};
    }
    const bool timed = has_times(trace_a, a);
    if (timed != has_times(trace_b, b)) {
        return std::nullopt;
    }
    return CommonAxis{timed ? AxisUnit::time : AxisUnit::events, placed_by_time(trace_a, a),
                      placed_by_time(trace_b, b)};
}

std::optional<size_t> device_to_compare(const Trace& trace, int number) {
    const auto same = std::find_if(trace.devices.begin(), trace.devices.end(),
                                   [&](const DeviceHistory& device) { return device.device == number; });
    if (same != trace.devices.end()) {
        return static_cast<size_t>(same - trace.devices.begin());
    }
    return trace.devices.size() == 1 ? std::optional<size_t>(0) : std::nullopt;
}

}  // namespace tidemark
