// One node of the graph: what it is, what has become of it, what it keeps and what keeps it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "recorder/cli/describe.h"
#include "recorder/cli/graph_pages.h"
#include "recorder/cli/output.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t path_ends_shown = 3;

/// "made at 1.2 s in step 3; a backward ran it at 1.3 s and left what it saved (retain_graph)"
std::string lifetime_text(const GraphView& view, NodeIndex node) {
    const GraphNodes& nodes = view.nodes();
    const NodeState state = view.state(node);
    if (state == NodeState::not_created) {
        return fmt::format("not made yet: made at {}", format_time_point(nodes.created[node]));
    }
    const std::string step = view.step_text(node);
    std::string text = nodes.created[node] == before_recording ? "made before the recording"
                                                               : "made at " + format_time_point(nodes.created[node]);
    text += step.empty() ? "" : " in " + step;
    if (nodes.executed[node] > view.time()) {
        text += "; no backward has run it";
    } else {
        text += "; a backward ran it at " + format_time_point(nodes.executed[node]);
        text += view.saved_by(node).empty() ? "; it had saved nothing"
                : nodes.released[node] <= view.time()
                    ? " and released what it saved at " + format_time_point(nodes.released[node])
                    : " and left what it saved (retain_graph)";
    }
    return state == NodeState::dead ? fmt::format("{}; it died at {}", text, format_time_point(nodes.destroyed[node])) : text;
}

std::string saved_text(const GraphView& view, uint32_t saved) {
    const SavedTensors& all = view.tables().saved;
    const AllocationRef memory = all.allocation[saved];
    std::string text = fmt::format("{:<11}{}, version {}", view.tables().texts[all.name[saved]],
                                   format_bytes(static_cast<int64_t>(all.bytes[saved])), all.version[saved]);
    text += all.is_view[saved] ? ", a view" : "";
    text += all.is_packed[saved] ? ", packed by hooks" : "";
    text += memory ? ", in " + view.name(memory) : ", in no memory that is known";
    return view.holds(saved) || !memory ? text : text + ", held no more";
}

/// A list of lines under one title, which stands before the first.
template <class Items, class Words>
std::string list_text(std::string_view title, const Items& items, size_t limit, Words&& words) {
    const size_t shown = limited(items.size(), limit);
    std::string text = items.empty() ? fmt::format("{:<11}none\n", title) : "";
    for (size_t i = 0; i < shown; ++i) {
        text += fmt::format("{:<11}{}\n", i == 0 ? title : "", one_line(words(items[i])));
    }
    return text + rest_text(items.size() - shown, 11);
}

/// Those of one child, in slot order: "slot 0: node 3 MulBackward0, dead".
struct Input {
    NodeIndex node;
    uint16_t slot, output;
};

std::vector<Input> inputs_of(const GraphView& view, NodeIndex node) {
    const GraphEdges& edges = view.tables().edges;
    std::vector<Input> inputs;
    for (uint32_t e = edges.first[node]; e < edges.first[node + 1]; ++e) {
        inputs.push_back({edges.to[e], edges.slot[e], edges.input[e]});
    }
    return inputs;
}

/// Its name, and that it is gone where it is.
std::string neighbor_text(const GraphView& view, NodeIndex node) {
    return view.name(node) + (view.time_point().is_alive(node) ? "" : fmt::format(", {}", state_word(view.state(node))));
}

ordered_json neighbor_json(const GraphView& view, NodeIndex node) {
    return {{"id", view.nodes().id[node]},
            {"type", view.index().type(node)},
            {"variable", view.tables().texts[view.nodes().variable[node]]},
            {"state", state_word(view.state(node))}};
}

}  // namespace

std::string path_text(const GraphView& view, NodeIndex node) {
    const std::vector<NodeIndex> path = view.time_point().path_to(node);
    const bool is_long = path.size() > 2 * path_ends_shown + 1;
    std::string text;
    for (size_t i = 0; i < path.size(); ++i) {
        if (is_long && i == path_ends_shown) {
            const size_t left_out = path.size() - 2 * path_ends_shown;
            text += fmt::format(" → {} more", format_count(static_cast<int64_t>(left_out)));
            i += left_out - 1;
            continue;
        }
        text += (text.empty() ? "" : " → ") + view.name(path[i]);
    }
    return text;
}

std::string node_text(const GraphView& view, NodeIndex node, size_t limit) {
    const GraphState& time_point = view.time_point();
    std::string text = fmt::format("{}, at {}\n", one_line(view.name(node)), view.when());
    const auto row = [&](std::string_view title, std::string_view words) {
        text += fmt::format("{:<11}{}\n", title, one_line(words.empty() ? "not known" : words));
    };
    row("Life", lifetime_text(view, node));
    row("Module", view.module(node));
    row("Op", view.origin(node).op);
    row("Output", view.nodes().output[node] ? view.name(view.nodes().output[node]) : "");
    row("Keeps", fmt::format("{} itself; {} go when it goes", format_bytes(time_point.shallow_bytes(node)),
                             format_bytes(time_point.retained_bytes(node))));
    row("Held by", view.referrer_text(node).value_or("nobody that is known"));
    if (time_point.is_alive(node)) {
        row("Path", path_text(view, node));
    }
    text += list_text("Saved", view.saved_by(node), limit, [&](uint32_t s) { return saved_text(view, s); });
    text += list_text("Inputs", inputs_of(view, node), limit, [&](const Input& input) {
        return fmt::format("{}: {}{}", input.slot, neighbor_text(view, input.node),
                           input.output == 0 ? "" : fmt::format(", its output {}", input.output));
    });
    return text + list_text("Kept by", view.index().parents(node), limit,
                            [&](NodeIndex parent) { return neighbor_text(view, parent); });
}

ordered_json node_json(const GraphView& view, NodeIndex node) {
    auto saved = ordered_json::array(), inputs = ordered_json::array(), parents = ordered_json::array(),
         path = ordered_json::array();
    for (const uint32_t s : view.saved_by(node)) {
        saved.push_back(view.saved_json(s));
    }
    for (const Input& input : inputs_of(view, node)) {
        ordered_json json = neighbor_json(view, input.node);
        json["slot"] = input.slot;
        json["output"] = input.output;
        inputs.push_back(std::move(json));
    }
    for (const NodeIndex parent : view.index().parents(node)) {
        parents.push_back(neighbor_json(view, parent));
    }
    for (const NodeIndex on_way : view.time_point().path_to(node)) {
        path.push_back(neighbor_json(view, on_way));
    }
    const AllocationRef output = view.nodes().output[node];
    return {{"time_point", view.when_json()},
            {"node", view.node_json(node)},
            {"text", lifetime_text(view, node)},
            {"sequence", view.nodes().sequence[node] < 0 ? ordered_json() : ordered_json(view.nodes().sequence[node])},
            {"thread", view.origin(node).thread},
            {"frames", frames_json(view.trace().stacks, view.nodes().stack[node])},
            {"output", output ? view.memory_json(output) : ordered_json()},
            {"saved", std::move(saved)},
            {"inputs", std::move(inputs)},
            {"parents", std::move(parents)},
            {"path", std::move(path)},
            {"referrer", view.referrer_json(view.referrers().of(node))}};
}

}  // namespace tidemark::cli
