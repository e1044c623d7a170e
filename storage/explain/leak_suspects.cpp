// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/leak_suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "storage/explain/analysis_context.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr size_t samples_per_site = 5;
constexpr size_t fewest_iterations = 3;
constexpr size_t most_roots_counted = 4096;

/// Returns the same key for all tensors that one variable, container or exception retains. Ignores elements, keys, and
/// variables of an exception's frames.
std::string referrer_key(const Referrer& referrer) {
    std::string key;
    for (const PathLink& link : referrer.links) {
        if (link.kind == PathLinkKind::exception) {
            return key + word_of(link.kind);
        }
        key += fmt::format("{} {} {} {}\n", word_of(link.kind), is_element(link) ? 0 : link.name, link.function,
                           link.file);
    }
    return key;
}

std::string site_key(const Site& site) { return fmt::format("site {} {}", site.stack, site.origin); }

std::string key_of(const Site& site, const Retention& retention, const GraphContext& graph, AllocationRef allocation) {
    if (retention.referrer) {
        return referrer_key(*retention.referrer);
    }
    if (graph.was_scanned(allocation)) {
        return "nobody";
    }
    if (retention.through_graph) {
        return fmt::format("graph {} {}", graph.tables().nodes.type[retention.root],
                           static_cast<int>(retention.root_state));
    }
    return site_key(site);
}

/// Returns allocations spread over the site's lifetime, without the newest one, which may be work in progress. With a
/// heap scan, returns only allocations that the scan could find.
std::vector<AllocationIndex> sample(const Site& site, const GraphContext* graph, uint32_t device) {
    size_t usable = site.now.size() > 2 ? site.now.size() - 1 : site.now.size();
    if (graph) {
        const auto begin = site.now.begin(), end = begin + static_cast<std::ptrdiff_t>(usable);
        const auto unseen = std::partition_point(begin, end, [&](AllocationIndex a) {
            return graph->was_scanned({device, a});
        });
        usable = unseen == begin ? usable : static_cast<size_t>(unseen - begin);
    }
    std::vector<AllocationIndex> selected;
    for (size_t i = 0; i < std::min(samples_per_site, usable); ++i) {
        selected.push_back(site.now[(usable - 1) - i * usable / samples_per_site]);
    }
    return selected;
}

struct SampledRetention {
    AllocationRef allocation;
    Retention retention;
    std::string key;
};

/// Returns how most of the site's samples are retained.
SampledRetention typical_retention(const Site& site, const GraphContext& graph, uint32_t device) {
    std::vector<SampledRetention> all;
    std::map<std::string, int> votes;
    for (const AllocationIndex a : sample(site, &graph, device)) {
        const AllocationRef allocation{device, a};
        const Retention retention = retention_of(graph, allocation);
        all.push_back({allocation, retention, key_of(site, retention, graph, allocation)});
        // A known referrer counts more than an unknown one.
        votes[all.back().key] += retention.referrer || retention.through_graph ? 2 : 1;
    }
    const auto most = std::max_element(
        all.begin(), all.end(),
        [&](const SampledRetention& a, const SampledRetention& b) { return votes[a.key] < votes[b.key]; });
    // Selects one from the middle, because both ends are less typical.
    const std::string key = most->key;
    const auto alike =
        std::stable_partition(all.begin(), all.end(), [&](const SampledRetention& one) { return one.key == key; });
    return all[static_cast<size_t>((alike - all.begin()) / 2)];
}

/// Returns whether an allocation of a site belongs to the suspect. A workspace of the first pass does not belong. A
/// heap scan cannot find allocations made around it or later, so they count like earlier ones.
bool belongs(const LeakSuspect& suspect, const GraphContext& graph, AllocationRef allocation, EventNumber sure_before) {
    if (graph.categories.at(allocation, graph.state.time()) == Category::workspace) {
        return false;
    }
    const EventNumber made = graph.index.trace().devices[allocation.device].allocations.alloc_event[allocation.index];
    return !suspect.referrer || made >= sure_before || graph.referrers.in_python(allocation) ||
           !graph.state.retainers(allocation).empty();
}

