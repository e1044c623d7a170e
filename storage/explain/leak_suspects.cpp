// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/leak_suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "storage/explain/analysis_context.h"
#include "storage/explain/autocast_copies.h"
#include "storage/explain/derivative_graphs.h"
#include "storage/explain/growing_tensors.h"
#include "storage/explain/grown_memory.h"
#include "storage/explain/grown_part.h"
#include "storage/explain/growth_end.h"
#include "storage/explain/joined_suspects.h"
#include "storage/explain/model_bound.h"
#include "storage/explain/paused_details.h"
#include "storage/explain/shared_lifetimes.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr int64_t fewest_tensors = 3;
constexpr size_t most_roots_counted = 4096;

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
    suspect.calls = std::max(suspect.calls, sampled.calls);
}

/// Returns whether both rise alike: their levels stay in proportion.
bool rise_alike(const Site& a, const Site& b) {
    constexpr double tolerance = 0.05;
    constexpr size_t fewest_slices = 4;
    if (a.level.size() != b.level.size() || a.level.size() < fewest_slices || a.level.back() <= 0 ||
        b.level.back() <= 0) {
        return false;
    }
    const auto part = [](const Site& site, size_t slice) {
        return static_cast<double>(site.level[slice]) / static_cast<double>(site.level.back());
    };
    for (size_t i = 0; i < a.level.size(); ++i) {
        if (std::abs(part(a, i) - part(b, i)) > tolerance) {
            return false;
        }
    }
    return true;
}

/// Leaves of the paths what leads to the outermost container: its elements have parts whose paths are unknown.
void cut_to_container(ReferrerGroup& paths) {
    const size_t end = container_end(paths.links);
    if (end < paths.links.size()) {
        paths.links.resize(end + 1);
        paths.varying = end;
        paths.last_index = paths.first_index;
    }
}

/// Returns whether a path leads into the container to which other paths were cut.
bool leads_into(const std::vector<PathLink>& links, const ReferrerGroup& cut) {
    const size_t length = container_end(cut.links);
    return links.size() > length && container_end(links) == length && length < cut.links.size() &&
           std::equal(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(length), cut.links.begin());
}

/// Returns the largest request of a stack among the allocations from one event to another.
uint64_t largest_of(StackId stack, const Allocations& allocations, EventNumber from, EventNumber to) {
    const auto& made = allocations.alloc_event;
    auto at = std::lower_bound(made.begin(), made.end(), from);
    uint64_t largest = 0;
    for (; at != made.end() && *at < to; ++at) {
        const auto a = static_cast<AllocationIndex>(at - made.begin());
        largest = allocations.stack[a] == stack ? std::max(largest, allocations.requested[a]) : largest;
    }
    return largest;
}

/// Returns whether the site's tensors are no larger than in the first half of the iterations, although its memory
/// rises: there are more of them. Each iteration may free and make all of them anew, as hooks do that are registered
/// again and again, and as a metric copies all that it has collected before it exchanges it with other ranks.
bool has_more_tensors(const Site& site, const DeviceHistory& device, const Iterations& iterations, EventNumber now) {
    constexpr double tolerance = 1.1;
    if (site.count < fewest_tensors || iterations.size() < 2) {
        return false;
    }
    const EventNumber middle = iterations[iterations.size() / 2].first;
    const auto before = static_cast<double>(largest_of(site.stack, device.allocations, iterations[0].first, middle));
    const auto after = static_cast<double>(largest_of(site.stack, device.allocations, middle, now));
    return after <= tolerance * before;
}

/// Returns whether the site's memory is a workspace. cuBLAS has one workspace per stream; library_workspace reports
/// them.
bool is_of_workspaces(const Site& site, const GraphContext& graph, uint32_t position) {
    const AllocationRef newest{position, site.now.back()};
    return graph.categories.at(newest, graph.state.time()) == Category::workspace;
}

