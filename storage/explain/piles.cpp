#include "storage/explain/piles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "storage/explain/case.h"
#include "storage/explain/holder_words.h"

namespace tidemark {
namespace {

constexpr size_t samples_per_site = 5;
constexpr size_t fewest_rounds = 3;
constexpr size_t most_roots_counted = 4096;

/// The same for whatever the same variable, container or exception holds: elements, keys and variables of an
/// exception's frames do not tell apart.
std::string holder_key(const Holder& holder) {
    std::string key;
    for (const HolderLink& link : holder.links) {
        if (link.kind == "exception") {
            return key + link.kind;
        }
        key += fmt::format("{} {} {} {}\n", link.kind, is_element(link) ? 0 : link.name, link.function, link.file);
    }
    return key;
}

NodeIndex root_of(const GraphMoment& moment, NodeIndex node) {
    const std::vector<NodeIndex> path = moment.path_to(node);
    return path.empty() ? node : path.front();
}

std::string site_key(const Site& site) { return fmt::format("site {} {}", site.stack, site.origin); }

std::string key_of(const Site& site, const Hold& hold, const GraphCase& graph, AllocationRef allocation) {
    if (hold.holder) {
        return holder_key(*hold.holder);
    }
    if (graph.was_searched(allocation)) {
        return "nobody";
    }
    if (hold.through_graph) {
        return fmt::format("graph {} {}", graph.tables().nodes.type[hold.root], static_cast<int>(hold.root_state));
    }
    return site_key(site);
}

/// Members spread over the site's life, the very newest left out: it may be of work in progress. Where the program's
/// objects were searched, of those that were there.
std::vector<AllocationIndex> sample(const Site& site, const GraphCase* graph, uint32_t device) {
    size_t usable = site.now.size() > 2 ? site.now.size() - 1 : site.now.size();
    if (graph) {
        const auto begin = site.now.begin(), end = begin + static_cast<std::ptrdiff_t>(usable);
        const auto unseen = std::partition_point(begin, end, [&](AllocationIndex a) {
            return graph->was_searched({device, a});
        });
        usable = unseen == begin ? usable : static_cast<size_t>(unseen - begin);
    }
    std::vector<AllocationIndex> chosen;
    for (size_t i = 0; i < std::min(samples_per_site, usable); ++i) {
        chosen.push_back(site.now[(usable - 1) - i * usable / samples_per_site]);
    }
    return chosen;
}

struct Sampled {
    AllocationRef allocation;
    Hold hold;
    std::string key;
};

/// What holds most of the site's samples.
Sampled usual_hold(const Site& site, const GraphCase& graph, uint32_t device) {
    std::vector<Sampled> all;
    std::map<std::string, int> votes;
    for (const AllocationIndex a : sample(site, &graph, device)) {
        const AllocationRef allocation{device, a};
        const Hold hold = hold_of(graph, allocation);
        all.push_back({allocation, hold, key_of(site, hold, graph, allocation)});
        // Somebody who is known to hold it says more than that nobody was found.
        votes[all.back().key] += hold.holder || hold.through_graph ? 2 : 1;
    }
    const auto most = std::max_element(all.begin(), all.end(),
                                       [&](const Sampled& a, const Sampled& b) { return votes[a.key] < votes[b.key]; });
    // One from the middle: at both ends lies what is not typical.
    const std::string key = most->key;
    const auto alike =
        std::stable_partition(all.begin(), all.end(), [&](const Sampled& one) { return one.key == key; });
    return all[static_cast<size_t>((alike - all.begin()) / 2)];
}

/// What lies at a site but does not pile up (a workspace made at the first pass) is no part of the pile. What was made
/// around the search or later cannot have been found by it: it is like what was made before.
bool belongs(const Pile& pile, const GraphCase& graph, AllocationRef allocation, EventNumber sure_before) {
    if (graph.categories.at(allocation, graph.moment.time()) == Category::workspace) {
        return false;
    }
    const EventNumber made = graph.index.trace().devices[allocation.device].allocations.alloc_event[allocation.index];
    return !pile.holder || made >= sure_before || graph.holders.in_python(allocation) ||
           !graph.moment.keepers(allocation).empty();
}

/// What the search of the heap could have found was made before this state: a round before the search.
EventNumber searched_before(const GraphCase& graph, const Rounds& rounds, const DeviceHistory& device) {
    if (!graph.holders.scan() || rounds.empty()) {
        return 0;
    }
    const int64_t round = rounds.at(device.events_until(graph.holders.scan()->time)) - 1;
    return round < 0 ? 0 : rounds[std::min(static_cast<size_t>(round), rounds.size() - 1)].first;
}

/// Made in the last round, and gone long before what the rounds before left: work in progress.
class InFlight {
public:
    InFlight(const Site& site, const Rounds& rounds, const Allocations& allocations)
        : allocations_(allocations), begin_(rounds.empty() ? never : rounds.all().back().first) {
        for (const AllocationIndex a : site.now) {
            left_ = allocations.alloc_event[a] < begin_ ? allocations.free_event[a] : left_;
        }
        // A container that goes lets go of all it has within a few events.
        at_once_ = std::max<int64_t>(16, 4 * site.count);
    }

