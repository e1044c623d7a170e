// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/graph_growth.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tidemark {
namespace {

constexpr int64_t slices_without_steps = 100;
constexpr size_t most_types = 64, most_root_groups = 252;

std::vector<GraphSlice> slices_of(const Trace& trace) {
    std::vector<GraphSlice> slices;
    int64_t last = INT64_MIN;
    for (size_t s = 0; s < trace.steps.size(); ++s) {
        last = std::max(last, trace.steps[s].end.value_or(trace.duration));
        slices.push_back({static_cast<int32_t>(s), trace.steps[s].start, last});
    }
    for (int64_t s = 0; trace.steps.empty() && s < slices_without_steps; ++s) {
        const auto time = [&](int64_t part) {
            return static_cast<int64_t>(static_cast<double>(trace.duration) * static_cast<double>(part) /
                                        static_cast<double>(slices_without_steps));
        };
        slices.push_back({-1, time(s), s + 1 == slices_without_steps ? trace.duration : time(s + 1)});
    }
    return slices;
}

/// A range of slices: those at whose end an item exists, from `from` up to, but not including, `to`.
struct Span {
    uint32_t from = 0, to = 0;
    bool empty() const { return from >= to; }
    Span within(Span other) const { return {std::max(from, other.from), std::min(to, other.to)}; }
    Span without_first() const { return {from + 1, to}; }
};

/// Sums per slice, built from spans.
class SliceSums {
public:
    explicit SliceSums(size_t slices) : steps_(slices + 1, 0) {}
    void add(Span span, int64_t amount) {
        if (!span.empty()) {
            steps_[span.from] += amount;
            steps_[span.to] -= amount;
        }
    }
    std::vector<int64_t> sums() const {
        std::vector<int64_t> sums(steps_.size() - 1);
        std::partial_sum(steps_.begin(), steps_.end() - 1, sums.begin());
        return sums;
    }

private:
    std::vector<int64_t> steps_;
};

/// Visits the union of spans, piece by piece. Sorts the spans.
template <class Visit>
void for_each_union(std::vector<Span>& spans, Visit&& visit) {
    std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.from < b.from; });
    for (size_t i = 0; i < spans.size();) {
        Span whole = spans[i];
        for (++i; i < spans.size() && spans[i].from <= whole.to; ++i) {
            whole.to = std::max(whole.to, spans[i].to);
        }
        visit(whole);
    }
}

class GrowthFinder {
public:
    explicit GrowthFinder(const Categories& categories)
        : categories_(categories),
          index_(categories.index()),
          nodes_(index_.tables().nodes),
          slices_(slices_of(index_.trace())) {
        for (const GraphSlice& slice : slices_) {
            ends_.push_back(slice.end);
        }
    }
    GraphGrowth find();

private:
    uint32_t slice_at(int64_t time) const {
        return static_cast<uint32_t>(std::lower_bound(ends_.begin(), ends_.end(), time) - ends_.begin());
    }
    void store(const SliceSums& amounts, int64_t GraphSlice::*field) {
        const auto sums = amounts.sums();
        for (size_t s = 0; s < slices_.size(); ++s) {
            slices_[s].*field = sums[s];
        }
    }
    void count_nodes();
    void count_roots();
    void count_reachable();
    void count_reachable(uint32_t device, SliceSums& reachable, SliceSums& older) const;
    std::vector<Span> graph_only_spans(AllocationRef allocation) const;
    std::vector<TypeGrowth> count_types() const;

    const Categories& categories_;
    const GraphIndex& index_;
    const GraphNodes& nodes_;
    std::vector<GraphSlice> slices_;
    std::vector<int64_t> ends_;
    std::vector<Span> alive_;  ///< by node
};

GraphGrowth GrowthFinder::find() {
    count_nodes();
    count_roots();
    count_reachable();
    auto types = count_types();
    return {std::move(slices_), std::move(types)};
}

void GrowthFinder::count_nodes() {
    SliceSums all(slices_.size()), older(slices_.size());
    alive_.reserve(nodes_.size());
    for (NodeIndex node = 0; node < nodes_.size(); ++node) {
        alive_.push_back({slice_at(nodes_.created[node]), slice_at(nodes_.destroyed[node])});
        all.add(alive_.back(), 1);
        older.add(alive_.back().without_first(), 1);
    }
    store(all, &GraphSlice::nodes);
    store(older, &GraphSlice::older_nodes);
}

void GrowthFinder::count_roots() {
    SliceSums roots(slices_.size());
    std::vector<Span> with_parent;
    for (NodeIndex node = 0; node < nodes_.size(); ++node) {
        if (alive_[node].empty()) {
            continue;
        }
        roots.add(alive_[node], 1);
        with_parent.clear();
        for (const NodeIndex parent : index_.parents(node)) {
            if (const Span both = alive_[node].within(alive_[parent]); !both.empty()) {
                with_parent.push_back(both);
            }
        }
        for_each_union(with_parent, [&](Span span) { roots.add(span, -1); });
    }
    store(roots, &GraphSlice::roots);
}

void GrowthFinder::count_reachable() {
    SliceSums reachable(slices_.size()), older(slices_.size());
    for (uint32_t d = 0; d < index_.trace().devices.size(); ++d) {
        count_reachable(d, reachable, older);
    }
    store(reachable, &GraphSlice::reachable_bytes);
    store(older, &GraphSlice::older_reachable_bytes);
}

