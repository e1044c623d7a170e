// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/iterations.h"

#include <algorithm>
#include <map>

#include "storage/explain/main_loop.h"

namespace tidemark {
namespace {

constexpr size_t fewest_iterations = 3;

/// Removes the number, so that "ProfilerStep#12" and "ProfilerStep#13" are one repeating name.
std::string name_without_number(const std::string& name) {
    const size_t end = name.find_last_not_of("0123456789");
    return end == std::string::npos ? name : name.substr(0, end + 1);
}

}  // namespace

Iterations::Iterations(const Trace& trace, const DeviceHistory& device, const Curves& curves) {
    use_steps(trace, device);
    if (empty()) {
        use_marks(trace, device);
    }
    if (empty()) {
        *this = Iterations(trace, device, curves, 0, device.event_count());
    }
}

Iterations::Iterations(const Trace& trace, const DeviceHistory& device, const Curves& curves, EventNumber first,
                       EventNumber last) {
    use_loop(trace, device, curves, first, last);
}

void Iterations::add(int64_t number, const DeviceHistory& device, int64_t start, int64_t end) {
    if (start < 0) {
        return;  // it began before the trace, which has not all of its events
    }
    Iteration iteration{number, iterations_.empty() ? device.events_until(start) : iterations_.back().last,
                        device.events_until(end), start, end};
    iteration.first = std::min(iteration.first, iteration.last);
    iterations_.push_back(iteration);
}

void Iterations::use_steps(const Trace& trace, const DeviceHistory& device) {
    for (const Step& step : trace.steps) {
        if (step.end) {
            add(step.number, device, step.start, *step.end);
        }
    }
    source_ = IterationSource::steps;
    if (iterations_.size() < fewest_iterations) {
        *this = {};
    }
}

void Iterations::use_marks(const Trace& trace, const DeviceHistory& device) {
    std::map<std::string, std::vector<const Annotation*>> spans;
    for (const Annotation& span : trace.annotations) {
        const bool is_of_recorder = span.kind == AnnotationKind::garbage_collection ||
                                    span.kind == AnnotationKind::details_paused ||
                                    span.kind == AnnotationKind::collective;
        if (span.closed && span.kind != AnnotationKind::phase && !is_of_recorder) {
            spans[name_without_number(span.name)].push_back(&span);
        }
    }
    const std::vector<const Annotation*>* selected = nullptr;
    int64_t longest = 0;
    for (const auto& [name, list] : spans) {
        int64_t covered = 0;
        for (const Annotation* span : list) {
            covered += span->end - span->start;
        }
        if (list.size() >= fewest_iterations && covered > longest) {
            longest = covered;
            selected = &list;
        }
    }
    if (!selected || longest < trace.duration / 10) {
        return;
    }
    source_ = IterationSource::marks;
    for (size_t i = 0; i < selected->size(); ++i) {
        const Annotation& span = *(*selected)[i];
        add(static_cast<int64_t>(i), device, span.start, span.end);
    }
}

void Iterations::use_loop(const Trace& trace, const DeviceHistory& device, const Curves& curves, EventNumber from,
                          EventNumber to) {
    const auto loop = find_main_loop(trace, device, curves, from, to);
    if (!loop || loop->iterations.size() < fewest_iterations) {
        return;
    }
    source_ = IterationSource::loop;
    for (size_t i = 0; i < loop->iterations.size(); ++i) {
        const EventNumber first = loop->iterations[i];
        const EventNumber last = i + 1 == loop->iterations.size() ? loop->end.value_or(to) : loop->iterations[i + 1];
        iterations_.push_back({static_cast<int64_t>(i), first, last, device.time_of_state(first + 1),
                               device.time_of_state(std::max(first, last))});
    }
}

void Iterations::keep_within(EventNumber first, EventNumber last) {
    std::erase_if(iterations_,
                  [&](const Iteration& iteration) { return iteration.first < first || iteration.last > last; });
    if (iterations_.size() < fewest_iterations) {
        *this = {};
    }
}

std::vector<size_t> Iterations::with_events() const {
    std::vector<size_t> positions;
    for (size_t i = 0; i < iterations_.size(); ++i) {
        if (iterations_[i].first < iterations_[i].last) {
            positions.push_back(i);
        }
    }
    return positions;
}

std::vector<EventNumber> Iterations::begins() const {
    std::vector<EventNumber> begins;
    begins.reserve(iterations_.size());
    for (const Iteration& iteration : iterations_) {
        begins.push_back(iteration.first);
    }
    return begins;
}

double Iterations::mean_seconds() const {
    const auto ns = static_cast<double>(std::max<int64_t>(iterations_.back().end - iterations_.front().start, 1));
    return ns * 1e-9 / static_cast<double>(iterations_.size());
}

int64_t Iterations::at(EventNumber event) const {
    const auto after = std::upper_bound(iterations_.begin(), iterations_.end(), event,
                                        [](EventNumber e, const Iteration& iteration) { return e < iteration.first; });
    const int64_t position = after - iterations_.begin() - 1;
    return position >= 0 && event >= iterations_[static_cast<size_t>(position)].last ? position + 1 : position;
}

}  // namespace tidemark
