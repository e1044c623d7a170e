#include "storage/explain/growth/chains.h"

namespace tidemark {
namespace {

constexpr int64_t fewest_rounds = 4;

/// Round a node was made in, by the memory of its output, or by time.
int64_t round_of(const Case& of, NodeIndex node) {
    const int64_t made = of.graph()->tables().nodes.created[node];
    return made == before_recording ? -1 : of.rounds().at(of.device().events_until(made));
}

NodeIndex newest_child_of_type(const GraphCase& graph, NodeIndex node) {
    const auto& nodes = graph.tables().nodes;
    NodeIndex newest = no_node;
    for (const NodeIndex child : graph.index.children(node)) {
        if (nodes.type[child] == nodes.type[node] && (newest == no_node || child > newest)) {
            newest = child;
        }
    }
    return newest;
}

}  // namespace

std::optional<Link> link_between_rounds(const Case& of, const Pile& pile) {
    if (!pile.through_graph() || pile.roots != 1) {
        return std::nullopt;
    }
    const GraphCase& graph = *of.graph();
    // Down to the oldest memory of the pile.
    const AllocationRef oldest{of.device_position(), pile.sites.front()->now.front()};
    const Hold hold = hold_of(graph, oldest);
    const std::vector<NodeIndex> path =
        hold.keeper == no_node ? std::vector<NodeIndex>() : graph.moment.path_to(hold.keeper);
    if (path.empty() || round_of(of, path.front()) - round_of(of, path.back()) < fewest_rounds) {
        return std::nullopt;
    }
    for (size_t i = 1; i < path.size(); ++i) {
        if (round_of(of, path[i]) < round_of(of, path[i - 1])) {
            return Link{path[i - 1], path[i]};
        }
    }
    return std::nullopt;
}

int64_t row_of_same_type(const GraphCase& graph, NodeIndex root) {
    int64_t length = 0;
    for (NodeIndex node = root; node != no_node; node = newest_child_of_type(graph, node)) {
        ++length;
    }
    return length;
}

}  // namespace tidemark