/// Returns whether the state of one L-BFGS optimizer retains it: a history of at most history_size entries, which fills
/// in the first steps. An element before that is another matter: optimizers may become more.
bool is_history_of_optimizer(const Retention& retention, const GraphContext& graph) {
    if (!retention.referrer) {
        return false;
    }
    const std::vector<PathLink>& links = retention.referrer->links;
    const auto state = std::find_if(links.begin(), links.end(),
                                    [&](const PathLink& link) { return graph.text(link.name) == "state of LBFGS"; });
    return state != links.end() && std::none_of(links.begin(), state, is_element);
}

struct GrowingSite {
    const Site* site;
    Growth growth;
    SampledRetention sampled;
};

/// Bytes that containers retain at the end of each slice, by container_key().
using ContainerLevels = std::map<std::string, std::vector<int64_t>>;

/// Finds the suspects of one interval.
class SuspectFinder {
public:
    SuspectFinder(const Trace& trace, const Interval& interval, const GraphContext* graph, uint32_t position,
                  EventNumber now)
        : trace_(trace),
          device_(trace.devices[position]),
          interval_(interval),
          graph_(graph),
          position_(position),
          now_(now) {}

    /// Appends the suspects to `all`, except for sites in `known`, and adds theirs to `known`.
    void find(std::set<std::pair<StackId, bool>>& known, Growing& all) {
        for_each_site([&](const Site& site) {
            const std::optional<Growth> growth = growth_of(site);
            if (growth && known.emplace(site.stack, site.is_backward).second) {
                growing_.push_back({&site, *growth, typical_retention(site, *growth, graph_, position_)});
            }
        });
        all.has_bounded |= drop_bounded();
        for (const GrowingSite& growing : growing_) {
            add(growing);
        }
        drop_balanced();
        drop_balanced_models();
        divide_unknown();
        for (auto& [key, suspect] : by_key_) {
            finish(suspect);
        }
        join_containers();
        for (auto& [key, suspect] : by_key_) {
            all.suspects.push_back(std::move(suspect));
        }
    }

private:
    template <class Visit>
    void for_each_site(Visit&& visit) const {
        std::ranges::for_each(interval_.surviving.sites(), visit);
        std::ranges::for_each(interval_.surviving.rising_lines(), visit);
    }

    std::optional<Growth> growth_of(const Site& site) const {
        if (site.trend.shape != Shape::rising || site.count == 0 ||
            (graph_ && is_of_workspaces(site, *graph_, position_))) {
            return std::nullopt;
        }
        const bool is_of_many = is_of_many_iterations(site, interval_.iterations, device_);
        if (is_of_many && has_stopped(site, device_, interval_.iterations, now_)) {
            return std::nullopt;
        }
        if (is_of_many || has_more_tensors(site, device_, interval_.iterations, now_)) {
            return Growth::of_count;
        }
        return is_growing_tensor(site, trace_, device_, interval_.iterations) ? std::optional(Growth::of_size)
                                                                              : std::nullopt;
    }

    EventNumber begin_of_growth(const Site& site) const {
        return interval_.iterations[site.trend.since * interval_.surviving.iterations_per_slice()].first;
    }

    /// Drops what existing parameters get when they are first trained, and copies of them that are made then. Returns
    /// whether there was any.
    bool drop_bounded() {
        const auto is_of_model = [](const GrowingSite& growing) { return growing.sampled.key == model_key; };
        if (!graph_ || std::none_of(growing_.begin(), growing_.end(), is_of_model)) {
            return false;
        }
        const ModelBound bound(*graph_, position_, now_);
        return 0 < std::erase_if(growing_, [&](const GrowingSite& growing) {
                   const EventNumber begin = begin_of_growth(*growing.site);
                   const bool is_whole = growing.site->count == static_cast<int64_t>(growing.site->now.size());
                   return is_whole && growing.growth == Growth::of_count &&
                          (is_of_model(growing) ? bound.covers(growing.site->now, begin)
                                                : bound.has_copies(growing.site->now, begin, interval_.iterations));
               });
    }

