// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/earlier_roots.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tidemark {
namespace {

bool has_alive_parent(const GraphIndex& index, NodeIndex node, int64_t time) {
    const auto parents = index.parents(node);
    return std::any_of(parents.begin(), parents.end(),
                       [&](NodeIndex parent) { return is_alive(index.state(parent, time)); });
}

bool leads_into_container(const Referrer& referrer) {
    return std::any_of(referrer.links.begin(), referrer.links.end(), [](const PathLink& link) {
        return link.kind == PathLinkKind::index || link.kind == PathLinkKind::item;
    });
}

/// Calls visit(node) for all alive nodes that retain `node`.
template <class Visit>
void for_each_above(const GraphState& state, NodeIndex node, Visit visit) {
    std::vector<bool> is_known(state.index().tables().nodes.size());
    std::vector<NodeIndex> waiting{node};
    while (!waiting.empty()) {
        const NodeIndex next = waiting.back();
        waiting.pop_back();
        for (const NodeIndex parent : state.index().parents(next)) {
            if (state.is_alive(parent) && !is_known[parent]) {
                is_known[parent] = true;
                waiting.push_back(parent);
                visit(parent);
            }
        }
    }
}

}  // namespace

EarlierRoots::EarlierRoots(const GraphState& state) : tables_(state.index().tables()) {
    const GraphIndex& index = state.index();
    for (uint32_t r = 0; r < tables_.referrers.size(); ++r) {
        const Referrer& referrer = tables_.referrers[r];
        const int64_t scanned = tables_.scans[referrer.scan].began();
        if (referrer.node == no_node || is_native(referrer) || is_cycle(referrer) || scanned > state.time() ||
            !state.is_alive(referrer.node) || !has_alive_parent(index, referrer.node, state.time())) {
            continue;
        }
        const bool was_root = !has_alive_parent(index, referrer.node, scanned);
        if (was_root || leads_into_container(referrer)) {
            ByNode& referrers = was_root ? of_roots_ : of_elements_;
            referrers.resize(tables_.nodes.size());
            referrers[referrer.node] = r + 1;
        }
    }
    if (!of_roots_.empty()) {
        add_later_values(state);
    }
    pass_down(of_roots_, state);
    pass_down(of_elements_, state);
}

void EarlierRoots::pass_down(ByNode& referrers, const GraphState& state) {
    if (referrers.empty()) {
        return;
    }
    for (const NodeIndex node : state.parents_first()) {
        for (const NodeIndex child : state.index().children(node)) {
            if (referrers[child] == 0) {
                referrers[child] = referrers[node];
            }
        }
    }
}

void EarlierRoots::add_later_values(const GraphState& state) {
    const auto& nodes = tables_.nodes;
    std::map<std::pair<uint32_t, StackId>, NodeIndex> newest;  // value of a variable, by type and stack
    for (NodeIndex node = 0; node < of_roots_.size(); ++node) {
        if (of_roots_[node] != 0 && nodes.stack[node] != 0) {
            newest[{nodes.type[node], nodes.stack[node]}] = node;
        }
    }
    for (const auto& [call, found] : newest) {
        for_each_above(state, found, [&, call = call, found = found](NodeIndex node) {
            if (of_roots_[node] == 0 && nodes.type[node] == call.first && nodes.stack[node] == call.second) {
                of_roots_[node] = of_roots_[found];
            }
        });
    }
}

const Referrer* EarlierRoots::referrer_above(NodeIndex node) const {
    for (const ByNode* referrers : {&of_roots_, &of_elements_}) {
        if (!referrers->empty() && (*referrers)[node] != 0) {
            return &tables_.referrers[(*referrers)[node] - 1];
        }
    }
    return nullptr;
}

}  // namespace tidemark
