// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/referrer_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "storage/base/parse_number.h"
#include "storage/graph/pooled_arrays.h"

namespace tidemark {
namespace {

constexpr size_t most_groups = 252;

/// Returns the number of a link of kind "index"; nothing for other links.
std::optional<int64_t> index_of(const GraphTables& tables, const PathLink& link) {
    return link.kind == PathLinkKind::index ? parse_number<int64_t>(tables.texts[link.name]) : std::nullopt;
}

/// Returns the same text for paths that differ only in indices and in the sizes of views.
std::string shape_of(const GraphTables& tables, const Referrer& referrer) {
    std::string shape;
    for (const PathLink& link : referrer.links) {
        const uint32_t name = index_of(tables, link) || link.kind == PathLinkKind::view ? 0 : link.name;
        shape += fmt::format("{} {} {} {} {}\n", word_of(link.kind), name, link.function, link.file, link.line);
    }
    return shape;
}

/// Finds the outermost index in which the paths differ, or the innermost index if all paths are equal.
void find_range(const GraphTables& tables, ReferrerGroup& group) {
    for (size_t position = 0; position < group.links.size(); ++position) {
        if (!index_of(tables, group.links[position])) {
            continue;
        }
        std::pair range(INT64_MAX, INT64_MIN);
        for (const uint32_t referrer : group.referrers) {
            const int64_t index = index_of(tables, tables.referrers[referrer].links[position]).value_or(0);
            range = {std::min(range.first, index), std::max(range.second, index)};
        }
        group.varying = position;
        std::tie(group.first_index, group.last_index) = range;
        if (range.first < range.second) {
            return;
        }
    }
}

bool is_place_in_container(const PathLink& link) {
    return link.kind == PathLinkKind::index || link.kind == PathLinkKind::item || link.kind == PathLinkKind::element;
}

std::set<uint32_t> places_at(std::span<const Referrer* const> paths, size_t position) {
    std::set<uint32_t> places;
    for (const Referrer* path : paths) {
        places.insert(path->links[position].name);
    }
    return places;
}

/// Returns whether old and new memory are in different places of the container to which the link at `position` belongs.
bool fills(std::span<const Referrer* const> by_age, size_t position) {
    const std::set<uint32_t> old = places_at(by_age.first(by_age.size() / 2), position);
    const std::set<uint32_t> recent = places_at(by_age.subspan(by_age.size() / 2), position);
    const auto shared = static_cast<size_t>(
        std::count_if(old.begin(), old.end(), [&](uint32_t place) { return recent.contains(place); }));
    return 2 * shared < std::min(old.size(), recent.size());
}

/// Returns what fills if no place on the path does: the first container after the last hook, or the hooks themselves,
/// of which each has one object for itself. Nothing if there is no hook.
std::optional<size_t> filled_by_hooks(const std::vector<PathLink>& links) {
    const auto hook = std::find_if(links.rbegin(), links.rend(),
                                   [](const PathLink& link) { return link.kind == PathLinkKind::hook; });
    if (hook == links.rend()) {
        return std::nullopt;
    }
    const auto place = std::find_if(hook.base(), links.end(), is_place_in_container);
    return static_cast<size_t>((place == links.end() ? hook.base() - 1 : place) - links.begin());
}

/// Returns the position of the link into the container that fills; nothing if it is unknown. Hooks and elements of a
/// set have no place: if no other container on the path fills, the hooks do, or what they fill, or the set.
std::optional<size_t> filled_at(std::span<const Referrer* const> by_age) {
    const std::vector<PathLink>& links = by_age.back()->links;
    std::optional<size_t> set;
    for (size_t i = 1; i < links.size() && links[i].kind != PathLinkKind::exception; ++i) {
        if (is_place_in_container(links[i]) && fills(by_age, i)) {
            return i;
        }
        if (links[i].kind == PathLinkKind::element && !set) {
            set = i;
        }
    }
    if (by_age.size() <= 1) {
        return std::nullopt;
    }
    // The keys of an optimizer's state are elements, too, and the hooks of such a parameter lie behind them.
    const std::optional<size_t> of_hooks = filled_by_hooks(links);
    return of_hooks ? of_hooks : set;
}

/// Returns whether only nodes of the graph refer to the tensor, because they saved it. C++ is the only referrer of such
/// tensors.
bool is_the_graphs_own(const GraphState& state, const Referrer& referrer) {
    if (referrer.links.empty() || !is_native(referrer)) {
        return false;
    }
    const auto parents = referrer.node == no_node ? std::span<const NodeIndex>() : state.index().parents(referrer.node);
    return std::any_of(parents.begin(), parents.end(), [&](NodeIndex parent) { return state.is_alive(parent); }) ||
           (referrer.allocation && !state.retainers(referrer.allocation).empty());
}

/// Returns the same key for all referrers of one tensor.
uint64_t key_of(const Referrer& referrer) {
    return referrer.allocation ? memory_key(referrer.allocation) : ~uint64_t{referrer.node};
}

/// Returns whether the scan had limits, so that it may have missed what there was.
bool is_limited(const HeapScan& scan) {
    return scan.reason == ScanReason::mark || scan.reason == ScanReason::memory_grows ||
           scan.reason == ScanReason::growing_sites;
}

/// What the scans found last, by key_of().
struct Latest {
    std::unordered_map<uint64_t, uint32_t> scan;   ///< the last scan that found the tensor
    std::unordered_map<uint64_t, uint32_t> named;  ///< the last path that starts at a name and leads through an object
};

Latest latest_of(const GraphTables& tables, uint32_t last_scan) {
    Latest latest;
    for (uint32_t h = 0; h < tables.referrers.size() && tables.referrers[h].scan <= last_scan; ++h) {
        const Referrer& referrer = tables.referrers[h];
        if (retains_pooled_arrays(referrer)) {
            continue;
        }
        latest.scan[key_of(referrer)] = referrer.scan;
        if (has_name(referrer) && referrer.links.size() > 1) {
            latest.named[key_of(referrer)] = h;
        }
    }
    return latest;
}

}  // namespace

bool append_link(std::string& text, const GraphTables& tables, const PathLink& link) {
    const std::string& name = tables.texts[link.name];
    if (link.kind == PathLinkKind::attribute) {
        text += '.' + name;
    } else if (link.kind == PathLinkKind::item) {
        // Strings were recorded with their quotes.
        const bool is_quoted =
            name.size() > 1 && (name.front() == '\'' || name.front() == '"') && name.ends_with(name.front());
        text += is_quoted ? fmt::format("[{}]", name) : fmt::format("[{:?}]", name);
    } else if (link.kind == PathLinkKind::index) {
        text += fmt::format("[{}]", name);
    } else if (text.empty() && !name.empty()) {
        text = name;
    } else {
        return false;
    }
    return true;
}

bool is_native(const Referrer& referrer) {
    return referrer.links.empty() || referrer.links.front().kind == PathLinkKind::native;
}

bool is_cycle(const Referrer& referrer) {
    return !referrer.links.empty() && referrer.links.front().kind == PathLinkKind::cycle;
}

const PathLink* hook_on_cycle(const Referrer& referrer) {
    const bool is_hook = is_native(referrer) && referrer.links.size() > 1 &&
                         referrer.links[1].kind == PathLinkKind::hook && referrer.links[1].function != 0;
    return is_hook ? &referrer.links[1] : nullptr;
}

bool has_name(const Referrer& referrer) { return !is_native(referrer) && !is_cycle(referrer); }

bool is_variable(const Referrer& referrer) {
    return referrer.links.size() == 1 &&
           (referrer.links[0].kind == PathLinkKind::local || referrer.links[0].kind == PathLinkKind::global);
}

bool is_view(const Referrer& referrer) {
    return !referrer.links.empty() && referrer.links.back().kind == PathLinkKind::view;
}

bool leads_through_exception(const Referrer& referrer) {
    return std::any_of(referrer.links.begin(), referrer.links.end(),
                       [](const PathLink& link) { return link.kind == PathLinkKind::exception; });
}

ReferrerIndex::ReferrerIndex(const GraphIndex& index, int64_t time) : index_(index) {
    const auto& scans = index.tables().scans;
    if (scans.empty()) {
        return;
    }
    const auto after = std::upper_bound(scans.begin(), scans.end(), time,
                                        [](int64_t t, const HeapScan& scan) { return t < scan.began(); });
    scan_ = static_cast<uint32_t>(after == scans.begin() ? 0 : after - scans.begin() - 1);
    uint32_t complete = *scan_;
    while (complete > 0 && is_limited(scans[complete])) {
        --complete;
    }
    const Latest latest = latest_of(index.tables(), *scan_);
    const auto& referrers = index.tables().referrers;
    for (uint32_t h = 0; h < referrers.size() && referrers[h].scan <= *scan_; ++h) {
        if (retains_pooled_arrays(referrers[h])) {
            continue;  // of no tensor
        }
        const uint64_t key = key_of(referrers[h]);
        const bool is_missed = referrers[h].scan < complete;
        if (referrers[h].scan != latest.scan.at(key) ||
            (is_missed && !(counts_if_missed(referrers[h]) && is_alive(referrers[h], time)))) {
            continue;
        }
        // A hook retains the tensor whatever variable referred to it, too, while its function ran.
        const bool is_whole = has_name(referrers[h]) || hook_on_cycle(referrers[h]);
        const auto better = is_whole ? latest.named.end() : latest.named.find(key);
        use(better == latest.named.end() ? h : better->second);
    }
}

/// A complete scan finds what only C++ or a cycle retains, unless the program has frozen it since then.
bool ReferrerIndex::counts_if_missed(const Referrer& referrer) const {
    const HeapScan& scan = index_.tables().scans[referrer.scan];
    return scan.reason == ScanReason::growing_sites || (is_limited(scan) && has_name(referrer));
}

bool ReferrerIndex::is_alive(const Referrer& referrer, int64_t time) const {
    if (!referrer.allocation) {
        return false;
    }
    const DeviceHistory& device = index_.trace().devices[referrer.allocation.device];
    return device.allocations.free_event[referrer.allocation.index] >= device.events_until(time);
}

void ReferrerIndex::use(uint32_t referrer) {
    const Referrer& used = index_.tables().referrers[referrer];
    referrers_.push_back(referrer);
    if (used.node != no_node) {
        by_node_.try_emplace(used.node, referrer);
    }
    if (used.allocation) {
        by_memory_.try_emplace(memory_key(used.allocation), referrer);
    }
}

const HeapScan* ReferrerIndex::scan() const { return scan_ ? &index_.tables().scans[*scan_] : nullptr; }

const Referrer* ReferrerIndex::of(NodeIndex node) const {
    if (const auto found = by_node_.find(node); found != by_node_.end()) {
        return &index_.tables().referrers[found->second];
    }
    return node == no_node ? nullptr : of(index_.tables().nodes.output[node]);
}

const Referrer* ReferrerIndex::of(AllocationRef allocation) const {
    const auto found = allocation ? by_memory_.find(memory_key(allocation)) : by_memory_.end();
    return found == by_memory_.end() ? nullptr : &index_.tables().referrers[found->second];
}

std::vector<ReferrerGroup> referrer_groups(const GraphState& state, const ReferrerIndex& referrers) {
    const GraphTables& tables = state.index().tables();
    std::map<std::string, ReferrerGroup> by_shape;
    for (const uint32_t h : referrers.referrers()) {
        if (is_the_graphs_own(state, tables.referrers[h])) {
            continue;
        }
        by_shape[shape_of(tables, tables.referrers[h])].referrers.push_back(h);
    }
    std::vector<ReferrerGroup> groups;
    groups.reserve(by_shape.size());
    for (auto& [shape, group] : by_shape) {
        groups.push_back(std::move(group));
    }
    std::stable_sort(groups.begin(), groups.end(), [](const ReferrerGroup& a, const ReferrerGroup& b) {
        return a.referrers.size() > b.referrers.size();
    });
    groups.resize(std::min(groups.size(), most_groups));

    std::vector<ReferrerTargets> targets;
    for (ReferrerGroup& group : groups) {
        group.links = tables.referrers[group.referrers.front()].links;
        group.count = static_cast<int64_t>(group.referrers.size());
        find_range(tables, group);
        ReferrerTargets& own_targets = targets.emplace_back();
        std::set<uint64_t> memory;
        for (const uint32_t h : group.referrers) {
            const Referrer& referrer = tables.referrers[h];
            if (referrer.node != no_node) {
                own_targets.nodes.push_back(referrer.node);
            }
            if (referrer.allocation && memory.insert(memory_key(referrer.allocation)).second) {
                own_targets.allocations.push_back(referrer.allocation);
            }
        }
        group.allocations = static_cast<int64_t>(memory.size());
    }
    const std::vector<Reachable> reachable = state.reachable_from(targets);
    for (size_t g = 0; g < groups.size(); ++g) {
        groups[g].nodes = reachable[g].nodes;
        groups[g].reachable_bytes = reachable[g].bytes;
        groups[g].freed_bytes = reachable[g].freed_bytes;
    }
    std::stable_sort(groups.begin(), groups.end(), [](const ReferrerGroup& a, const ReferrerGroup& b) {
        return a.reachable_bytes > b.reachable_bytes;
    });
    return groups;
}

ReferrerGroup growth_group(const GraphTables& tables, std::span<const Referrer* const> by_age) {
    ReferrerGroup group;
    group.is_growth = true;
    group.links = by_age.back()->links;
    group.count = static_cast<int64_t>(by_age.size());
    group.varying = filled_at(by_age);
    std::pair range(INT64_MAX, INT64_MIN);
    for (const Referrer* path : by_age) {
        const auto index = group.varying ? index_of(tables, path->links[*group.varying]) : std::nullopt;
        range = {std::min(range.first, index.value_or(INT64_MAX)), std::max(range.second, index.value_or(INT64_MIN))};
    }
    if (range.first <= range.second) {
        std::tie(group.first_index, group.last_index) = range;
    }
    // Several containers fill: that of each user, say.
    for (size_t position = 0; position < group.varying.value_or(0); ++position) {
        if (is_place_in_container(group.links[position]) && places_at(by_age, position).size() > 1) {
            group.links[position].kind = PathLinkKind::element;
            group.links[position].name = 0;
        }
    }
    return group;
}

ReferrerGroup group_of(const GraphTables& tables, const Referrer& referrer) {
    ReferrerGroup alone;
    alone.links = referrer.links;
    for (size_t position = 0; position < referrer.links.size(); ++position) {
        if (const auto index = index_of(tables, referrer.links[position])) {
            alone.varying = position;
            alone.first_index = alone.last_index = *index;
        }
    }
    return alone;
}

}  // namespace tidemark