void GrowthFinder::count_reachable(uint32_t d, SliceSums& reachable, SliceSums& older) const {
    const DeviceHistory& device = index_.trace().devices[d];
    const Allocations& all = device.allocations;
    std::vector<EventNumber> events;
    events.reserve(ends_.size());
    for (const int64_t end : ends_) {
        events.push_back(device.events_until(end));
    }
    const auto slice_after = [&](EventNumber event) {
        return static_cast<uint32_t>(std::upper_bound(events.begin(), events.end(), event) - events.begin());
    };
    std::vector<Span> retained, retained_by_older;
    const auto add = [](std::vector<Span>& to, Span span) {
        if (!span.empty()) {
            to.push_back(span);
        }
    };
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        const auto saved = index_.saved_in({d, a});
        if (saved.empty()) {
            continue;
        }
        const Span allocated{slice_after(all.alloc_event[a]), slice_after(all.free_event[a])};
        const std::vector<Span> owned = graph_only_spans({d, a});
        retained.clear();
        retained_by_older.clear();
        for (const uint32_t s : saved) {
            const NodeIndex node = index_.saver(s);
            const Span alive = alive_[node];
            if (alive.empty()) {
                continue;
            }
            const Span retains{alive.from, std::min(alive.to, slice_at(nodes_.released[node]))};
            for (const Span own : owned) {
                add(retained, retains.within(allocated).within(own));
                add(retained_by_older, retains.without_first().within(allocated).within(own));
            }
        }
        const auto bytes = static_cast<int64_t>(all.block_size[a]);
        for_each_union(retained, [&](Span span) { reachable.add(span, bytes); });
        for_each_union(retained_by_older, [&](Span span) { older.add(span, bytes); });
    }
}

/// Returns the slices in which nothing outside the graph retains the memory.
std::vector<Span> GrowthFinder::graph_only_spans(AllocationRef allocation) const {
    const auto history = categories_.history(allocation);
    std::vector<Span> spans;
    for (size_t i = 0; i < history.size(); ++i) {
        if (!is_retained_outside_graph(history[i].category)) {
            const bool is_last = i + 1 == history.size();
            spans.push_back({i == 0 ? 0 : slice_at(history[i].time),
                             is_last ? static_cast<uint32_t>(slices_.size()) : slice_at(history[i + 1].time)});
        }
    }
    return spans;
}

std::vector<TypeGrowth> GrowthFinder::count_types() const {
    std::vector<std::pair<int64_t, uint32_t>> counts(index_.tables().texts.size());
    for (uint32_t type = 0; type < counts.size(); ++type) {
        counts[type].second = type;
    }
    for (const uint32_t type : nodes_.type) {
        ++counts[type].first;
    }
    std::sort(counts.begin(), counts.end(), std::greater<>());
    std::vector<size_t> place(counts.size(), most_types);
    std::vector<SliceSums> per_type;
    for (size_t i = 0; i < std::min(counts.size(), most_types) && counts[i].first > 0; ++i) {
        place[counts[i].second] = i;
        per_type.emplace_back(slices_.size());
    }
    for (NodeIndex node = 0; node < nodes_.size(); ++node) {
        if (const size_t at = place[nodes_.type[node]]; at < per_type.size()) {
            per_type[at].add(alive_[node], 1);
        }
    }
    std::vector<TypeGrowth> types;
    for (size_t i = 0; i < per_type.size(); ++i) {
        types.push_back({counts[i].second, per_type[i].sums()});
    }
    std::stable_sort(types.begin(), types.end(),
                     [](const TypeGrowth& a, const TypeGrowth& b) { return a.growth() > b.growth(); });
    return types;
}

void find_steps(const GraphIndex& index, NeverExecutedRoots& group) {
    for (const NodeIndex root : group.roots) {
        if (const int32_t step = index.step_of(root); step >= 0) {
            group.first_step = group.first_step < 0 ? step : std::min(group.first_step, step);
            group.last_step = std::max(group.last_step, step);
        }
    }
}

}  // namespace

GraphGrowth graph_growth(const Categories& categories) { return GrowthFinder(categories).find(); }

std::vector<NeverExecutedRoots> roots_never_executed(const GraphState& time_point, const ReferrerIndex& referrers) {
    const GraphIndex& index = time_point.index();
    const GraphNodes& nodes = index.tables().nodes;
    std::map<std::pair<uint32_t, StackId>, NeverExecutedRoots> by_place;
    for (const NodeIndex root : time_point.roots()) {
        if (index.state(root, time_point.time()) == NodeState::never_executed && !index.is_leaf(root)) {
            by_place[{nodes.type[root], nodes.stack[root]}].roots.push_back(root);
        }
    }
    std::vector<NeverExecutedRoots> groups;
    for (auto& [place, group] : by_place) {
        std::tie(group.type, group.stack) = place;
        groups.push_back(std::move(group));
    }
    std::stable_sort(groups.begin(), groups.end(), [](const NeverExecutedRoots& a, const NeverExecutedRoots& b) {
        return a.roots.size() > b.roots.size();
    });
    groups.resize(std::min(groups.size(), most_root_groups));
    std::vector<ReferrerTargets> retains;
    for (NeverExecutedRoots& group : groups) {
        std::sort(group.roots.begin(), group.roots.end());
        find_steps(index, group);
        const auto first_with_referrer = std::find_if(group.roots.begin(), group.roots.end(),
                                                      [&](NodeIndex root) { return referrers.of(root) != nullptr; });
        group.referrer = first_with_referrer == group.roots.end() ? nullptr : referrers.of(*first_with_referrer);
        retains.push_back({group.roots, {}});
    }
    const std::vector<Reachable> reachable = time_point.reachable_from(retains);
    for (size_t g = 0; g < groups.size(); ++g) {
        groups[g].reachable = reachable[g];
    }
    std::stable_sort(groups.begin(), groups.end(), [](const NeverExecutedRoots& a, const NeverExecutedRoots& b) {
        return a.reachable.bytes > b.reachable.bytes;
    });
    return groups;
}

}  // namespace tidemark
