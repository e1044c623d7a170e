// All graphs at a moment: their roots by what they are and who holds them, and how they grew.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "recorder/cli/describe.h"
#include "recorder/cli/graph_pages.h"
#include "recorder/cli/output.h"
#include "storage/graph/graph_growth.h"
#include "storage/text/fact_words.h"
#include "storage/text/referrer_words.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t slices_shown = 8;
constexpr size_t types_shown = 6;

/// Roots of one type, made at one line, held in one way, with which backward has done the same.
struct RootGroup {
    std::vector<NodeIndex> roots;             ///< by age
    const ReferrerGroup* referrer = nullptr;  ///< nullptr: nobody is known to hold them
    Reachable kept;
    int32_t first_step = -1, last_step = -1;  ///< positions in Trace::steps
    NodeIndex face() const { return roots.front(); }
};

struct Overview {
    explicit Overview(const GraphView& view);

    ReferrerGroups referrers;
    std::vector<RootGroup> groups;  ///< most kept bytes first
    int64_t lone_leaves = 0;        ///< AccumulateGrad nodes no graph uses
    GraphGrowth growth;

private:
    void find_groups(const GraphView& view);
    void find_kept(const GraphView& view);
};

Overview::Overview(const GraphView& view) : referrers(view), growth(graph_growth(view.categories())) {
    find_groups(view);
    find_kept(view);
}

void Overview::find_groups(const GraphView& view) {
    std::map<std::tuple<uint32_t, FrameId, NodeState, const ReferrerGroup*>, RootGroup> found;
    for (const NodeIndex root : view.time_point().roots()) {
        if (view.index().is_leaf(root)) {
            ++lone_leaves;
            continue;
        }
        const ReferrerGroup* referrer = referrers.of(view.referrers().of(root));
        const FrameId line = view.trace().stacks.user_frame(view.nodes().stack[root]);
        RootGroup& group = found[{view.nodes().type[root], line, view.state(root), referrer}];
        group.referrer = referrer;
        group.roots.push_back(root);
    }
    for (auto& [key, group] : found) {
        std::sort(group.roots.begin(), group.roots.end());
        groups.push_back(std::move(group));
    }
}

void Overview::find_kept(const GraphView& view) {
    std::vector<Held> held;
    for (RootGroup& group : groups) {
        for (const NodeIndex root : group.roots) {
            if (const int32_t step = view.index().step_of(root); step >= 0) {
                group.first_step = group.first_step < 0 ? step : std::min(group.first_step, step);
                group.last_step = std::max(group.last_step, step);
            }
        }
        held.push_back({group.roots, {}});
    }
    const std::vector<Reachable> kept = view.time_point().reachable_from(held);
    for (size_t g = 0; g < groups.size(); ++g) {
        groups[g].kept = kept[g];
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const RootGroup& a, const RootGroup& b) { return a.kept.bytes > b.kept.bytes; });
}

int64_t step_number(const GraphView& view, int32_t step) {
    return view.trace().steps[static_cast<size_t>(step)].number;
}

/// "steps 0 to 99", "step 3", "outside steps"
std::string steps_text(const GraphView& view, const RootGroup& group) {
    return group.first_step < 0                  ? "outside steps"
           : group.first_step == group.last_step ? fmt::format("in step {}", step_number(view, group.first_step))
                                                 : fmt::format("in steps {} to {}", step_number(view, group.first_step),
                                                               step_number(view, group.last_step));
}

std::string group_text(const GraphView& view, const RootGroup& group) {
    const NodeIndex face = group.face();
    std::string text = fmt::format("{:>10}  {:>10}  {:>9}  {:>7}  {}, {}\n", format_bytes(group.kept.bytes),
                                   format_bytes(group.kept.freed_bytes), format_count(group.kept.nodes),
                                   format_count(static_cast<int64_t>(group.roots.size())),
                                   one_line(view.type_text(face)), one_line(view.line_text(view.nodes().stack[face])));
    const auto detail = [&](const std::string& words) { text += fmt::format("{:44}{}\n", "", one_line(words)); };
    detail(fmt::format("made {}; {}", steps_text(view, group),
                       node_state_sentence(Words(Language::english), view.state(face))));
    if (group.referrer != nullptr) {
        detail("held by " + path_words(view.tables(), Words(Language::english), *group.referrer));
    }
    detail(group.roots.size() == 1
               ? fmt::format("node {}", view.nodes().id[face])
               : fmt::format("nodes {} to {}", view.nodes().id[face], view.nodes().id[group.roots.back()]));
    return text;
}

