// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/analysis_context.h"

#include <algorithm>
#include <utility>

#include "storage/base/median.h"
#include "storage/explain/gpu_library.h"

namespace tidemark {
namespace {

/// A program that ends frees at least this part of its memory: 1 / 8. In each iteration, a full buffer frees an
/// element.
constexpr int64_t least_part_of_teardown = 8;

bool is_work(Action action) {
    return action == Action::alloc || action == Action::oom || action == Action::segment_alloc ||
           action == Action::segment_map;
}

/// Returns the bytes that this event frees of memory allocated before the state `old`.
int64_t freed_of_old(const DeviceHistory& device, EventRef event, EventNumber old) {
    const bool is_old = event.action() == Action::free_requested && device.allocations.alloc_event[event.index()] < old;
    return is_old ? static_cast<int64_t>(device.allocations.block_size[event.index()]) : 0;
}

/// Walks back over the frees with which the run ends. Threads may end one after another: little that is allocated while
/// much of the memory is freed that existed before `old` belongs to the end, too.
EventNumber before_last_frees(const Analysis& analysis, EventNumber old = 0) {
    constexpr int64_t much_more = 50;
    const DeviceHistory& device = analysis.device();
    std::optional<EventNumber> end;
    int64_t allocated = 0, freed = 0, freed_before_end = 0;
    for (EventNumber event = device.event_count(); event > 0; --event) {
        const EventRef ref = device.event_ref[static_cast<size_t>(event - 1)];
        const Action action = ref.action();
        const int64_t bytes = freed_of_old(device, ref, old);
        freed += bytes;
        freed_before_end += end ? bytes : 0;
        if (!is_work(action)) {
            continue;
        }
        allocated += action == Action::alloc ? static_cast<int64_t>(device.allocations.block_size[ref.index()]) : 0;
        if (!end || freed_before_end * least_part_of_teardown > analysis.curves().value(Series::allocated, event)) {
            end = event;
            freed_before_end = 0;
        }
        if (action == Action::oom || allocated * much_more >= freed) {
            break;
        }
    }
    return end.value_or(device.event_count());
}

/// Returns how many tensors have a referrer in Python, or a hook on a cycle through C++, for each heap scan.
std::vector<size_t> found_by_scans(const GraphTables& tables) {
    std::vector<size_t> found(tables.scans.size());
    for (const Referrer& referrer : tables.referrers) {
        found[referrer.scan] += !is_native(referrer) || hook_on_cycle(referrer);
    }
    return found;
}

/// Returns the state between two states before the program frees a large part of its memory that existed before `old`:
/// threads end, or the functions that own the model return. Returns the later state if it frees only recent work.
EventNumber before_teardown(const Analysis& analysis, EventNumber from, EventNumber to, EventNumber old) {
    const DeviceHistory& device = analysis.device();
    std::optional<EventNumber> first;
    int64_t freed = 0;
    for (EventNumber event = from; event < to; ++event) {
        const int64_t bytes = freed_of_old(device, device.event_ref[static_cast<size_t>(event)], old);
        if (bytes > 0) {
            first = first.value_or(event);
            freed += bytes;
        }
    }
    return freed * least_part_of_teardown > analysis.curves().value(Series::allocated, from) ? *first : to;
}

/// Returns the state at the last heap scan, which runs when the program's own code has ended, or before it released
/// what it used. `old`: the begin of one of the last iterations. Returns the state before the last frees if functions
/// had returned by then and most memory was free.
EventNumber end_of_work(const Analysis& analysis, const GraphTables* tables, EventNumber old) {
    const EventNumber before = before_last_frees(analysis, old);
    if (!tables || tables->scans.empty() || tables->scans.back().reason != ScanReason::end) {
        return before;
    }
    const std::vector<size_t> found = found_by_scans(*tables);
    const EventNumber searched = analysis.device().events_until(tables->scans.back().time);
    if (found.back() == 0 || found.back() < *std::max_element(found.begin(), found.end())) {
        return before;
    }
    const auto allocated = [&](EventNumber n) { return analysis.curves().value(Series::allocated, n); };
    return searched > before && allocated(searched) * 2 >= allocated(before)
               ? before_teardown(analysis, before, searched, old)
               : before;
}

/// Returns the time of the last driver allocation on the device, before a program without PyTorch frees its memory; the
/// trace's end if there is none.
int64_t last_driver_allocation(const Trace& trace, const DeviceHistory& device) {
    std::optional<int64_t> last;
    for (const DriverAllocation& a : trace.driver_allocations) {
        if (a.device == device.device) {
            last = std::max(last.value_or(a.time), a.time);
        }
    }
    return last.value_or(trace.duration);
}

/// Returns the number of events of a typical iteration.
EventNumber typical_length(const Iterations& iterations) {
    std::vector<EventNumber> lengths;
    for (const Iteration& iteration : iterations.all()) {
        lengths.push_back(iteration.last - iteration.first);
    }
    return median(std::move(lengths));
}

/// Returns the begin of the last three iterations: the very last ones may lie amid the program's end.
EventNumber begin_of_last_iterations(const Iterations& iterations) {
    constexpr size_t last = 3;
    return iterations.size() < last ? 0 : iterations[iterations.size() - last].first;
}

/// Returns the time of the heap scan that describes `now` best: the last scan before it. The scan after it is better
/// only if it found anything, and at least as many referrers, because functions may have returned by then and released
/// their variables.
int64_t time_of_scan(const GraphTables& tables, int64_t now) {
    const auto after = std::partition_point(tables.scans.begin(), tables.scans.end(),
                                            [&](const HeapScan& scan) { return scan.time < now; });
    if (after == tables.scans.end()) {
        return now;
    }
    const auto position = static_cast<size_t>(after - tables.scans.begin());
    const std::vector<size_t> found = found_by_scans(tables);
    const bool has_referrers = std::any_of(tables.referrers.begin(), tables.referrers.end(),
                                           [&](const Referrer& referrer) { return referrer.scan == position; });
    return position == 0 || (has_referrers && found[position] >= found[position - 1]) ? after->time : now;
}

/// Returns whether the program worked for long after its last iteration, with no more memory at the end: for half of
/// the time and a tenth of the events of all iterations.
bool went_on_without_growth(const AnalysisContext& context) {
    constexpr int64_t least_time = 2, least_events = 10, least_fraction = 20;
    const Iteration &first = context.iterations()[0], &last = context.iterations().all().back();
    const EventNumber now = context.now(), events = now - last.last;
    if ((context.now_time() - last.end) * least_time < last.end - first.start ||
        events * least_events < last.last - first.first) {
        return false;
    }
    const int64_t level = context.curves().value(Series::allocated, last.last);
    const int64_t lowest = context.curves().extremes(Series::allocated, now - events / 4, now).min;
    return (lowest - level) * least_fraction <= level;
}

}  // namespace

GraphContext::GraphContext(std::shared_ptr<const Graph> whole, int64_t time, int64_t scan_time)
    : graph(std::move(whole)),
      index(graph->index),
      categories(graph->categories),
      state(index, categories, time),
      referrers(index, scan_time),
      scanned(index, categories, referrers.scan() ? referrers.scan()->time : time),
      earlier_roots(state),
      groups(referrer_groups(scanned, referrers)) {
    for (size_t group = 0; group < groups.size(); ++group) {
        for (const uint32_t referrer : groups[group].referrers) {
            group_of_referrer.emplace(referrer, group);
        }
    }
}

bool GraphContext::was_scanned(AllocationRef allocation) const {
    return referrers.scan() &&
           index.trace().devices[allocation.device].alloc_time(allocation.index) <= referrers.scan()->time;
}

const ReferrerGroup* GraphContext::group_of(const Referrer* referrer) const {
    if (!referrer) {
        return nullptr;
    }
    const auto found = group_of_referrer.find(static_cast<uint32_t>(referrer - tables().referrers.data()));
    return found == group_of_referrer.end() ? nullptr : &groups[found->second];
}

AnalysisContext::AnalysisContext(std::shared_ptr<const Analysis> analysis, std::shared_ptr<const Graph> graph,
                                 RunPart part)
    : analysis_(std::move(analysis)), part_(part), has_pytorch_(tidemark::has_pytorch(trace())), breakdown_(analysis_) {
    device_position_ = static_cast<uint32_t>(&device() - trace().devices.data());
    const GraphTables* tables = graph && !graph->tables().empty() ? &graph->tables() : nullptr;
    Iterations main = main_iterations();
    oom_ = find_oom_errors(trace(), device(), curves(), main, part_.at.value_or(device().event_count()));
    select_now(main, tables);
    row_ = breakdown_.at(now_);
    intervals_ = find_intervals(trace(), device(), curves(), std::move(main), now_);
    find_extremes();
    if (tables) {
        const int64_t search = time_of_scan(*tables, now_time_);
        graph_ = std::make_unique<GraphContext>(std::move(graph), now_time_, search);
    }
    growing_ =
        quiet_after_allocations() ? Growing() : find_growing(trace(), intervals_, graph_.get(), device_position_, now_);
}

std::optional<int64_t> AnalysisContext::quiet_after_allocations() const {
    constexpr int64_t shortest = 2'000'000'000;  // a program that ends right after its allocations may have grown
    const Allocations& allocations = device().allocations;
    if (has_pytorch_ || allocations.size() == 0) {
        return std::nullopt;
    }
    const int64_t first = device().alloc_time(0), last = device().alloc_time(allocations.size() - 1);
    const int64_t quiet = trace().duration - last;
    return quiet >= std::max(shortest, last - first) ? std::optional(quiet) : std::nullopt;
}

Iterations AnalysisContext::main_iterations() const {
    Iterations main(trace(), device(), curves());
    if (!part_.from && !part_.at) {
        return main;
    }
    const EventNumber from = part_.from.value_or(0), to = part_.at.value_or(device().event_count());
    if (main.source() != IterationSource::loop) {
        main.keep_within(from, to);
    }
    // A part between two steps, or after the last, has a loop of its own.
    const bool has_own = main.source() == IterationSource::loop || main.empty();
    return has_own ? Iterations(trace(), device(), curves(), from, to) : main;
}

Extremes AnalysisContext::peak() const {
    return has_chosen_time_point() ? curves().extremes(Series::allocated, 0, now()) : curves().peak(Series::allocated);
}

bool AnalysisContext::lacks_history() const {
    const auto& events = device().allocations.alloc_event;
    return is_snapshot() &&
           std::all_of(events.begin(), events.end(), [](EventNumber event) { return event == before_history; });
}

bool AnalysisContext::contradicts_itself() const {
    const auto peak = curves().peak(Series::allocated);
    return is_snapshot() && peak.max > curves().value(Series::reserved, peak.max_event);
}

EventNumber AnalysisContext::end_of_run(const Iterations& main, const GraphTables* tables) const {
    const EventNumber before = before_last_frees(*analysis_);
    const bool counts_iterations = !main.empty() && main.source() != IterationSource::loop;
    const EventNumber last = counts_iterations ? main.all().back().last : 0;
    const bool is_last_iteration =
        last > 0 && before - last < typical_length(main) && !loop_after(trace(), device(), curves(), main, before);
    return is_last_iteration ? last : end_of_work(*analysis_, tables, begin_of_last_iterations(main));
}

void AnalysisContext::select_now(Iterations& main, const GraphTables* tables) {
    if (part_.at) {
        now_ = *part_.at;
        now_time_ = device().event_count() > 0 ? device().time_of_state(now_) : trace().duration;
        return;
    }
    now_ = is_snapshot() ? device().event_count() : end_of_run(main, tables);
    if (main.source() == IterationSource::loop) {
        main.end_at(now_);
    }
    if (oom_.last && device().event_count() - oom_.last->event <= std::max(now_ / 10, 1000)) {
        now_ = oom_.last->event + 1;
    }
    now_time_ = device().event_count() > 0 ? device().time_of_state(now_) : last_driver_allocation(trace(), device());
}

void AnalysisContext::find_extremes() {
    floor_.clear();
    peaks_.clear();
    for (const Iteration& iteration : iterations().all()) {
        const EventNumber first = std::min(iteration.first + 1, iteration.last);
        floor_.push_back(curves().extremes(Series::allocated, first, iteration.last).min);
        peaks_.push_back(curves().extremes(Series::allocated, iteration.first, iteration.last).max);
    }
    trend_ = find_trend(floor_);
}

bool AnalysisContext::rises_to_the_end() const {
    constexpr size_t fewest_iterations = 8;
    constexpr int64_t least_rise = 1 << 20, least_fraction = 20;
    const bool is_rising = trend_.shape == Shape::rising;
    if ((!is_rising && floor_.size() < fewest_iterations) || went_on_without_growth(*this)) {
        return false;
    }
    if (is_rising) {
        return true;
    }
    const int64_t before =
        *std::max_element(floor_.begin(), floor_.end() - static_cast<std::ptrdiff_t>(floor_.size() / 4));
    const int64_t end = std::min(floor_.back(), floor_[floor_.size() - 2]);
    return end - before > std::max(least_rise, before / least_fraction);
}

}  // namespace tidemark