    void add(const GrowingSite& growing) {
        const auto& [site_of, growth, sampled] = growing;
        const Site& site = *site_of;
        if (graph_ && is_history_of_optimizer(sampled.retention, *graph_)) {
            return;
        }
        if (growth == Growth::of_count && !sampled.retention.through_graph && is_of_repeated_phase(site)) {
            return;
        }
        if (sampled.key.empty() && replaces_others(site, interval_.surviving.sites(), trace_)) {
            return;
        }
        if (sampled.key.empty() && growth == Growth::of_count &&
            keeps_its_number(site, device_, trace_, interval_.iterations)) {
            return;
        }
        if (is_part_of_balanced_entries(growing)) {
            return;
        }
        if (sampled.key.empty()) {
            unknown_.push_back(growing);
        } else {
            add(sampled.key, site, growth, sampled);
        }
    }

    bool is_of_repeated_phase(const Site& site) const {
        return is_phase_that_repeats(site, device_, trace_, begin_of_growth(site), now_);
    }

    void add(const std::string& key, const Site& site, Growth growth, const SampledRetention& sampled) {
        LeakSuspect& suspect = by_key_[(growth == Growth::of_size ? "size " : "") + key];
        suspect.growth = growth;
        // A tensor that becomes larger is no further part of a model.
        suspect.is_model = sampled.key == model_key && growth == Growth::of_count;
        suspect.has_unknown_parts |= sampled.is_of_few;
        add_site(suspect, site, interval_.surviving.iterations_per_slice());
        update_retention(suspect, sampled);
    }

    /// Drops suspects whose container retains as much as before in total: a line that replaces elements grows while the
    /// line that added them shrinks.
    void drop_balanced() {
        ContainerLevels levels;
        for (const auto& [key, suspect] : by_key_) {
            if (graph_) {
                levels.try_emplace(container_key(*graph_, suspect.retention));
            }
        }
        levels.erase("");
        add_levels(levels);
        std::erase_if(by_key_, [&](const auto& item) {
            const auto total = graph_ ? levels.find(container_key(*graph_, item.second.retention)) : levels.end();
            return total != levels.end() && find_trend(total->second).shape != Shape::rising;
        });
    }

    /// Drops suspects whose models have as many parameters as before in total: one layer of a model that replaces
    /// another one may be larger, while other layers are smaller.
    void drop_balanced_models() {
        std::erase_if(by_key_, [&](const auto& item) {
            const LeakSuspect& suspect = item.second;
            return graph_ && suspect.is_model && is_balanced_model(suspect);
        });
    }

    bool is_balanced_model(const LeakSuspect& suspect) const {
        int64_t grown = 0, all = 0;
        for (const Site* site : suspect.sites) {
            grown += is_of_parameters(*site) ? site->bytes : 0;
        }
        std::vector<int64_t> total;
        for (const Site& site : interval_.surviving.sites()) {
            if (is_of_parameters(site)) {
                all += site.bytes;
                add_level(site, total);
            }
        }
        return 0 < grown && 2 * grown < all && find_trend(total).shape != Shape::rising;
    }

    bool is_of_parameters(const Site& site) const {
        const Category category = site.now.empty() || site.level.empty()
                                      ? Category::unknown
                                      : graph_->categories.at({position_, site.now.back()}, graph_->state.time());
        return category == Category::parameter || category == Category::buffer;
    }

    /// Returns whether the site's memory, whose referrer is unknown, is a part of the entries of a container that
    /// retains as much as before in total: it exists as long as memory that the container retains. A scan may miss it,
    /// because a new entry is no element until it is complete.
    bool is_part_of_balanced_entries(const GrowingSite& growing) const {
        const Retention& retention = growing.sampled.retention;
        if (!graph_ || growing.growth != Growth::of_count || retention.referrer || retention.through_graph) {
            return false;
        }
        const Site& site = *growing.site;
        ContainerLevels levels = containers_of_siblings(site);
        add_levels(levels);
        return std::any_of(levels.begin(), levels.end(), [&](const auto& item) {
            std::vector<int64_t> total = item.second;
            add_level(site, total);
            return find_trend(total).shape != Shape::rising;
        });
    }

