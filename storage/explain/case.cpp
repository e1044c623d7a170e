#include "storage/explain/case.h"

#include <algorithm>

namespace tidemark {
namespace {

/// Before the program's end only gave memory back: the state in front of its last frees.
EventNumber before_last_frees(const DeviceHistory& device) {
    EventNumber n = device.event_count();
    while (n > 0) {
        const Action action = device.event_ref[static_cast<size_t>(n - 1)].action();
        if (action == Action::alloc || action == Action::oom || action == Action::segment_alloc ||
            action == Action::segment_map) {
            break;
        }
        --n;
    }
    return n == 0 ? device.event_count() : n;
}

/// Tensors for which each search of the heap found a holder in Python.
std::vector<size_t> found_by_searches(const GraphTables& tables) {
    std::vector<size_t> found(tables.scans.size());
    for (const Holder& holder : tables.holders) {
        found[holder.scan] += !is_native(holder);
    }
    return found;
}

/// What the program still held when its own code had ended: then its objects are searched a last time. Where all was
/// gone by then, because functions had returned, the state before that.
EventNumber end_of_work(const Analysis& analysis, const GraphTables* tables) {
    const EventNumber before = before_last_frees(analysis.device());
    if (!tables || tables->scans.empty() || tables->scans.back().reason != "end") {
        return before;
    }
    const std::vector<size_t> found = found_by_searches(*tables);
    const EventNumber searched = analysis.device().events_until(tables->scans.back().time);
    if (found.back() == 0 || found.back() < *std::max_element(found.begin(), found.end())) {
        return before;
    }
    const auto allocated = [&](EventNumber n) { return analysis.curves().value(Series::allocated, n); };
    return searched > before && allocated(searched) * 2 >= allocated(before) ? searched : before;
}

const OtherEvent* last_out_of_memory(const DeviceHistory& device) {
    const auto found = std::find_if(device.others.rbegin(), device.others.rend(),
                                    [](const OtherEvent& event) { return event.action == Action::oom; });
    return found == device.others.rend() ? nullptr : &*found;
}

/// Events of a typical round.
EventNumber usual_length(const Rounds& rounds) {
    std::vector<EventNumber> lengths;
    for (const Round& round : rounds.all()) {
        lengths.push_back(round.last - round.first);
    }
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    return *middle;
}

/// The search of the heap that speaks best of this moment: the last one before it, or the one after it if that found at
/// least as much (at the program's end its functions have returned, and their variables are gone).
int64_t time_of_search(const GraphTables& tables, int64_t now) {
    const auto after = std::partition_point(tables.scans.begin(), tables.scans.end(),
                                            [&](const HolderScan& scan) { return scan.time < now; });
    if (after == tables.scans.end()) {
        return now;
    }
    const auto position = static_cast<size_t>(after - tables.scans.begin());
    const std::vector<size_t> found = found_by_searches(tables);
    return position == 0 || found[position] >= found[position - 1] ? after->time : now;
}

}  // namespace

GraphCase::GraphCase(std::shared_ptr<const Graph> whole, int64_t time, int64_t search_time)
    : graph(std::move(whole)),
      index(graph->index),
      categories(graph->categories),
      moment(index, categories, time),
      holders(index, search_time),
      searched(index, categories, holders.scan() ? holders.scan()->time : time),
      groups(holder_groups(searched, holders)) {
    for (size_t group = 0; group < groups.size(); ++group) {
        for (const uint32_t holder : groups[group].holders) {
            group_of_holder.emplace(holder, group);
        }
    }
}

bool GraphCase::was_searched(AllocationRef allocation) const {
    return holders.scan() &&
           index.trace().devices[allocation.device].alloc_time(allocation.index) <= holders.scan()->time;
}

const HolderGroup* GraphCase::group_of(const Holder* holder) const {
    if (!holder) {
        return nullptr;
    }
    const auto found = group_of_holder.find(static_cast<uint32_t>(holder - tables().holders.data()));
    return found == group_of_holder.end() ? nullptr : &groups[found->second];
}

Case::Case(std::shared_ptr<const Analysis> analysis, std::shared_ptr<const Graph> graph)
    : analysis_(std::move(analysis)), ledger_(analysis_), rounds_(trace(), device()) {
    device_position_ = static_cast<uint32_t>(&device() - trace().devices.data());
    oom_ = last_out_of_memory(device());
    const GraphTables* tables = graph && !graph->tables().empty() ? &graph->tables() : nullptr;
    choose_now(tables);
    find_floor();
    look_behind_the_steps();
    row_ = ledger_.at(now_);
    survivors_ = Survivors(trace(), device(), rounds_, now_);
    if (tables) {
        const int64_t search = time_of_search(*tables, now_time_);
        graph_ = std::make_unique<GraphCase>(std::move(graph), now_time_, search);
    }
    piles_ = find_piles(survivors_, rounds_, graph_.get(), device(), device_position_);
}

void Case::choose_now(const GraphTables* tables) {
    now_ = before_last_frees(device());
    const bool counts_rounds = !rounds_.empty() && rounds_.source() != RoundSource::repetition;
    const EventNumber last = counts_rounds ? rounds_.all().back().last : 0;
    if (last > 0 && now_ - last < usual_length(rounds_)) {
        now_ = last;
    } else {
        now_ = end_of_work(*analysis_, tables);
    }
    if (rounds_.source() == RoundSource::repetition) {
        rounds_.end_at(now_);
    }
    if (oom_ && device().event_count() - oom_->event <= std::max(now_ / 10, 1000)) {
        now_ = oom_->event + 1;
    }
    now_time_ = device().time_of_state(now_);
}

void Case::look_behind_the_steps() {
    if (rounds_.source() != RoundSource::steps && rounds_.source() != RoundSource::marks) {
        return;
    }
    const EventNumber end = rounds_.all().back().last;
    if (trend_.shape == Shape::rising || now_ - end < device().event_count() / 10) {
        return;
    }
    Rounds behind(trace(), device(), end, now_);
    std::swap(rounds_, behind);
    find_floor();
    if (trend_.shape != Shape::rising) {
        std::swap(rounds_, behind);
        find_floor();
    }
}

void Case::find_floor() {
    floor_.clear();
    for (const Round& round : rounds_.all()) {
        const EventNumber first = std::min(round.first + 1, round.last);
        floor_.push_back(curves().extremes(Series::allocated, first, round.last).min);
    }
    trend_ = find_trend(floor_);
}

std::vector<int64_t> Case::peaks(Series series) const {
    std::vector<int64_t> values;
    for (const Round& round : rounds_.all()) {
        values.push_back(curves().extremes(series, round.first, round.last).max);
    }
    return values;
}

}  // namespace tidemark
