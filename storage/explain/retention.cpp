// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "storage/explain/alike_paths.h"
#include "storage/explain/analysis_context.h"
#include "storage/explain/named_before_end.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

constexpr size_t samples_per_site = 5;
constexpr int64_t fewest_calls = 3;

/// Returns the same key for all tensors that one variable, container or exception retains. Ignores elements, keys,
/// sizes of views, and variables of an exception's frames and of suspended calls.
std::string referrer_key(const Referrer& referrer) {
    std::string key;
    for (const PathLink& link : links_to_tensor(referrer)) {
        if (link.kind == PathLinkKind::exception) {
            return key + word_of(link.kind);
        }
        if (link.kind == PathLinkKind::local && !key.empty()) {
            return key + fmt::format("call {} {}", link.function, link.file);
        }
        key += fmt::format("{} {} {} {}\n", word_of(link.kind), is_element(link) ? 0 : link.name, link.function,
                           link.file);
    }
    return key;
}

std::string key_of(const Retention& retention, const GraphContext& graph, AllocationRef allocation) {
    if (!retention.through_graph && is_retained_outside_graph(graph.categories.at(allocation, graph.state.time()))) {
        return std::string(model_key);
    }
    if (retention.referrer) {
        return referrer_key(*retention.referrer);
    }
    if (!graph.was_scanned(allocation) && retention.through_graph) {
        return fmt::format("graph {} {}", graph.tables().nodes.type[retention.root],
                           static_cast<int>(retention.root_state));
    }
    return std::string(retention.through_graph || retention.native ? native_key : "");
}

/// Returns the referrer of the root that retains this node. The variable that refers to the root now may have referred
/// to another root at the scan.
const Referrer* referrer_of_root(const GraphContext& graph, NodeIndex retainer) {
    const Referrer* at_scan = graph.referrers.of(graph.scanned.root_of(retainer));
    return at_scan && !is_native(*at_scan) ? at_scan : graph.earlier_roots.referrer_above(retainer);
}

/// Drops a referrer that is a variable whose value is the tensor itself: it refers to no other one. What refers to the
/// root of a graph that retains the tensor counts then.
void drop_variable_of_one(Retention& retention, const GraphContext& graph, AllocationRef allocation) {
    if (retention.referrer && retention.referrer == graph.referrers.of(allocation) &&
        is_variable(*retention.referrer)) {
        retention.referrer = retention.through_graph ? referrer_of_root(graph, retention.retainer) : nullptr;
    }
}

/// Returns how many functions of the stack the one with the referrer's variable is away from the innermost one; -1 if
/// it is none of them.
int64_t distance_from_innermost(const GraphContext& graph, StackId stack, const Referrer& referrer) {
    const PathLink& variable = referrer.links.front();
    if (variable.kind == PathLinkKind::global) {
        return std::numeric_limits<int64_t>::max();
    }
    const auto position = position_of_function(graph, graph.index.trace().stacks.frames_of(stack), variable);
    return position ? static_cast<int64_t>(*position) : -1;
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
    const size_t count = std::min(samples_per_site, usable);
    for (size_t i = 0; i < count; ++i) {
        selected.push_back(site.now[(usable - 1) - i * usable / count]);
    }
    return selected;
}