    /// Returns the containers of memory that the site's line allocates and frees together with the site's.
    ContainerLevels containers_of_siblings(const Site& site) const {
        ContainerLevels levels;
        const FrameId line = trace_.stacks.site(site.stack);
        for (const Site& other : interval_.surviving.sites()) {
            if (line == 0 || other.stack == site.stack || other.count == 0 || trace_.stacks.site(other.stack) != line) {
                continue;
            }
            const std::string key = container_of(other);
            if (!key.empty() && !levels.contains(key) && share_lifetimes(site, other, trace_, device_)) {
                levels.try_emplace(key);
            }
        }
        return levels;
    }

    std::string container_of(const Site& site) const {
        const Growth growth = growth_of(site).value_or(Growth::of_count);
        return container_key(*graph_, typical_retention(site, growth, graph_, position_).retention);
    }

    /// Adds the levels of the containers' memory.
    void add_levels(ContainerLevels& levels) const {
        for_each_site([&](const Site& site) {
            if (levels.empty() || site.count == 0 || site.level.empty()) {
                return;
            }
            if (const auto total = levels.find(container_of(site)); total != levels.end()) {
                add_level(site, total->second);
            }
        });
    }

    static void add_level(const Site& site, std::vector<int64_t>& total) {
        total.resize(site.level.size());
        std::transform(site.level.begin(), site.level.end(), total.begin(), total.begin(), std::plus<>());
    }

    /// Joins suspects whose paths were cut to the same container with all others that lead into it.
    void join_containers() {
        for (auto& [key, suspect] : by_key_) {
            if (!suspect.has_unknown_parts || suspect.sites.empty()) {
                continue;
            }
            for (auto& [other_key, other] : by_key_) {
                if (&other != &suspect && !other.sites.empty() && other.growth == suspect.growth &&
                    leads_into(other.paths.links, suspect.paths)) {
                    join(suspect, other);
                    other.sites.clear();
                }
            }
        }
        std::erase_if(by_key_, [](const auto& item) { return item.second.sites.empty(); });
    }

    /// Divides memory without a known referrer by the line that allocated it, unless autocast's cache or graphs of
    /// derivatives retain it.
    void divide_unknown() {
        std::vector<const Site*> sites;
        sites.reserve(unknown_.size());
        for (const GrowingSite& unknown : unknown_) {
            sites.push_back(unknown.site);
        }
        const bool is_cache = graph_ && count_autocast_copies(trace_, device_, sites) > 0;
        const bool is_graph = graph_ && are_of_derivative_graphs(*graph_, device_, sites);
        for (const GrowingSite& unknown : unknown_) {
            if (LeakSuspect* known = is_graph || is_cache ? nullptr : suspect_with_parts(unknown)) {
                add_site(*known, *unknown.site, interval_.surviving.iterations_per_slice());
                known->has_unknown_parts = true;
                continue;
            }
            const FrameId line = trace_.stacks.site(unknown.site->stack);
            const std::string key = is_graph    ? std::string("derivatives")
                                    : is_cache  ? std::string("autocast")
                                    : line != 0 ? fmt::format("line {}", line)
                                                : fmt::format("stack {}", unknown.site->stack);
            add(key, *unknown.site, unknown.growth, unknown.sampled);
        }
    }

