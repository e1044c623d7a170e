// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/graph/graph_dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "recorder/cli/describe.h"
#include "recorder/cli/output.h"
#include "storage/attribution/attribution.h"

namespace tidemark::cli {
namespace {

constexpr size_t most_shapes = 300;
constexpr size_t nodes_around_selection = 60;
constexpr int whole_module = 0;

/// Returns a DOT string. DOT and JSON escape the same characters in the same way.
std::string dot_string(std::string_view text) {
    return nlohmann::json(visible_text(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// How nodes are grouped into one shape.
struct Grouping {
    bool by_type = false, by_module = false;
    int depth = whole_module;  ///< of modules, see module_at_depth
};

/// From the finest to the coarsest.
constexpr std::array<Grouping, 7> groupings{{{true, true},
                                             {false, true},
                                             {false, true, 4},
                                             {false, true, 3},
                                             {false, true, 2},
                                             {false, true, 1},
                                             {true, false}}};

/// Nodes drawn as one.
struct Shape {
    std::string title;
    std::vector<NodeIndex> nodes;
};

std::string title_of(const GraphView& view, NodeIndex node, const Grouping& by) {
    const std::string_view module = module_at_depth(view.module(node), by.depth);
    if (!by.by_module || module.empty()) {
        return view.index().type(node);
    }
    return by.by_type ? fmt::format("{}: {}", module, view.index().type(node)) : std::string(module);
}

std::vector<Shape> one_by_one(const GraphView& view, std::span<const NodeIndex> nodes) {
    std::vector<Shape> shapes;
    for (const NodeIndex node : nodes) {
        shapes.push_back({view.name(node), {node}});
    }
    return shapes;
}

std::vector<Shape> grouped(const GraphView& view, std::span<const NodeIndex> nodes, const Grouping& by) {
    std::map<std::string, std::vector<NodeIndex>> found;
    for (const NodeIndex node : nodes) {
        found[title_of(view, node, by)].push_back(node);
    }
    std::vector<Shape> shapes;
    for (auto& [title, members] : found) {
        shapes.push_back({title, std::move(members)});
    }
    return shapes;
}

/// Merges the smallest shapes into one.
void merge_rest(const Words& words, std::vector<Shape>& shapes) {
    std::stable_sort(shapes.begin(), shapes.end(),
                     [](const Shape& a, const Shape& b) { return a.nodes.size() > b.nodes.size(); });
    Shape rest{words("everything else"), {}};
    for (size_t s = most_shapes - 1; s < shapes.size(); ++s) {
        rest.nodes.insert(rest.nodes.end(), shapes[s].nodes.begin(), shapes[s].nodes.end());
    }
    shapes.resize(most_shapes - 1);
    shapes.push_back(std::move(rest));
}

std::vector<Shape> shapes_of(const GraphView& view, std::span<const NodeIndex> nodes) {
    if (nodes.size() <= most_shapes) {
        return one_by_one(view, nodes);
    }
    std::vector<Shape> shapes;
    for (const Grouping& by : groupings) {
        shapes = grouped(view, nodes, by);
        if (shapes.size() <= most_shapes) {
            return shapes;
        }
    }
    merge_rest(view.words(), shapes);
    return shapes;
}

constexpr const char* color_of(NodeState state) {
    switch (state) {
        case NodeState::never_executed: return "#f6c26b";
        case NodeState::executed: return "#ef8a80";
        default: return "#d9d9d9";
    }
}

/// Returns the most frequent state of the shape's nodes.
NodeState state_of(const GraphView& view, const Shape& shape) {
    std::map<NodeState, size_t> counts;
    for (const NodeIndex node : shape.nodes) {
        ++counts[view.state(node)];
    }
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

/// A picture under construction. The selected node or allocation gets a thick frame.
class Drawing {
public:
    explicit Drawing(const GraphView& view) : view_(view) {}

    void select(NodeIndex node) { selected_ = node; }
    void add_nodes(std::span<const NodeIndex> nodes);
    /// Adds memory that a drawn node saved.
    void add_saved(uint32_t saved, bool is_selected);
    std::string finish() const;

private:
    void add_shape(size_t id, const Shape& shape);
    void add_edges();

    const GraphView& view_;
    NodeIndex selected_ = no_node;
    std::unordered_map<NodeIndex, size_t> shape_of_;
    std::set<int64_t> memory_;  ///< drawn already
    std::string body_;
};

void Drawing::add_shape(size_t id, const Shape& shape) {
    const bool is_one = shape.nodes.size() == 1;
    std::string title = shape.title;
    const Words& words = view_.words();
    title +=
        is_one ? "" : words(", ") + words.plural(static_cast<int64_t>(shape.nodes.size()), "{n} node", "{n} nodes");
    const int64_t bytes = view_.reachable_bytes(shape.nodes);
    title += bytes == 0 ? "" : words(", ") + words("retains {bytes}", with("bytes", format_bytes(bytes)));
    body_ +=
        fmt::format("  n{} [label={}, fillcolor=\"{}\"{}];\n", id, dot_string(title), color_of(state_of(view_, shape)),
                    is_one && shape.nodes.front() == selected_ ? ", penwidth=3" : "");
}

void Drawing::add_nodes(std::span<const NodeIndex> nodes) {
    const std::vector<Shape> shapes = shapes_of(view_, nodes);
    for (size_t s = 0; s < shapes.size(); ++s) {
        add_shape(s, shapes[s]);
        for (const NodeIndex node : shapes[s].nodes) {
            shape_of_[node] = s;
        }
    }
    add_edges();
}

void Drawing::add_edges() {
    std::map<std::pair<size_t, size_t>, int64_t> edges;
    for (const auto& [node, from] : shape_of_) {
        for (const NodeIndex child : view_.index().children(node)) {
            if (const auto to = shape_of_.find(child); to != shape_of_.end() && to->second != from) {
                ++edges[{from, to->second}];
            }
        }
    }
    for (const auto& [ends, count] : edges) {
        body_ += fmt::format("  n{} -> n{}{};\n", ends.first, ends.second,
                             count == 1 ? "" : fmt::format(" [label=\"{}\"]", format_count(count)));
    }
}

void Drawing::add_saved(uint32_t saved, bool is_selected) {
    const AllocationRef memory = view_.tables().saved.allocation[saved];
    const auto saver = shape_of_.find(view_.index().saver(saved));
    if (!memory || saver == shape_of_.end()) {
        return;
    }
    const int64_t id = view_.allocation_id(memory);
    if (memory_.insert(id).second) {
        body_ += fmt::format("  a{} [shape=cylinder, label={}, fillcolor=\"#a9cdea\"{}];\n", id,
                             dot_string(view_.name(memory)), is_selected ? ", penwidth=3" : "");
    }
    body_ += fmt::format("  n{} -> a{} [style=dashed, label={}];\n", saver->second, id,
                         dot_string(view_.tables().texts[view_.tables().saved.name[saved]]));
}

std::string Drawing::finish() const {
    return "digraph autograd {\n  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\"];\n" + body_ +
           "}\n";
}

/// Returns `from` followed by the live nodes around it, nearest first.
std::vector<NodeIndex> neighborhood(const GraphView& view, std::vector<NodeIndex> from) {
    std::unordered_set<NodeIndex> seen(from.begin(), from.end());
    const size_t limit = std::max(from.size(), nodes_around_selection);
    const auto add = [&](NodeIndex node) {
        if (from.size() < limit && view.graph_state().is_alive(node) && seen.insert(node).second) {
            from.push_back(node);
        }
    };
    for (size_t next = 0; next < from.size() && from.size() < limit; ++next) {
        std::ranges::for_each(view.index().children(from[next]), add);
        // Leaves belong to every graph, so their parents are not neighbors.
        if (next == 0 || !view.index().is_leaf(from[next])) {
            std::ranges::for_each(view.index().parents(from[next]), add);
        }
    }
    return from;
}

}  // namespace

std::string whole_graph_dot(const GraphView& view) {
    Drawing drawing(view);
    drawing.add_nodes(view.graph_state().parents_first());
    return drawing.finish();
}

std::string root_dot(const GraphView& view, NodeIndex root) {
    Drawing drawing(view);
    drawing.select(root);
    drawing.add_nodes(view.reachable_from(root));
    return drawing.finish();
}

std::string node_dot(const GraphView& view, NodeIndex node) {
    // Reverses the path, so that a limit cuts nodes far from the selected one.
    std::vector<NodeIndex> path = view.graph_state().path_to(node);
    std::reverse(path.begin(), path.end());
    path.resize(std::min(path.size(), nodes_around_selection / 2));
    Drawing drawing(view);
    drawing.select(node);
    drawing.add_nodes(neighborhood(view, std::move(path)));
    for (const uint32_t saved : view.saved_by(node)) {
        if (view.retains(saved)) {
            drawing.add_saved(saved, false);
        }
    }
    return drawing.finish();
}

std::string memory_dot(const GraphView& view, AllocationRef memory) {
    const std::vector<uint32_t> retainers = view.graph_state().retainers(memory);
    std::vector<NodeIndex> nodes;
    std::unordered_set<NodeIndex> seen;
    for (const uint32_t saved : retainers) {
        for (const NodeIndex node : view.graph_state().path_to(view.index().saver(saved))) {
            if (seen.insert(node).second) {
                nodes.push_back(node);
            }
        }
    }
    Drawing drawing(view);
    drawing.add_nodes(nodes);
    for (const uint32_t saved : retainers) {
        drawing.add_saved(saved, true);
    }
    return drawing.finish();
}

}  // namespace tidemark::cli