/// Returns an allocation whose path leads into the container in which scans found most of the site's allocations;
/// nothing if they found few in any. Scans with limits find a part of them: that the others are unknown says nothing
/// then.
std::optional<SampledRetention> known_in_container(const Site& site, const GraphContext& graph, uint32_t device) {
    constexpr size_t fewest_in_container = 3;
    std::map<std::string, std::vector<AllocationIndex>> known;
    for (const AllocationIndex a : site.now) {
        const Referrer* referrer = graph.referrers.in_python(AllocationRef{device, a});
        if (referrer && has_name(*referrer)) {
            known[container_key(graph, *referrer)].push_back(a);
        }
    }
    known.erase("");  // variables
    const auto most = std::max_element(known.begin(), known.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (most == known.end() || most->second.size() < fewest_in_container) {
        return std::nullopt;
    }
    const AllocationRef allocation{device, most->second[most->second.size() / 2]};
    Retention retention = retention_of(graph, allocation);
    return SampledRetention{allocation, retention, key_of(retention, graph, allocation), 0, true};
}

/// Returns the paths to the site's allocations, oldest first, as far as they lead the same way as `typical`.
std::vector<const Referrer*> paths_by_age(const GraphContext& graph, const Site& site, const Referrer& typical,
                                          uint32_t device) {
    std::vector<const Referrer*> paths;
    for (const AllocationIndex a : site.now) {
        const Referrer* referrer = retention_of(graph, {device, a}).referrer;
        if (referrer && lead_alike(*referrer, typical)) {
            paths.push_back(referrer);
        }
    }
    return paths;
}

/// Returns whether it stands for links of a long path that the recorder left out: several objects may have the rest.
bool is_left_out(const GraphContext& graph, const PathLink& link) { return graph.text(link.name).starts_with("…"); }

/// Returns the links from the variable of a call or of a context on, if they lead to one tensor of each: by indices and
/// attributes. Elements of sets and results in the cache of a function have no names, and keys of a dict may print
/// alike. Otherwise returns nothing.
std::span<const PathLink> links_to_one_target(const GraphContext& graph, const Referrer& referrer) {
    const PathLink* variable = variable_of_call(referrer);
    if (!variable) {
        return {};
    }
    const auto links = std::span(referrer.links).subspan(static_cast<size_t>(variable - referrer.links.data()));
    const bool is_one = std::all_of(links.begin() + 1, links.end(), [&](const PathLink& link) {
        return link.kind == PathLinkKind::index ||
               (link.kind == PathLinkKind::attribute && !is_cache_of_function(graph.tables(), link) &&
                !is_left_out(graph, link));
    });
    return is_one ? links : std::span<const PathLink>();
}

/// Returns how many calls of one function, not yet returned, or how many contexts retain memory of the site: a scan
/// found as many tensors by exactly the same path from a variable of the function or from a context variable. 0 if
/// there are few.
int64_t count_calls(const Site& site, const GraphContext& graph, uint32_t device, const Referrer& like) {
    const std::span<const PathLink> links = links_to_one_target(graph, like);
    if (links.empty()) {
        return 0;
    }
    const int64_t count = std::count_if(site.now.begin(), site.now.end(), [&](AllocationIndex a) {
        const Referrer* referrer = graph.referrers.of(AllocationRef{device, a});
        return referrer && referrer->scan == like.scan &&
               std::ranges::equal(links_to_one_target(graph, *referrer), links);
    });
    return count < fewest_calls ? 0 : count;
}

/// Returns the same key for all memory that variables of one function, or one context variable, retain.
std::string calls_key(const Referrer& referrer) {
    const PathLink& variable = *variable_of_call(referrer);
    const uint32_t name = is_context_variable(variable) ? variable.name : 0;
    return fmt::format("calls {} {} {}", variable.function, variable.file, name);
}

/// Returns the position of the link into a container that is an attribute of a class of the user whose method is on the
/// stack: `self.results` of the object that allocates is more likely to fill than a container of a library around it.
std::optional<size_t> place_in_own_container(const GraphContext& graph, StackId stack,
                                             const std::vector<PathLink>& links) {
    const StackTable& stacks = graph.index.trace().stacks;
    const std::vector<FrameId> frames = stacks.frames_of(stack);
    const auto has_method = [&](const std::string& owner) {
        return std::any_of(frames.begin(), frames.end(), [&](FrameId id) {
            return stacks.role(id) == FrameRole::user && is_method_of(stacks.string(stacks.frame(id).function), owner);
        });
    };
    for (size_t i = 1; i < links.size() && links[i].kind != PathLinkKind::exception; ++i) {
        const std::string owner = owner_of(graph.tables(), links[i - 1]);
        const bool is_place = links[i].kind == PathLinkKind::index || links[i].kind == PathLinkKind::item;
        if (is_place && !owner.empty() && has_method(owner)) {
            return i;
        }
    }
    return std::nullopt;
}

}  // namespace

