#include "storage/explain/rounds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace tidemark {
namespace {

constexpr size_t fewest_rounds = 3;
constexpr size_t sure_rounds = 5;  ///< fewer than that may be chance, unless another line repeats as often

/// "ProfilerStep#12" and "ProfilerStep#13" are one thing that repeats.
std::string name_without_number(const std::string& name) {
    const size_t end = name.find_last_not_of("0123456789");
    return end == std::string::npos ? name : name.substr(0, end + 1);
}

/// How evenly a line allocates: events between its allocations, one by one.
struct Beat {
    StackId stack = 0;
    std::vector<AllocationIndex> members;

    /// Spread of the distances between neighbours, relative to their mean; warm-up left out.
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

using Beats = std::unordered_map<uint64_t, Beat>;

/// A loop runs more than one line, in most cases.
bool has_company(const Beats& beats, const Beat& beat) {
    return std::any_of(beats.begin(), beats.end(), [&](const auto& other) {
        return &other.second != &beat && other.second.stack != beat.stack &&
               other.second.members.size() == beat.members.size();
    });
}

}  // namespace

bool is_garbage_collection(const Annotation& span) { return span.name.starts_with("garbage collection"); }

Rounds::Rounds(const Trace& trace, const DeviceHistory& device) {
    take_steps(trace, device);
    if (empty()) {
        take_marks(trace, device);
    }
    if (empty()) {
        take_beat(trace, device, 0, device.event_count());
    }
}

Rounds::Rounds(const Trace& trace, const DeviceHistory& device, EventNumber first, EventNumber last) {
    take_beat(trace, device, first, last);
}

void Rounds::add(int64_t number, const DeviceHistory& device, int64_t start, int64_t end) {
    Round round{number, rounds_.empty() ? device.events_until(start) : rounds_.back().last, device.events_until(end),
                start, end};
    round.first = std::min(round.first, round.last);
    rounds_.push_back(round);
}

void Rounds::take_steps(const Trace& trace, const DeviceHistory& device) {
    for (const Step& step : trace.steps) {
        if (step.end) {
            add(step.number, device, step.start, *step.end);
        }
    }
    source_ = RoundSource::steps;
    if (rounds_.size() < fewest_rounds) {
        *this = {};
    }
}

void Rounds::take_marks(const Trace& trace, const DeviceHistory& device) {
    std::map<std::string, std::vector<const Annotation*>> spans;
    for (const Annotation& span : trace.annotations) {
        if (span.closed && span.kind != "phase" && !is_garbage_collection(span)) {
            spans[name_without_number(span.name)].push_back(&span);
        }
    }
    const std::vector<const Annotation*>* chosen = nullptr;
    int64_t longest = 0;
    for (const auto& [name, list] : spans) {
        int64_t covered = 0;
        for (const Annotation* span : list) {
            covered += span->end - span->start;
        }
        if (list.size() >= fewest_rounds && covered > longest) {
            longest = covered;
            chosen = &list;
        }
    }
    if (!chosen || longest < trace.duration / 10) {
        return;
    }
    source_ = RoundSource::marks;
    for (size_t i = 0; i < chosen->size(); ++i) {
        const Annotation& span = *(*chosen)[i];
        add(static_cast<int64_t>(i), device, span.start, span.end);
    }
}

void Rounds::take_beat(const Trace& trace, const DeviceHistory& device, EventNumber from, EventNumber to) {
    const Allocations& allocations = device.allocations;
    Beats beats;
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        const uint32_t origin = allocations.origin[a];
        const EventNumber made = allocations.alloc_event[a];
        if (made >= from && made < to && allocations.stack[a] != 0 && trace.origins[origin].phase != "backward") {
            // One line may run many modules: they are told apart by the origin.
            Beat& beat = beats[uint64_t{allocations.stack[a]} << 32 | origin];
            beat.stack = allocations.stack[a];
            beat.members.push_back(a);
        }
    }
    const Beat* best = nullptr;
    double best_score = 0;
    const double events = to - from;
    for (const auto& [key, beat] : beats) {
        if (beat.members.size() < fewest_rounds) {
            continue;
        }
        // Even, covering much of the run, and coarse: the outer loop rather than one inside a round.
        const double covered =
            (allocations.alloc_event[beat.members.back()] - allocations.alloc_event[beat.members.front()]) / events;
        const double score =
            covered / (1 + beat.unevenness(allocations)) / std::sqrt(static_cast<double>(beat.members.size()));
        const bool is_earlier = best && beat.members.front() < best->members.front();
        if (score > best_score * 1.05 || (score > best_score * 0.95 && is_earlier)) {
            best_score = score;
            best = &beat;
        }
    }
    if (!best || (best->members.size() < sure_rounds && !has_company(beats, *best))) {
        return;
    }
    source_ = RoundSource::repetition;
    for (size_t i = 0; i < best->members.size(); ++i) {
        const EventNumber first = allocations.alloc_event[best->members[i]];
        const bool is_last = i + 1 == best->members.size();
        const EventNumber last = is_last ? to : allocations.alloc_event[best->members[i + 1]];
        rounds_.push_back({static_cast<int64_t>(i), first, last, device.time_of_state(first + 1),
                           device.time_of_state(std::max(first, last))});
    }
}

int64_t Rounds::at(EventNumber event) const {
    const auto after = std::upper_bound(rounds_.begin(), rounds_.end(), event,
                                        [](EventNumber e, const Round& round) { return e < round.first; });
    const int64_t position = after - rounds_.begin() - 1;
    return position >= 0 && event >= rounds_[static_cast<size_t>(position)].last ? position + 1 : position;
}

}  // namespace tidemark