    /// Returns the suspect whose container retains other memory of the same line that rises alike: the parts of a
    /// result, of which a scan with limits finds some. nullptr if there is none.
    LeakSuspect* suspect_with_parts(const GrowingSite& unknown) {
        const FrameId line = trace_.stacks.site(unknown.site->stack);
        if (!graph_ || line == 0 || unknown.growth != Growth::of_count || unknown.sampled.retention.native) {
            return nullptr;
        }
        const auto is_part = [&](const Site* site) {
            return trace_.stacks.site(site->stack) == line && rise_alike(*site, *unknown.site);
        };
        for (auto& [key, suspect] : by_key_) {
            const Retention& retention = suspect.retention;
            if (suspect.growth == Growth::of_count && !suspect.is_model && retention.referrer &&
                !retention.through_graph && has_name(*retention.referrer) &&
                !container_key(*graph_, retention).empty() &&
                std::any_of(suspect.sites.begin(), suspect.sites.end(), is_part)) {
                return &suspect;
            }
        }
        return nullptr;
    }

    void finish(LeakSuspect& suspect) const {
        suspect.iterations = &interval_.iterations;
        std::sort(suspect.sites.begin(), suspect.sites.end(),
                  [](const Site* a, const Site* b) { return a->trend.per_iteration > b->trend.per_iteration; });
        suspect.since = std::min(suspect.since, interval_.iterations.size() - 1);
        if (const auto recorded = iterations_with_details(suspect.since)) {
            int64_t rise = 0;
            for (const Site* site : suspect.sites) {
                rise += site->trend.rise;
            }
            suspect.per_iteration = rise / *recorded;
        }
        suspect.referrer = suspect.retention.referrer;
        if (suspect.referrer) {
            suspect.paths = growth_paths(*graph_, suspect.sites, *suspect.referrer, position_);
            if (suspect.has_unknown_parts) {
                cut_to_container(suspect.paths);
            }
        }
        for (const Site* site : suspect.sites) {
            const GrownMemory grown = grown_at(*site, suspect, interval_.iterations, graph_, trace_, position_, now_);
            suspect.bytes += grown.bytes;
            suspect.allocations.insert(suspect.allocations.end(), grown.allocations.begin(), grown.allocations.end());
            suspect.count += suspect.growth == Growth::of_size
                                 ? count_growing_tensors(*site, device_, interval_.iterations)
                                 : grown.count;
        }
        if (suspect.growth == Growth::of_count) {
            suspect.rises = find_rises(suspect.sites, interval_.iterations, device_, suspect.since);
            suspect.pace = find_pace(suspect.sites, interval_.iterations, device_, suspect.since);
        }
        if (graph_ && suspect.through_graph()) {
            suspect.root_type = graph_->tables().nodes.type[suspect.retention.root];
            suspect.roots = count_roots(suspect, *graph_, position_);
        }
    }

    /// Returns the number of iterations from `since` on that have details, if some have none: no site has what these
    /// allocate.
    std::optional<int64_t> iterations_with_details(size_t since) const {
        const auto& all = interval_.iterations.all();
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(since);
        const auto is_paused = [&](const Iteration& iteration) { return paused_.contains(iteration.end); };
        const std::ptrdiff_t paused = paused_.any() ? std::count_if(begin, all.end(), is_paused) : 0;
        return paused == 0 || paused == all.end() - begin ? std::nullopt : std::optional(all.end() - begin - paused);
    }

    const Trace& trace_;
    const DeviceHistory& device_;
    const PausedDetails paused_{trace_};
    const Interval& interval_;
    const GraphContext* graph_;
    uint32_t position_;
    EventNumber now_;
    std::map<std::string, LeakSuspect> by_key_;
    std::vector<GrowingSite> growing_;
    std::vector<GrowingSite> unknown_;  ///< without a known referrer
};

}  // namespace

Growing find_growing(const Trace& trace, const std::vector<Interval>& intervals, const GraphContext* graph,
                     uint32_t position, EventNumber now) {
    Growing growing;
    std::set<std::pair<StackId, bool>> known;
    for (const Interval& interval : intervals) {
        SuspectFinder(trace, interval, graph, position, now).find(known, growing);
    }
    std::sort(growing.suspects.begin(), growing.suspects.end(),
              [](const LeakSuspect& a, const LeakSuspect& b) { return a.per_iteration > b.per_iteration; });
    return growing;
}

}  // namespace tidemark