Retention retention_of(const GraphContext& graph, AllocationRef allocation) {
    Retention retention;
    if (const Referrer* referrer = graph.referrers.of(allocation)) {
        (is_native(*referrer) ? retention.native : retention.referrer) = referrer;
        retention.hook = hook_on_cycle(*referrer) ? referrer : nullptr;
    }
    for (const uint32_t saved : graph.state.retainers(allocation)) {
        const NodeIndex retainer = graph.index.saver(saved);
        const NodeIndex root = graph.state.root_of(retainer);
        const Referrer* at_scan = graph.referrers.of(graph.scanned.root_of(retainer));
        const Referrer* referrer = referrer_of_root(graph, retainer);
        retention.hook = at_scan && hook_on_cycle(*at_scan) ? at_scan : retention.hook;
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

const PathLink* variable_of_call(const Referrer& referrer) {
    const auto of_context = std::find_if(referrer.links.begin(), referrer.links.end(), is_context_variable);
    if (of_context != referrer.links.end()) {
        return &*of_context;
    }
    const bool is_local = !referrer.links.empty() && referrer.links.front().kind == PathLinkKind::local;
    return is_local ? &referrer.links.front() : nullptr;
}

bool is_function_of(const GraphContext& graph, const Frame& frame, const PathLink& variable) {
    const StackTable& stacks = graph.index.trace().stacks;
    return stacks.string(frame.function) == graph.text(variable.function) &&
           stacks.string(frame.file) == graph.text(variable.file);
}

std::optional<size_t> position_of_function(const GraphContext& graph, std::span<const FrameId> frames,
                                           const PathLink& variable) {
    const StackTable& stacks = graph.index.trace().stacks;
    for (size_t i = frames.size(); i-- > 0;) {
        if (is_function_of(graph, stacks.frame(frames[i]), variable)) {
            return i;
        }
    }
    return std::nullopt;
}

const Referrer* outermost_referrer(const GraphContext& graph, uint32_t device, StackId stack, int64_t time) {
    const auto& stacks = graph.index.trace().devices[device].allocations.stack;
    const Referrer* outermost = nullptr;
    int64_t most = -1;
    for (const Referrer& referrer : graph.tables().referrers) {
        const bool is_candidate = referrer.allocation && referrer.allocation.device == device &&
                                  stacks[referrer.allocation.index] == stack && has_name(referrer) &&
                                  graph.tables().scans[referrer.scan].time <= time &&
                                  referrer.links.front().kind != PathLinkKind::exception;
        if (is_candidate) {
            const int64_t distance = distance_from_innermost(graph, stack, referrer);
            if (distance >= most) {
                outermost = &referrer;
                most = distance;
            }
        }
    }
    return outermost;
}

bool is_alias(const GraphContext& graph, StackId stack, const Referrer& referrer, const Referrer& outer) {
    return distance_from_innermost(graph, stack, referrer) < distance_from_innermost(graph, stack, outer);
}

std::string container_key(const GraphContext& graph, const Retention& retention) {
    return retention.referrer ? container_key(graph, *retention.referrer) : std::string();
}

std::string container_key(const GraphContext& graph, const Referrer& referrer) {
    const std::string name = container_name(graph, referrer);
    return name.empty() || name.find(" of ") != std::string::npos ? name : referrer_key(referrer);
}

ReferrerGroup growth_paths(const GraphContext& graph, std::span<const Site* const> sites, const Referrer& typical,
                           uint32_t device) {
    std::vector<const Referrer*> longest{&typical};
    size_t tensors = 0;
    for (const Site* site : sites) {
        if (std::vector<const Referrer*> paths = paths_by_age(graph, *site, typical, device);
            paths.size() > longest.size()) {
            longest = std::move(paths);
            tensors = site->now.size();
        }
    }
    ReferrerGroup group = growth_group(graph.tables(), longest);
    if (!group.varying) {
        group.varying = place_in_own_container(graph, sites.front()->stack, group.links);
    }
    if (longest.size() < tensors - tensors / 10) {
        group.last_index = group.first_index;  // the last elements that scans found are not the last ones
    }
    return group;
}

SampledRetention typical_retention(const Site& site, Growth growth, const GraphContext* graph, uint32_t device) {
    std::vector<SampledRetention> all;
    std::map<std::string, int> votes;
    for (const AllocationIndex a : sample(site, graph, device)) {
        const AllocationRef allocation{device, a};
        if (!graph) {
            return {allocation, {}, {}, 0};
        }
        Retention retention = retention_of(*graph, allocation);
        const bool may_be_calls = growth == Growth::of_count && retention.referrer && !retention.through_graph;
        const int64_t calls = may_be_calls ? count_calls(site, *graph, device, *retention.referrer) : 0;
        if (growth == Growth::of_count && site.count > 1 && calls == 0) {
            drop_variable_of_one(retention, *graph, allocation);
        }
        if (growth == Growth::of_size && !retention.referrer) {
            // The variable of a tensor that is made again in each iteration stays the same.
            retention.referrer = outermost_referrer(*graph, device, site.stack, graph->state.time());
        }
        const std::string key = calls > 0 ? calls_key(*retention.referrer) : key_of(retention, *graph, allocation);
        all.push_back({allocation, retention, key, calls});
        // A known referrer counts more than an unknown one.
        votes[all.back().key] += retention.referrer || retention.through_graph ? 2 : 1;
    }
    const auto most = std::max_element(
        all.begin(), all.end(),
        [&](const SampledRetention& a, const SampledRetention& b) { return votes[a.key] < votes[b.key]; });
    const std::string key = most->key;
    if (const auto known =
            key.empty() && growth == Growth::of_count ? known_in_container(site, *graph, device) : std::nullopt) {
        return *known;
    }
    // Selects one from the middle, because both ends are less typical.
    const auto alike =
        std::stable_partition(all.begin(), all.end(), [&](const SampledRetention& one) { return one.key == key; });
    SampledRetention& typical = all[static_cast<size_t>((alike - all.begin()) / 2)];
    if (typical.retention.referrer && is_cycle(*typical.retention.referrer) && !typical.retention.through_graph) {
        if (const Referrer* named = named_before_end(*graph, site, device, *typical.retention.referrer)) {
            typical.retention.referrer = named;
            typical.key = referrer_key(*named);
        }
    }
    return typical;
}

}  // namespace tidemark