    bool has(AllocationIndex a) const {
        const EventNumber freed = allocations_.free_event[a];
        return allocations_.alloc_event[a] >= begin_ && freed != never && int64_t{left_} - freed > at_once_;
    }

private:
    const Allocations& allocations_;
    EventNumber begin_;     ///< of the last round
    EventNumber left_ = 0;  ///< when the newest of the rounds before is freed
    int64_t at_once_ = 0;
};

struct Piled {
    int64_t bytes = 0, count = 0;
};

/// Of a site that lists all it has: what belongs to the pile. Of others, and without a graph: what the rise comes to.
Piled piled_at(const Site& site, const Pile& pile, const Rounds& rounds, const GraphCase* graph,
               const DeviceHistory& device, uint32_t position) {
    Piled piled;
    if (graph && site.count == static_cast<int64_t>(site.now.size())) {
        const EventNumber sure_before = searched_before(*graph, rounds, device);
        const InFlight in_flight(site, rounds, device.allocations);
        for (const AllocationIndex a : site.now) {
            if (belongs(pile, *graph, {position, a}, sure_before) && !in_flight.has(a)) {
                piled.bytes += static_cast<int64_t>(device.allocations.block_size[a]);
                ++piled.count;
            }
        }
        return piled;
    }
    const auto slices = static_cast<double>(site.level.size());
    piled.bytes = std::min<int64_t>(site.bytes, std::llround(site.trend.per_round * slices));
    const double share = static_cast<double>(piled.bytes) / static_cast<double>(site.bytes);
    piled.count = std::llround(static_cast<double>(site.count) * share);
    return piled;
}

void add_site(Pile& pile, const Site& site, size_t rounds_per_slice) {
    pile.sites.push_back(&site);
    pile.per_round += std::llround(site.trend.per_round / static_cast<double>(rounds_per_slice));
    const size_t since = site.trend.since * rounds_per_slice;
    pile.since = pile.sites.size() == 1 ? since : std::min(pile.since, since);
}

int64_t count_roots(const Pile& pile, const GraphCase& graph, uint32_t device) {
    std::set<NodeIndex> roots;
    size_t asked = 0;
    for (const Site* site : pile.sites) {
        for (const AllocationIndex a : site->now) {
            if (asked++ == most_roots_counted) {
                return static_cast<int64_t>(roots.size());
            }
            if (const Hold hold = hold_of(graph, {device, a}); hold.root != no_node) {
                roots.insert(hold.root);
            }
        }
    }
    return static_cast<int64_t>(roots.size());
}

void take_hold(Pile& pile, const Sampled& sampled) {
    // How the graph keeps it says more than that the same holder has the tensor itself as well.
    if (pile.sites.size() == 1 || (sampled.hold.through_graph && !pile.hold.through_graph)) {
        pile.hold = sampled.hold;
        pile.example = sampled.allocation;
    }
}

/// What is alive was made in at least so many rounds; one tensor that happens to be larger each time is no pile.
bool is_of_many_rounds(const Site& site, const Rounds& rounds, const DeviceHistory& device) {
    size_t count = 0;
    int64_t before = -2;
    for (const AllocationIndex a : site.now) {
        const int64_t round = rounds.at(device.allocations.alloc_event[a]);
        count += round != before;
        before = round;
        if (count == fewest_rounds) {
            return true;
        }
    }
    return false;
}

/// cuBLAS takes one for each stream: told elsewhere.
bool is_of_workspaces(const Site& site, const GraphCase& graph, uint32_t position) {
    const AllocationRef newest{position, site.now.back()};
    return graph.categories.at(newest, graph.moment.time()) == Category::workspace;
}

std::vector<const Site*> rising_sites(const Survivors& survivors, const Rounds& rounds, const GraphCase* graph,
                                      const DeviceHistory& device, uint32_t position) {
    std::vector<const Site*> rising;
    for (const Site& site : survivors.sites()) {
        if (site.trend.shape == Shape::rising && site.count > 0 && is_of_many_rounds(site, rounds, device) &&
            !(graph && is_of_workspaces(site, *graph, position))) {
            rising.push_back(&site);
        }
    }
    std::sort(rising.begin(), rising.end(),
              [](const Site* a, const Site* b) { return a->trend.per_round > b->trend.per_round; });
    return rising;
}

void finish(Pile& pile, const Rounds& rounds, const GraphCase* graph, const DeviceHistory& device, uint32_t position) {
    pile.since = std::min(pile.since, rounds.size() - 1);
    pile.holder = pile.hold.holder;
    for (const Site* site : pile.sites) {
        const Piled piled = piled_at(*site, pile, rounds, graph, device, position);
        pile.bytes += piled.bytes;
        pile.count += piled.count;
    }
    if (graph && pile.through_graph()) {
        pile.root_type = graph->tables().nodes.type[pile.hold.root];
        pile.roots = count_roots(pile, *graph, position);
    }
}

}  // namespace

Hold hold_of(const GraphCase& graph, AllocationRef allocation) {
    Hold hold;
    if (const Holder* holder = graph.holders.of(allocation)) {
        (is_native(*holder) ? hold.native : hold.holder) = holder;
    }
    for (const uint32_t saved : graph.moment.keepers(allocation)) {
        const NodeIndex keeper = graph.index.saver(saved);
        const NodeIndex root = root_of(graph.moment, keeper);
        // The variable that holds the root now may have held another one when it was found.
        const Holder* holder = graph.holders.in_python(root_of(graph.searched, keeper));
        if (hold.keeper == no_node || (holder && !hold.holder)) {
            const int64_t time = graph.moment.time();
            hold.through_graph = true;
            hold.keeper = keeper;
            hold.root = root;
            hold.root_state = graph.index.state(root, time);
            hold.keeper_state = graph.index.state(keeper, time);
            hold.holder = hold.holder ? hold.holder : holder;
        }
    }
    return hold;
}

std::vector<Pile> find_piles(const Survivors& survivors, const Rounds& rounds, const GraphCase* graph,
                             const DeviceHistory& device, uint32_t position) {
    std::map<std::string, Pile> by_key;
    for (const Site* site : rising_sites(survivors, rounds, graph, device, position)) {
        Sampled sampled{{position, sample(*site, graph, position).front()}, {}, site_key(*site)};
        if (graph) {
            sampled = usual_hold(*site, *graph, position);
        }
        Pile& pile = by_key[sampled.key];
        add_site(pile, *site, survivors.rounds_per_slice());
        take_hold(pile, sampled);
    }
    std::vector<Pile> piles;
    for (auto& [key, pile] : by_key) {
        finish(pile, rounds, graph, device, position);
        piles.push_back(std::move(pile));
    }
    std::sort(piles.begin(), piles.end(), [](const Pile& a, const Pile& b) { return a.per_round > b.per_round; });
    return piles;
}

}  // namespace tidemark
