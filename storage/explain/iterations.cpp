// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/iterations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace tidemark {
namespace {

constexpr size_t fewest_iterations = 3;
constexpr size_t sure_iterations = 5;  ///< fewer may be a coincidence, unless another line repeats equally often

/// Removes the number, so that "ProfilerStep#12" and "ProfilerStep#13" are one repeating name.
std::string name_without_number(const std::string& name) {
    const size_t end = name.find_last_not_of("0123456789");
    return end == std::string::npos ? name : name.substr(0, end + 1);
}

/// The allocations of one line, to measure how regularly it allocates.
struct Period {
    StackId stack = 0;
    std::vector<AllocationIndex> members;

    /// Returns the standard deviation of the distances between consecutive allocations relative to their mean, without
    /// warm-up.
    double unevenness(const Allocations& allocations) const {
        double sum = 0, squares = 0;
        const size_t from = members.size() > 6 ? 2 : members.size() > 3 ? 1 : 0;
        for (size_t i = from + 1; i < members.size(); ++i) {
            const double distance = allocations.alloc_event[members[i]] - allocations.alloc_event[members[i - 1]];
            sum += distance;
            squares += distance * distance;
        }
        const auto n = static_cast<double>(members.size() - from - 1);
        const double mean = sum / n;
        return mean <= 0 ? 1e9 : std::sqrt(std::max(0.0, squares / n - mean * mean)) / mean;
    }
};

using Periods = std::unordered_map<uint64_t, Period>;

/// A loop usually contains more than one allocating line.
bool another_line_repeats(const Periods& periods, const Period& period) {
    return std::any_of(periods.begin(), periods.end(), [&](const auto& other) {
        return &other.second != &period && other.second.stack != period.stack &&
               other.second.members.size() == period.members.size();
    });
}

}  // namespace

Iterations::Iterations(const Trace& trace, const DeviceHistory& device) {
    use_steps(trace, device);
    if (empty()) {
        use_marks(trace, device);
    }
    if (empty()) {
        use_repetition(trace, device, 0, device.event_count());
    }
}

Iterations::Iterations(const Trace& trace, const DeviceHistory& device, EventNumber first, EventNumber last) {
    use_repetition(trace, device, first, last);
}

void Iterations::add(int64_t number, const DeviceHistory& device, int64_t start, int64_t end) {
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
        if (span.closed && span.kind != AnnotationKind::phase && span.kind != AnnotationKind::garbage_collection) {
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

void Iterations::use_repetition(const Trace& trace, const DeviceHistory& device, EventNumber from, EventNumber to) {
    const Allocations& allocations = device.allocations;
    Periods periods;
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        const uint32_t origin = allocations.origin[a];
        const EventNumber made = allocations.alloc_event[a];
        if (made >= from && made < to && allocations.stack[a] != 0 && trace.origins[origin].phase != Phase::backward) {
            // One line may run many modules, so the origin is part of the key.
            Period& period = periods[uint64_t{allocations.stack[a]} << 32 | origin];
            period.stack = allocations.stack[a];
            period.members.push_back(a);
        }
    }
    const Period* best = nullptr;
    double best_score = 0;
    const double events = to - from;
    for (const auto& [key, period] : periods) {
        if (period.members.size() < fewest_iterations) {
            continue;
        }
        // Prefers a line that is regular, covers much of the run and repeats rarely: the outer loop rather than an
        // inner one.
        const double covered =
            (allocations.alloc_event[period.members.back()] - allocations.alloc_event[period.members.front()]) / events;
        const double score =
            covered / (1 + period.unevenness(allocations)) / std::sqrt(static_cast<double>(period.members.size()));
        const bool is_earlier = best && period.members.front() < best->members.front();
        if (score > best_score * 1.05 || (score > best_score * 0.95 && is_earlier)) {
            best_score = score;
            best = &period;
        }
    }
    if (!best || (best->members.size() < sure_iterations && !another_line_repeats(periods, *best))) {
        return;
    }
    source_ = IterationSource::repetition;
    for (size_t i = 0; i < best->members.size(); ++i) {
        const EventNumber first = allocations.alloc_event[best->members[i]];
        const bool is_last = i + 1 == best->members.size();
        const EventNumber last = is_last ? to : allocations.alloc_event[best->members[i + 1]];
        iterations_.push_back({static_cast<int64_t>(i), first, last, device.time_of_state(first + 1),
                               device.time_of_state(std::max(first, last))});
    }
}

int64_t Iterations::at(EventNumber event) const {
    const auto after = std::upper_bound(iterations_.begin(), iterations_.end(), event,
                                        [](EventNumber e, const Iteration& iteration) { return e < iteration.first; });
    const int64_t position = after - iterations_.begin() - 1;
    return position >= 0 && event >= iterations_[static_cast<size_t>(position)].last ? position + 1 : position;
}

}  // namespace tidemark