std::string groups_text(const GraphView& view, const Overview& overview, size_t limit) {
    const size_t shown = limited(overview.groups.size(), limit);
    std::string text = fmt::format("\n{:>10}  {:>10}  {:>9}  {:>7}  {}\n", "Kept", "Goes along", "Nodes", "Graphs",
                                   "Root: who made it, and what became of it");
    for (size_t g = 0; g < shown; ++g) {
        text += group_text(view, overview.groups[g]);
    }
    text += rest_text(overview.groups.size() - shown, 44);
    if (overview.lone_leaves > 0) {
        text += fmt::format("{} to no graph.\n", overview.lone_leaves == 1 ? "1 AccumulateGrad node belongs"
                                                                           : format_count(overview.lone_leaves) +
                                                                                 " AccumulateGrad nodes belong");
    }
    return text;
}

/// Of `count` rows at most slices_shown, evenly spread, the first and the last among them.
std::vector<size_t> spread(size_t count) {
    const size_t shown = std::min(count, slices_shown);
    std::vector<size_t> rows;
    for (size_t i = 0; i < shown; ++i) {
        rows.push_back(shown == 1 ? 0 : i * (count - 1) / (shown - 1));
    }
    return rows;
}

std::string slice_name(const GraphView& view, const GraphSlice& slice) {
    return slice.step < 0 ? format_time_point(slice.end) : fmt::format("step {}", step_number(view, slice.step));
}

std::string growth_text(const GraphView& view, const GraphGrowth& growth) {
    const auto keeps = [](const GraphSlice& slice) { return slice.reachable_bytes > 0; };
    const auto first = std::find_if(growth.slices.begin(), growth.slices.end(), keeps);
    if (first == growth.slices.end()) {
        return "\nWhenever a step ended, the graph kept nothing.\n";
    }
    const auto before = static_cast<size_t>(first - growth.slices.begin());
    std::string text =
        fmt::format("\nGrowth, at the end of each {}\n{:>14}  {:>10}  {:>9}  {}\n",
                    growth.slices.front().step < 0 ? "stretch" : "step", "", "Kept", "Nodes", "Of them from earlier");
    for (const size_t at : spread(growth.slices.size() - before)) {
        const GraphSlice& slice = growth.slices[before + at];
        text += fmt::format("{:>14}  {:>10}  {:>9}  {} in {}\n", slice_name(view, slice),
                            format_bytes(slice.reachable_bytes), format_count(slice.nodes),
                            format_bytes(slice.older_reachable_bytes), counted(slice.older_nodes, "node"));
    }
    std::string types;
    for (size_t t = 0; t < std::min(growth.types.size(), types_shown) && growth.types[t].growth() > 0; ++t) {
        const TypeGrowth& type = growth.types[t];
        types += fmt::format("{}{} from {} to {}", types.empty() ? "" : ", ", view.tables().texts[type.type],
                             format_count(type.nodes.front()), format_count(type.nodes.back()));
    }
    return types.empty() ? text : text + fmt::format("Types that grew: {}\n", one_line(types));
}

ordered_json group_json(const GraphView& view, const RootGroup& group) {
    auto ids = ordered_json::array();
    for (const NodeIndex root : group.roots) {
        ids.push_back(view.nodes().id[root]);
    }
    const NodeIndex face = group.face();
    const FrameId line = view.trace().stacks.user_frame(view.nodes().stack[face]);
    return {
        {"type", view.index().type(face)},
        {"line", line == 0 ? ordered_json() : frame_json(view.trace().stacks, line)},
        {"state", state_word(view.state(face))},
        {"text", node_state_sentence(Words(Language::english), view.state(face))},
        {"graphs", group.roots.size()},
        {"nodes", group.kept.nodes},
        {"reachable_bytes", group.kept.bytes},
        {"retained_bytes", group.kept.freed_bytes},
        {"first_step", view.step_json(group.first_step)},
        {"last_step", view.step_json(group.last_step)},
        {"referrer", group.referrer == nullptr
                         ? ordered_json()
                         : ordered_json{{"text", path_words(view.tables(), Words(Language::english), *group.referrer)},
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
    const Overview overview(view);
    std::string text =
        fmt::format("Autograd graph at {}\n{} alive, in {}; they keep {}\n", view.when(),
                    counted(view.time_point().alive_nodes(), "node"),
                    counted(static_cast<int64_t>(view.time_point().roots().size()) - overview.lone_leaves, "graph"),
                    format_bytes(view.time_point().reachable_bytes()));
    if (view.tables().nodes_left_out > 0) {
        text += fmt::format("{} more lived too shortly to be written down one by one\n",
                            counted(view.tables().nodes_left_out, "node"));
    }
    if (!overview.groups.empty()) {
        text += groups_text(view, overview, limit);
    }
    if (view.referrers().scan() == nullptr) {
        text += "Who holds them is not known: the heap was not searched for holders.\n";
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
            {"alive_nodes", view.time_point().alive_nodes()},
            {"reachable_bytes", view.time_point().reachable_bytes()},
            {"nodes_left_out", view.tables().nodes_left_out},
            {"root_groups", std::move(groups)},
            {"root_groups_left_out", overview.groups.size() - shown},
            {"lone_leaves", overview.lone_leaves},
            {"growth", growth_json(view, overview.growth)}};
}

}  // namespace tidemark::cli
