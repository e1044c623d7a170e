// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One node of the graph: its origin, its state, the memory it retains and what retains it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "recorder/cli/describe.h"
#include "recorder/cli/graph/graph_pages.h"
#include "recorder/cli/output.h"
#include "storage/text/fact_words.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t path_ends_shown = 3;

/// "created at 1.2 s in step 3; backpropagated at 1.3 s, saved tensors retained (retain_graph)"
std::string lifetime_text(const GraphView& view, NodeIndex node) {
    const Words& words = view.words();
    const GraphNodes& nodes = view.nodes();
    const NodeState state = view.state(node);
    const auto created = with("time", format_time_point(nodes.created[node]));
    if (state == NodeState::not_created) {
        return words("not created yet: it is created at {time}", created);
    }
    const std::string step_name = view.step_text(node);
    const auto step = with("step", step_name);
    const bool is_older = nodes.created[node] == before_recording;
    std::string text = is_older            ? step_name.empty() ? words("created before the recording")
                                                               : words("created before the recording in {step}", step)
                                  : step_name.empty() ? words("created at {time}", created)
                                           : words("created at {time} in {step}", created, step);
    const auto executed = with("time", format_time_point(nodes.executed[node]));
    text += words("; ");
    if (nodes.executed[node] > view.time()) {
        text += words("never backpropagated");
    } else if (view.saved_by(node).empty()) {
        text += words("backpropagated at {time}, no saved tensors", executed);
    } else if (nodes.released[node] <= view.time()) {
        text += words("backpropagated at {time}, saved tensors released at {released}", executed,
                      with("released", format_time_point(nodes.released[node])));
    } else {
        text += words("backpropagated at {time}, saved tensors retained (retain_graph)", executed);
    }
    return state == NodeState::destroyed
               ? text + words("; ") +
                     words("destroyed at {time}", with("time", format_time_point(nodes.destroyed[node])))
               : text;
}

std::string saved_text(const GraphView& view, uint32_t saved) {
    const Words& words = view.words();
    const SavedTensors& all = view.tables().saved;
    const AllocationRef memory = all.allocation[saved];
    std::string text = fmt::format(
        "{:<11}{}", view.tables().texts[all.name[saved]],
        words("{bytes}, version {version}", with("bytes", format_bytes(static_cast<int64_t>(all.bytes[saved]))),
              with("version", all.version[saved])));
    const auto add = [&](const std::string& part) { text += words(", ") + part; };
    if (all.is_view[saved]) {
        add(words("a view"));
    }
    if (all.is_packed[saved]) {
        add(words("packed by hooks"));
    }
    add(memory ? words("in {memory}", with("memory", view.name(memory))) : words("in unknown memory"));
    if (memory && !view.retains(saved)) {
        add(words("no longer retained"));
    }
    return text;
}

/// Returns lines; the first one begins with the title.
template <class Items, class Line>
std::string list_text(const Words& words, std::string_view title, const Items& items, size_t limit, Line&& line) {
    const size_t shown = limited(items.size(), limit);
    std::string text = items.empty() ? fmt::format("{:<13}{}\n", title, words("none")) : "";
    for (size_t i = 0; i < shown; ++i) {
        text += fmt::format("{:<13}{}\n", i == 0 ? title : "", visible_text(line(items[i])));
    }
    return text + rest_text(words, items.size() - shown, 13);
}

/// An edge to the node that receives the gradient of one input.
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

/// Returns the name of a node, with its state if it is not alive.
std::string neighbor_text(const GraphView& view, NodeIndex node) {
    return view.graph_state().is_alive(node)
               ? view.name(node)
               : view.name(node) + view.words()(", ") + node_state_name(view.words(), view.index(), node, view.time());
}

ordered_json neighbor_json(const GraphView& view, NodeIndex node) {
    return {{"id", view.nodes().id[node]},
            {"type", view.index().type(node)},
            {"variable", view.tables().texts[view.nodes().variable[node]]},
            {"state", state_word(view.state(node))}};
}

}  // namespace

std::string path_text(const GraphView& view, NodeIndex node) {
    const Words& words = view.words();
    const std::vector<NodeIndex> path = view.graph_state().path_to(node);
    const bool is_long = path.size() > 2 * path_ends_shown + 1;
    std::string text;
    for (size_t i = 0; i < path.size(); ++i) {
        if (is_long && i == path_ends_shown) {
            const size_t left_out = path.size() - 2 * path_ends_shown;
            text += words(" → {count} more", with("count", format_count(static_cast<int64_t>(left_out))));
            i += left_out - 1;
            continue;
        }
        text += (text.empty() ? "" : " → ") + view.name(path[i]);
    }
    return text;
}

std::string node_text(const GraphView& view, NodeIndex node, size_t limit) {
    const Words& words = view.words();
    const GraphState& state = view.graph_state();
    std::string text =
        words("{node}, at {when}", with("node", visible_text(view.name(node))), with("when", view.when())) + '\n';
    const auto row = [&](std::string_view title, const std::string& value) {
        text += fmt::format("{:<13}{}\n", title, visible_text(value.empty() ? words("unknown") : value));
    };
    row(words("Lifetime"), lifetime_text(view, node));
    row(words("Module"), view.module(node));
    row(words("Op"), view.origin(node).op);
    row(words("Output"), view.nodes().output[node] ? view.name(view.nodes().output[node]) : "");
    row(words("Shallow"), format_bytes(state.shallow_bytes(node)));
    row(words("Retained"), format_bytes(state.retained_bytes(node)));
    row(words("Retained by"), view.referrer_text(node).value_or(""));
    if (state.is_alive(node)) {
        row(words("Path"), path_text(view, node));
    }
    text += list_text(words, words("Saved"), view.saved_by(node), limit,
                      [&](uint32_t saved) { return saved_text(view, saved); });
    text += list_text(words, words("Inputs"), inputs_of(view, node), limit, [&](const Input& input) {
        const std::string name = fmt::format("{}: {}", input.slot, neighbor_text(view, input.node));
        return input.output == 0
                   ? name
                   : words("{input}, its output {number}", with("input", name), with("number", input.output));
    });
    return text + list_text(words, words("Parents"), view.index().parents(node), limit,
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
    for (const NodeIndex ancestor : view.graph_state().path_to(node)) {
        path.push_back(neighbor_json(view, ancestor));
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
