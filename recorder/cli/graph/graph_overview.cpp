// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// All graphs at a point in time: their roots, grouped by type, line and referrer, and their growth.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "recorder/cli/describe.h"
#include "recorder/cli/graph/graph_pages.h"
#include "recorder/cli/output.h"
#include "storage/graph/graph_growth.h"
#include "storage/text/fact_words.h"
#include "storage/text/referrer_words.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t slices_shown = 8;
constexpr size_t types_shown = 6;

/// Roots of one type, one line, one referrer and one state.
struct RootGroup {
    std::vector<NodeIndex> roots;             ///< by age
    const ReferrerGroup* referrer = nullptr;  ///< nullptr: unknown
    Reachable reachable;
    int32_t first_step = -1, last_step = -1;  ///< positions in Trace::steps
    NodeIndex oldest() const { return roots.front(); }
};

struct Overview {
    explicit Overview(const GraphView& view);

    ReferrerGroups referrers;
    std::vector<RootGroup> groups;  ///< most reachable bytes first
    int64_t lone_leaves = 0;        ///< AccumulateGrad nodes that belong to no graph
    GraphGrowth growth;

private:
    void find_groups(const GraphView& view);
    void find_reachable(const GraphView& view);
};

Overview::Overview(const GraphView& view) : referrers(view), growth(graph_growth(view.categories())) {
    find_groups(view);
    find_reachable(view);
}

void Overview::find_groups(const GraphView& view) {
    std::map<std::tuple<uint32_t, FrameId, NodeState, const ReferrerGroup*>, RootGroup> found;
    for (const NodeIndex root : view.graph_state().roots()) {
        if (view.index().is_leaf(root)) {
            ++lone_leaves;
            continue;
        }
        const ReferrerGroup* referrer = referrers.of(view.referrers().of(root));
        const FrameId line = view.trace().stacks.site(view.nodes().stack[root]);
        RootGroup& group = found[{view.nodes().type[root], line, view.state(root), referrer}];
        group.referrer = referrer;
        group.roots.push_back(root);
    }
    for (auto& [key, group] : found) {
        std::sort(group.roots.begin(), group.roots.end());
        groups.push_back(std::move(group));
    }
}

void Overview::find_reachable(const GraphView& view) {
    std::vector<ReferrerTargets> root_sets;
    for (RootGroup& group : groups) {
        for (const NodeIndex root : group.roots) {
            if (const int32_t step = view.index().step_of(root); step >= 0) {
                group.first_step = group.first_step < 0 ? step : std::min(group.first_step, step);
                group.last_step = std::max(group.last_step, step);
            }
        }
        root_sets.push_back({group.roots, {}});
    }
    const std::vector<Reachable> reachable = view.graph_state().reachable_from(root_sets);
    for (size_t g = 0; g < groups.size(); ++g) {
        groups[g].reachable = reachable[g];
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const RootGroup& a, const RootGroup& b) { return a.reachable.bytes > b.reachable.bytes; });
}

int64_t step_number(const GraphView& view, int32_t step) {
    return view.trace().steps[static_cast<size_t>(step)].number;
}

/// "created in steps 0 to 99", "created in step 3", "created outside steps"
std::string steps_text(const GraphView& view, const RootGroup& group) {
    const Words& words = view.words();
    if (group.first_step < 0) {
        return words("created outside steps");
    }
    const auto first = with("first", step_number(view, group.first_step));
    return group.first_step == group.last_step
               ? words("created in step {first}", first)
               : words("created in steps {first} to {last}", first, with("last", step_number(view, group.last_step)));
}

