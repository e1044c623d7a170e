// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark graph: the live autograd graphs at a point in time, the memory they retain, and their referrers.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/command.h"
#include "recorder/cli/graph/graph_dot.h"
#include "recorder/cli/graph/graph_pages.h"
#include "recorder/cli/output.h"
#include "storage/base/units.h"

namespace tidemark::cli {
namespace {

struct GraphOptions {
    TimePointOptions time_point;
    std::optional<int64_t> node, root;
    std::optional<std::string> allocation;  ///< see DeviceHistory::find_allocation()
    std::string format = "text";
    size_t limit = 20;  ///< 0: all
};

Result<NodeIndex> find_node(const GraphView& view, int64_t id) {
    const auto& ids = view.nodes().id;
    if (const NodeIndex node = view.index().find(id); node != no_node) {
        return node;
    }
    if (ids.empty()) {
        return usage_error("There is no node {id}: this trace has no nodes, only labels and referrers.",
                           with("id", id));
    }
    const auto after = std::lower_bound(ids.begin(), ids.end(), id);
    const int64_t nearest = after == ids.end()                                             ? ids.back()
                            : after == ids.begin() || *after - id < id - *std::prev(after) ? *after
                                                                                           : *std::prev(after);
    return usage_error("There is no node {id}: ids go from {first} to {last}, the nearest is {nearest}.",
                       with("id", id), with("first", ids.front()), with("last", ids.back()), with("nearest", nearest));
}

Result<NodeIndex> find_alive_node(const GraphView& view, int64_t id) {
    auto node = find_node(view, id);
    if (!node || view.graph_state().is_alive(*node)) {
        return node;
    }
    const int64_t created = view.nodes().created[*node], destroyed = view.nodes().destroyed[*node];
    const Sentence beginning = created == before_recording
                                   ? Sentence("created before the recording")
                                   : Sentence("created at {time}", with("time", format_time_point(created)));
    const Sentence lifetime = destroyed == never_happened
                                  ? beginning
                                  : Sentence("{beginning} and destroyed at {time}", with("beginning", beginning),
                                             with("time", format_time_point(destroyed)));
    return usage_error("{node} is not alive at {time}: it was {lifetime}. Select a point in its lifetime with --at.",
                       with("node", view.name(*node)), with("time", format_time_point(view.time())),
                       with("lifetime", lifetime));
}

Result<AllocationRef> find_memory(const GraphView& view, const std::string& name) {
    const auto& devices = view.trace().devices;
    for (uint32_t d = 0; d < devices.size(); ++d) {
        if (const auto index = devices[d].find_allocation(std::string_view(name))) {
            return AllocationRef{d, *index};
        }
    }
    int64_t id = 0;
    std::from_chars(name.data(), name.data() + name.size(), id);
    std::optional<AllocationRef> nearest;
    const auto distance = [&](AllocationRef to) { return std::abs(view.allocation_id(to) - id); };
    for (uint32_t d = 0; d < devices.size(); ++d) {
        for (AllocationIndex a = 0; a < devices[d].allocations.size(); ++a) {
            nearest = !nearest || distance({d, a}) < distance(*nearest) ? AllocationRef{d, a} : *nearest;
        }
    }
    return nearest ? usage_error("There is no allocation {id}: the nearest is {nearest}.", with("id", name),
                                 with("nearest", view.device_of(*nearest).allocation_name(nearest->index)))
                   : usage_error("There is no allocation {id}: this trace has none.", with("id", name));
}

Status show_root(const GraphView& view, const GraphOptions& options) {
    const auto root = find_alive_node(view, *options.root);
    if (!root) {
        return root.error();
    }
    return options.format == "json"  ? print_json(root_json(view, *root, options.limit))
           : options.format == "dot" ? print(root_dot(view, *root))
                                     : print(root_text(view, *root, options.limit));
}

Status show_node(const GraphView& view, const GraphOptions& options) {
    const auto node = options.format == "dot" ? find_alive_node(view, *options.node) : find_node(view, *options.node);
    if (!node) {
        return node.error();
    }
    return options.format == "json"  ? print_json(node_json(view, *node))
           : options.format == "dot" ? print(node_dot(view, *node))
                                     : print(node_text(view, *node, options.limit));
}

Status show_memory(const GraphView& view, const GraphOptions& options) {
    const auto memory = find_memory(view, *options.allocation);
    if (!memory) {
        return memory.error();
    }
    return options.format == "json"  ? print_json(memory_json(view, *memory))
           : options.format == "dot" ? print(memory_dot(view, *memory))
                                     : print(memory_text(view, *memory, options.limit));
}

Status show_overview(const GraphView& view, const GraphOptions& options) {
    return options.format == "json"  ? print_json(overview_json(view, options.limit))
           : options.format == "dot" ? print(whole_graph_dot(view))
                                     : print(overview_text(view, options.limit));
}

Status run_graph(const GraphOptions& options, const Words& words, Progress& progress) {
    const auto opened = GraphView::open(options.time_point, words, progress);
    if (!opened) {
        return opened.error();
    }
    const GraphView& view = **opened;
    return options.root         ? show_root(view, options)
           : options.node       ? show_node(view, options)
           : options.allocation ? show_memory(view, options)
                                : show_overview(view, options);
}

}  // namespace

void add_graph_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<GraphOptions>();
    CLI::App& command = add_command(
        line, "graph",
        {words("Show the live autograd graphs, the memory they retain, and their referrers"),
         words("Without --node, --alloc and --root, shows all live graphs, grouped by their roots, and their\n"
               "growth. Reachable is the memory that the graphs saved, each block counted once; retained is the\n"
               "part that is freed if the graphs are destroyed. IDs of nodes and allocations are the same in all\n"
               "commands. DOT output is for Graphviz and has at most about 300 shapes; larger graphs are grouped\n"
               "by module."),
         "  tidemark graph run.tide\n"
         "  tidemark graph run.tide --at mark:epoch#2 --root 1742\n"
         "  tidemark graph run.tide --alloc 300 --format json\n"
         "  tidemark graph run.tide --format dot | dot -Tsvg -o graph.svg"});
    add_time_point_options(line, command, options->time_point, "end",
                           words("The device whose events --at counts (default: the one with the most events)"));
    auto* node = command.add_option("--node", options->node, words("Show one node of the graph"));
    auto* memory =
        command.add_option("--alloc", options->allocation, words("Show what retains an allocation and what frees it"));
    auto* root = command.add_option("--root", options->root,
                                    words("Show what is reachable from a root, or from any other live node"));
    node->excludes(memory)->excludes(root);
    memory->excludes(root);
    add_limit_option(command, words, words("Number of rows to show per list; 0 shows all"), options->limit);
    add_format_option(command, words("Output format"), options->format, {"text", "json", "dot"});
    set_work(line, command, [options, words](Progress& progress) { return run_graph(*options, words, progress); });
}

}  // namespace tidemark::cli
