// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/graph_referrers.h"

#include <algorithm>
#include <set>

#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr size_t most_containers = 4;

/// Returns the alive nodes that retain the memory: those that saved it, and all that refer to them.
std::set<NodeIndex> retaining_nodes(const GraphContext& graph, AllocationRef memory) {
    std::set<NodeIndex> found;
    std::vector<NodeIndex> open;
    for (const uint32_t saved : graph.state.retainers(memory)) {
        open.push_back(graph.index.saver(saved));
    }
    while (!open.empty()) {
        const NodeIndex next = open.back();
        open.pop_back();
        if (graph.state.is_alive(next) && found.insert(next).second) {
            const auto parents = graph.index.parents(next);
            open.insert(open.end(), parents.begin(), parents.end());
        }
    }
    return found;
}

}  // namespace

std::vector<const Referrer*> other_containers_of_graph(const GraphContext& graph, const LeakSuspect& suspect) {
    if (!suspect.through_graph() || !suspect.referrer) {
        return {};
    }
    std::set<std::string> known{referrer_expression(graph.tables(), *suspect.referrer)};
    std::vector<const Referrer*> others;
    for (const NodeIndex node : retaining_nodes(graph, suspect.example)) {
        const Referrer* referrer = graph.referrers.in_python(node);
        const bool is_container = referrer && container_end(referrer->links) < referrer->links.size();
        if (is_container && others.size() < most_containers &&
            known.insert(referrer_expression(graph.tables(), *referrer)).second) {
            others.push_back(referrer);
        }
    }
    return others;
}

}  // namespace tidemark