std::string group_text(const GraphView& view, const RootGroup& group) {
    const Words& words = view.words();
    const NodeIndex oldest = group.oldest();
    const auto id = with("first", view.nodes().id[oldest]);
    std::string text =
        fmt::format("{:>10}  {:>10}  {:>9}  {:>7}  {}{}{}\n", format_bytes(group.reachable.bytes),
                    format_bytes(group.reachable.freed_bytes), format_count(group.reachable.nodes),
                    format_count(static_cast<int64_t>(group.roots.size())), visible_text(view.type_text(oldest)),
                    words(", "), visible_text(view.line_text(view.nodes().stack[oldest])));
    const auto detail = [&](const std::string& line) { text += fmt::format("{:44}{}\n", "", visible_text(line)); };
    detail(steps_text(view, group) + words("; ") + node_state_name(words, view.index(), oldest, view.time()));
    if (group.referrer != nullptr) {
        detail(words("retained by {referrer}",
                     with("referrer", path_words(view.tables(), view.words(), *group.referrer))));
    }
    detail(group.roots.size() == 1
               ? words("node {first}", id)
               : words("nodes {first} to {last}", id, with("last", view.nodes().id[group.roots.back()])));
    return text;
}

std::string groups_text(const GraphView& view, const Overview& overview, size_t limit) {
    const Words& words = view.words();
    const size_t shown = limited(overview.groups.size(), limit);
    std::string text = fmt::format("\n{:>10}  {:>10}  {:>9}  {:>7}  {}\n", words("Reachable"), words("Retained"),
                                   words("Nodes"), words("Graphs"), words("Root: type, allocation site, state"));
    for (size_t g = 0; g < shown; ++g) {
        text += group_text(view, overview.groups[g]);
    }
    text += rest_text(words, overview.groups.size() - shown, 44);
    if (overview.lone_leaves > 0) {
        text += words.plural(overview.lone_leaves, "{n} AccumulateGrad node belongs to no graph.",
                             "{n} AccumulateGrad nodes belong to no graph.") +
                '\n';
    }
    return text;
}

/// Returns at most slices_shown of `count` rows, evenly spread, including the first and the last one.
std::vector<size_t> spread(size_t count) {
    const size_t shown = std::min(count, slices_shown);
    std::vector<size_t> rows;
    for (size_t i = 0; i < shown; ++i) {
        rows.push_back(shown == 1 ? 0 : i * (count - 1) / (shown - 1));
    }
    return rows;
}

std::string slice_name(const GraphView& view, const GraphSlice& slice) {
    return slice.step < 0 ? format_time_point(slice.end)
                          : view.words()("step {number}", with("number", step_number(view, slice.step)));
}

std::string growth_text(const GraphView& view, const GraphGrowth& growth) {
    const Words& words = view.words();
    const auto retains = [](const GraphSlice& slice) { return slice.reachable_bytes > 0; };
    const auto first = std::find_if(growth.slices.begin(), growth.slices.end(), retains);
    if (first == growth.slices.end()) {
        return '\n' + words("At the end of every step, the graph retained nothing.") + '\n';
    }
    const auto before = static_cast<size_t>(first - growth.slices.begin());
    std::string text =
        '\n' +
        (growth.slices.front().step < 0 ? words("Growth, at the end of each slice of the run")
                                        : words("Growth, at the end of each step")) +
        fmt::format("\n{:>14}  {:>10}  {:>9}  {}\n", "", words("Reachable"), words("Nodes"), words("Created earlier"));
    for (const size_t at : spread(growth.slices.size() - before)) {
        const GraphSlice& slice = growth.slices[before + at];
        text += fmt::format("{:>14}  {:>10}  {:>9}  {}\n", slice_name(view, slice), format_bytes(slice.reachable_bytes),
                            format_count(slice.nodes),
                            words.plural(slice.older_nodes, "{bytes} in {n} node", "{bytes} in {n} nodes",
                                         with("bytes", format_bytes(slice.older_reachable_bytes))));
    }
    std::string types;
    for (size_t t = 0; t < std::min(growth.types.size(), types_shown) && growth.types[t].growth() > 0; ++t) {
        const TypeGrowth& type = growth.types[t];
        types += (types.empty() ? "" : words(", ")) +
                 words("{type} from {first} to {last}", with("type", view.tables().texts[type.type]),
                       with("first", format_count(type.nodes.front())), with("last", format_count(type.nodes.back())));
    }
    return types.empty() ? text : text + words("Types that grew: {types}", with("types", visible_text(types))) + '\n';
}