/// Returns the state before which the heap scan could find allocations: one iteration before the scan.
EventNumber scanned_before(const GraphContext& graph, const Iterations& iterations, const DeviceHistory& device) {
    if (!graph.referrers.scan() || iterations.empty()) {
        return 0;
    }
    const int64_t iteration = iterations.at(device.events_until(graph.referrers.scan()->time)) - 1;
    return iteration < 0 ? 0 : iterations[std::min(static_cast<size_t>(iteration), iterations.size() - 1)].first;
}

/// Recognizes work in progress: allocated in the last iteration, and freed long before the remaining memory of earlier
/// iterations.
class WorkInProgress {
public:
    WorkInProgress(const Site& site, const Iterations& iterations, const Allocations& allocations)
        : allocations_(allocations), begin_(iterations.empty() ? never : iterations.all().back().first) {
        for (const AllocationIndex a : site.now) {
            left_ = allocations.alloc_event[a] < begin_ ? allocations.free_event[a] : left_;
        }
        // A container that is destroyed frees all its contents within a few events.
        at_once_ = std::max<int64_t>(16, 4 * site.count);
    }

    bool has(AllocationIndex a) const {
        const EventNumber freed = allocations_.free_event[a];
        return allocations_.alloc_event[a] >= begin_ && freed != never && int64_t{left_} - freed > at_once_;
    }

private:
    const Allocations& allocations_;
    EventNumber begin_;     ///< of the last iteration
    EventNumber left_ = 0;  ///< state in which the newest allocation of the earlier iterations is freed
    int64_t at_once_ = 0;
};

struct Grown {
    int64_t bytes = 0, count = 0;
};

/// Returns the allocations that belong to the suspect if the site lists all its allocations; otherwise, and without a
/// graph, the rise.
Grown grown_at(const Site& site, const LeakSuspect& suspect, const Iterations& iterations, const GraphContext* graph,
               const DeviceHistory& device, uint32_t position) {
    Grown grown;
    if (graph && site.count == static_cast<int64_t>(site.now.size())) {
        const EventNumber sure_before = scanned_before(*graph, iterations, device);
        const WorkInProgress in_progress(site, iterations, device.allocations);
        for (const AllocationIndex a : site.now) {
            if (belongs(suspect, *graph, {position, a}, sure_before) && !in_progress.has(a)) {
                grown.bytes += static_cast<int64_t>(device.allocations.block_size[a]);
                ++grown.count;
            }
        }
        return grown;
    }
    const auto slices = static_cast<double>(site.level.size());
    grown.bytes = std::min<int64_t>(site.bytes, std::llround(site.trend.per_iteration * slices));
    const double share = static_cast<double>(grown.bytes) / static_cast<double>(site.bytes);
    grown.count = std::llround(static_cast<double>(site.count) * share);
    return grown;
}

void add_site(LeakSuspect& suspect, const Site& site, size_t iterations_per_slice) {
    suspect.sites.push_back(&site);
    suspect.per_iteration += std::llround(site.trend.per_iteration / static_cast<double>(iterations_per_slice));
    const size_t since = site.trend.since * iterations_per_slice;
    suspect.since = suspect.sites.size() == 1 ? since : std::min(suspect.since, since);
}

int64_t count_roots(const LeakSuspect& suspect, const GraphContext& graph, uint32_t device) {
    std::set<NodeIndex> roots;
    size_t asked = 0;
    for (const Site* site : suspect.sites) {
        for (const AllocationIndex a : site->now) {
            if (asked++ == most_roots_counted) {
                return static_cast<int64_t>(roots.size());
            }
            if (const Retention retention = retention_of(graph, {device, a}); retention.root != no_node) {
                roots.insert(retention.root);
            }
        }
    }
    return static_cast<int64_t>(roots.size());
}

void update_retention(LeakSuspect& suspect, const SampledRetention& sampled) {
    // A retention path through the graph is more informative than a referrer that also refers to the tensor itself.
    if (suspect.sites.size() == 1 || (sampled.retention.through_graph && !suspect.retention.through_graph)) {
        suspect.retention = sampled.retention;
        suspect.example = sampled.allocation;
    }
}

