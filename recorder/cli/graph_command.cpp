// tidemark graph: which autograd graphs are alive at a moment, what they keep, and who holds them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/command.h"
#include "recorder/cli/graph_dot.h"
#include "recorder/cli/graph_pages.h"
#include "recorder/cli/output.h"
#include "storage/base/units.h"

namespace tidemark::cli {
namespace {

struct GraphOptions {
    TimePointOptions time_point;
    std::optional<int64_t> node, allocation, root;
    std::string format = "text";
    size_t limit = 20;  ///< 0: all
};

Result<NodeIndex> find_node(const GraphView& view, int64_t id) {
    const auto& ids = view.nodes().id;
    if (const NodeIndex node = view.index().find(id); node != no_node) {
        return node;
    }
    if (ids.empty()) {
        return usage_error(fmt::format("There is no node {}: this trace has no nodes, only labels and holders.", id));
    }
    const auto after = std::lower_bound(ids.begin(), ids.end(), id);
    const int64_t nearest = after == ids.end()                                             ? ids.back()
                            : after == ids.begin() || *after - id < id - *std::prev(after) ? *after
                                                                                           : *std::prev(after);
    return usage_error(fmt::format("There is no node {}: ids go from {} to {}, the nearest is {}.", id, ids.front(),
                                   ids.back(), nearest));
}

Result<NodeIndex> find_alive_node(const GraphView& view, int64_t id) {
    const auto node = find_node(view, id);
    if (!node || view.time_point().is_alive(*node)) {
        return node;
    }
    const int64_t created = view.nodes().created[*node], destroyed = view.nodes().destroyed[*node];
    return usage_error(
        fmt::format("{} is not alive at {}: it was {}{}. Choose a moment in its life with --at.", view.name(*node),
                    format_time_point(view.time()),
                    created == before_recording ? "there at the start" : "made at " + format_time_point(created),
                    destroyed == never_happened ? "" : " and died at " + format_time_point(destroyed)));
}

Result<AllocationRef> find_memory(const GraphView& view, int64_t id) {
    const auto& devices = view.trace().devices;
    for (uint32_t d = 0; d < devices.size(); ++d) {
        if (const auto index = devices[d].find_allocation(id)) {
            return AllocationRef{d, *index};
        }
    }
    std::optional<int64_t> nearest;
    const auto distance = [&](int64_t to) { return id < to ? to - id : id - to; };
    for (const DeviceHistory& device : devices) {
        for (AllocationIndex a = 0; a < device.allocations.size(); ++a) {
            const int64_t other = device.allocation_id(a);
            nearest = !nearest || distance(other) < distance(*nearest) ? other : *nearest;
        }
    }
    return usage_error(
        fmt::format("There is no allocation {}{}.", id,
                    nearest ? fmt::format(": the nearest is {}", *nearest) : std::string(": this trace has none")));
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

Status run_graph(const GraphOptions& options, Progress& progress) {
    const auto opened = GraphView::open(options.time_point, progress);
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

void add_graph_command(CLI::App& app, Job& job) {
    auto options = std::make_shared<GraphOptions>();
    CLI::App& command = add_command(
        app, "graph", "Which autograd graphs are alive, what they keep, and who holds them",
        "Without a choice: all graphs alive at the moment, by root, and how they grew. Bytes kept are those of "
        "blocks,\n"
        "each counted once; bytes that \"go along\" are what would be freed if the graphs went. Ids of nodes and\n"
        "allocations are those of the other outputs. DOT is for Graphviz: at most about 300 shapes, module by module.",
        "  tidemark graph run.tide\n"
        "  tidemark graph run.tide --at mark:epoch#2 --root 1742\n"
        "  tidemark graph run.tide --alloc 300 --format json\n"
        "  tidemark graph run.tide --format dot | dot -Tsvg -o graph.svg");
    add_time_point_options(command, options->time_point, "end",
                       "Whose events --at counts (default: the device with most events)");
    auto* node = command.add_option("--node", options->node, "All about a node of the graph");
    auto* memory = command.add_option("--alloc", options->allocation, "Who keeps an allocation, and what lets it go");
    auto* root = command.add_option("--root", options->root, "What a root, or any alive node, keeps alive");
    node->excludes(memory)->excludes(root);
    memory->excludes(root);
    command.add_option("--limit", options->limit, "How many rows of each list to show, 0 for all")
        ->capture_default_str();
    command.add_option("--format", options->format, "text, json or dot")
        ->check(CLI::IsMember({"text", "json", "dot"}))
        ->capture_default_str();
    command.callback(
        [options, &job] { job = [options](Progress& progress) { return run_graph(*options, progress); }; });
}

}  // namespace tidemark::cli