ordered_json group_json(const GraphView& view, const RootGroup& group) {
    auto ids = ordered_json::array();
    for (const NodeIndex root : group.roots) {
        ids.push_back(view.nodes().id[root]);
    }
    const NodeIndex oldest = group.oldest();
    const FrameId line = view.trace().stacks.site(view.nodes().stack[oldest]);
    return {{"type", view.index().type(oldest)},
            {"line", line == 0 ? ordered_json() : frame_json(view.trace().stacks, line)},
            {"state", state_word(view.state(oldest))},
            {"text", node_state_name(view.words(), view.index(), oldest, view.time())},
            {"graphs", group.roots.size()},
            {"nodes", group.reachable.nodes},
            {"reachable_bytes", group.reachable.bytes},
            {"retained_bytes", group.reachable.freed_bytes},
            {"first_step", view.step_json(group.first_step)},
            {"last_step", view.step_json(group.last_step)},
            {"referrer", group.referrer == nullptr
                             ? ordered_json()
                             : ordered_json{{"text", path_words(view.tables(), view.words(), *group.referrer)},
                                            {"links", links_json(view.tables(), group.referrer->links)}}},
            {"roots", std::move(ids)}};
}

ordered_json growth_json(const GraphView& view, const GraphGrowth& growth) {
    auto slices = ordered_json::array(), types = ordered_json::array();
    for (const GraphSlice& slice : growth.slices) {
        slices.push_back({{"step", view.step_json(slice.step)},
                          {"start_ns", slice.start},
                          {"end_ns", slice.end},
                          {"nodes", slice.nodes},
                          {"roots", slice.roots},
                          {"reachable_bytes", slice.reachable_bytes},
                          {"older_nodes", slice.older_nodes},
                          {"older_reachable_bytes", slice.older_reachable_bytes}});
    }
    for (const TypeGrowth& type : growth.types) {
        types.push_back({{"type", view.tables().texts[type.type]}, {"nodes", type.nodes}});
    }
    return {{"slices", std::move(slices)}, {"types", std::move(types)}};
}

}  // namespace

std::string overview_text(const GraphView& view, size_t limit) {
    const Words& words = view.words();
    const Overview overview(view);
    const int64_t graphs = static_cast<int64_t>(view.graph_state().roots().size()) - overview.lone_leaves;
    std::string text = words("Autograd graph at {when}", with("when", view.when())) + '\n';
    text += words("{nodes} alive, in {graphs}; they retain {bytes}",
                  with("nodes", words.plural(view.graph_state().alive_nodes(), "{n} node", "{n} nodes")),
                  with("graphs", words.plural(graphs, "{n} graph", "{n} graphs")),
                  with("bytes", format_bytes(view.graph_state().reachable_bytes()))) +
            '\n';
    if (const int64_t left_out = view.tables().nodes_left_out; left_out > 0) {
        text += words.plural(left_out, "{n} more node had a lifetime too short to be recorded",
                             "{n} more nodes had a lifetime too short to be recorded") +
                '\n';
    }
    if (!overview.groups.empty()) {
        text += groups_text(view, overview, limit);
    }
    if (view.referrers().scan() == nullptr) {
        text += words("The referrers are unknown: there was no heap scan.") + '\n';
    }
    return text + growth_text(view, overview.growth);
}

ordered_json overview_json(const GraphView& view, size_t limit) {
    const Overview overview(view);
    auto groups = ordered_json::array();
    const size_t shown = limited(overview.groups.size(), limit);
    for (size_t g = 0; g < shown; ++g) {
        groups.push_back(group_json(view, overview.groups[g]));
    }
    return {{"time_point", view.when_json()},
            {"alive_nodes", view.graph_state().alive_nodes()},
            {"reachable_bytes", view.graph_state().reachable_bytes()},
            {"nodes_left_out", view.tables().nodes_left_out},
            {"root_groups", std::move(groups)},
            {"root_groups_left_out", overview.groups.size() - shown},
            {"lone_leaves", overview.lone_leaves},
            {"growth", growth_json(view, overview.growth)}};
}

}  // namespace tidemark::cli
