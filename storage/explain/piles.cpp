#include "storage/explain/piles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "storage/explain/case.h"

namespace tidemark {
namespace {

constexpr size_t samples_per_site = 5;
constexpr size_t most_roots_counted = 4096;

/// The same for whatever the same variable, container or frame holds: elements and keys do not tell apart.
std::string holder_key(const Holder& holder) {
    std::string key;
    for (const HolderLink& link : holder.links) {
        const bool is_element = link.kind == "index" || link.kind == "item" || link.kind == "element";
        key += fmt::format("{} {} {} {}\n", link.kind, is_element ? 0 : link.name, link.function, link.file);
    }
    return key;
}

bool is_native(const Holder& holder) { return holder.links.empty() || holder.links.front().kind == "native"; }

std::string key_of(const Site& site, const Hold& hold, const GraphTables& tables) {
    if (hold.holder) {
        return holder_key(*hold.holder);
    }
    if (hold.through_graph) {
        return fmt::format("graph {} {}", tables.nodes.type[hold.root], static_cast<int>(hold.root_state));
    }
    return fmt::format("site {} {}", site.stack, site.origin);
}

/// Members spread over the site's life, the very newest left out: it may be of work in progress.
std::vector<AllocationIndex> sample(const Site& site) {
    std::vector<AllocationIndex> chosen;
    const size_t usable = site.now.size() > 2 ? site.now.size() - 1 : site.now.size();
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

/// What holds most of the site's samples; of equals the one seen first.
Sampled usual_hold(const Site& site, const GraphCase& graph, uint32_t device) {
    std::vector<Sampled> all;
    std::map<std::string, int> votes;
    for (const AllocationIndex a : sample(site)) {
        const Hold hold = hold_of(graph, {device, a});
        all.push_back({{device, a}, hold, key_of(site, hold, graph.tables())});
        // Somebody who is known to hold it says more than that nobody was found.
        votes[all.back().key] += hold.holder || hold.through_graph ? 2 : 1;
    }
    return *std::max_element(all.begin(), all.end(),
                             [&](const Sampled& a, const Sampled& b) { return votes[a.key] < votes[b.key]; });
}

void add_site(Pile& pile, const Site& site, size_t rounds_per_slice) {
    const auto slice = static_cast<double>(rounds_per_slice);
    pile.sites.push_back(&site);
    pile.bytes += site.bytes;
    pile.count += site.count;
    pile.per_round += std::llround(site.trend.per_round / slice);
    pile.allocations_per_round +=
        site.trend.per_round / slice / (static_cast<double>(site.bytes) / static_cast<double>(site.count));
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

}  // namespace

Hold hold_of(const GraphCase& graph, AllocationRef allocation) {
    Hold hold;
    if (const Holder* holder = graph.holders.of(allocation)) {
        hold.is_native = is_native(*holder);
        hold.holder = hold.is_native ? nullptr : holder;
    }
    for (const uint32_t saved : graph.moment.keepers(allocation)) {
        const NodeIndex keeper = graph.index.saver(saved);
        const std::vector<NodeIndex> path = graph.moment.path_to(keeper);
        const NodeIndex root = path.empty() ? keeper : path.front();
        const Holder* found = graph.holders.of(root);
        const Holder* holder = found && !is_native(*found) ? found : nullptr;
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
                             uint32_t device) {
    std::vector<const Site*> rising;
    for (const Site& site : survivors.sites()) {
        if (site.trend.shape == Shape::rising && site.count > 0) {
            rising.push_back(&site);
        }
    }
    std::sort(rising.begin(), rising.end(),
              [](const Site* a, const Site* b) { return a->trend.per_round > b->trend.per_round; });
    std::map<std::string, Pile> piles;
    for (const Site* site : rising) {
        Sampled sampled{{device, sample(*site).front()}, {}, fmt::format("site {} {}", site->stack, site->origin)};
        if (graph) {
            sampled = usual_hold(*site, *graph, device);
        }
        Pile& pile = piles[sampled.key];
        add_site(pile, *site, survivors.rounds_per_slice());
        take_hold(pile, sampled);
    }
    std::vector<Pile> list;
    for (auto& [key, pile] : piles) {
        pile.since = std::min(pile.since, rounds.size() - 1);
        pile.holder = pile.hold.holder;
        if (graph && pile.through_graph()) {
            pile.root_type = graph->tables().nodes.type[pile.hold.root];
            pile.roots = count_roots(pile, *graph, device);
        }
        list.push_back(std::move(pile));
    }
    std::sort(list.begin(), list.end(), [](const Pile& a, const Pile& b) { return a.per_round > b.per_round; });
    return list;
}

}  // namespace tidemark