/// Returns whether the alive allocations come from at least this many iterations. A single tensor that becomes larger
/// is no suspect.
bool is_of_many_iterations(const Site& site, const Iterations& iterations, const DeviceHistory& device) {
    size_t count = 0;
    int64_t before = -2;
    for (const AllocationIndex a : site.now) {
        const int64_t iteration = iterations.at(device.allocations.alloc_event[a]);
        count += iteration != before;
        before = iteration;
        if (count == fewest_iterations) {
            return true;
        }
    }
    return false;
}

/// Returns whether the site's memory is a workspace. cuBLAS has one workspace per stream; library_workspace reports
/// them.
bool is_of_workspaces(const Site& site, const GraphContext& graph, uint32_t position) {
    const AllocationRef newest{position, site.now.back()};
    return graph.categories.at(newest, graph.state.time()) == Category::workspace;
}

std::vector<const Site*> rising_sites(const SurvivingAllocations& surviving_allocations, const Iterations& iterations,
                                      const GraphContext* graph, const DeviceHistory& device, uint32_t position) {
    std::vector<const Site*> rising;
    for (const Site& site : surviving_allocations.sites()) {
        if (site.trend.shape == Shape::rising && site.count > 0 && is_of_many_iterations(site, iterations, device) &&
            !(graph && is_of_workspaces(site, *graph, position))) {
            rising.push_back(&site);
        }
    }
    std::sort(rising.begin(), rising.end(),
              [](const Site* a, const Site* b) { return a->trend.per_iteration > b->trend.per_iteration; });
    return rising;
}

void finish(LeakSuspect& suspect, const Iterations& iterations, const GraphContext* graph, const DeviceHistory& device,
            uint32_t position) {
    suspect.since = std::min(suspect.since, iterations.size() - 1);
    suspect.referrer = suspect.retention.referrer;
    for (const Site* site : suspect.sites) {
        const Grown grown = grown_at(*site, suspect, iterations, graph, device, position);
        suspect.bytes += grown.bytes;
        suspect.count += grown.count;
    }
    if (graph && suspect.through_graph()) {
        suspect.root_type = graph->tables().nodes.type[suspect.retention.root];
        suspect.roots = count_roots(suspect, *graph, position);
    }
}

}  // namespace

Retention retention_of(const GraphContext& graph, AllocationRef allocation) {
    Retention retention;
    if (const Referrer* referrer = graph.referrers.of(allocation)) {
        (is_native(*referrer) ? retention.native : retention.referrer) = referrer;
    }
    for (const uint32_t saved : graph.state.retainers(allocation)) {
        const NodeIndex retainer = graph.index.saver(saved);
        const NodeIndex root = graph.state.root_of(retainer);
        // The variable that refers to the root now may have referred to another root at the scan.
        const Referrer* referrer = graph.referrers.in_python(graph.scanned.root_of(retainer));
        if (retention.retainer == no_node || (referrer && !retention.referrer)) {
            const int64_t time = graph.state.time();
            retention.through_graph = true;
            retention.retainer = retainer;
            retention.root = root;
            retention.root_state = graph.index.state(root, time);
            retention.retainer_state = graph.index.state(retainer, time);
            retention.referrer = retention.referrer ? retention.referrer : referrer;
        }
    }
    return retention;
}

std::vector<LeakSuspect> find_suspects(const SurvivingAllocations& surviving_allocations, const Iterations& iterations,
                                       const GraphContext* graph, const DeviceHistory& device, uint32_t position) {
    std::map<std::string, LeakSuspect> by_key;
    for (const Site* site : rising_sites(surviving_allocations, iterations, graph, device, position)) {
        SampledRetention sampled{{position, sample(*site, graph, position).front()}, {}, site_key(*site)};
        if (graph) {
            sampled = typical_retention(*site, *graph, position);
        }
        LeakSuspect& suspect = by_key[sampled.key];
        add_site(suspect, *site, surviving_allocations.iterations_per_slice());
        update_retention(suspect, sampled);
    }
    std::vector<LeakSuspect> suspects;
    for (auto& [key, suspect] : by_key) {
        finish(suspect, iterations, graph, device, position);
        suspects.push_back(std::move(suspect));
    }
    std::sort(suspects.begin(), suspects.end(),
              [](const LeakSuspect& a, const LeakSuspect& b) { return a.per_iteration > b.per_iteration; });
    return suspects;
}

}  // namespace tidemark
