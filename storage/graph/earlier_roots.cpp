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
        const int64_t scanned = tables_.scans[referrer.scan].time;
        if (referrer.node != no_node && !is_native(referrer) && !is_cycle(referrer) && scanned <= state.time() &&
            state.is_alive(referrer.node) && !has_alive_parent(index, referrer.node, scanned) &&
            has_alive_parent(index, referrer.node, state.time())) {
            referrer_.resize(tables_.nodes.size());
            referrer_[referrer.node] = r + 1;
        }
    }
    if (referrer_.empty()) {
        return;
    }
    add_later_values(state);
    for (const NodeIndex node : state.parents_first()) {
        for (const NodeIndex child : index.children(node)) {
            if (referrer_[child] == 0) {
                referrer_[child] = referrer_[node];
            }
        }
    }
}

void EarlierRoots::add_later_values(const GraphState& state) {
    const auto& nodes = tables_.nodes;
    std::map<std::pair<uint32_t, StackId>, NodeIndex> newest;  // value of a variable, by type and stack
    for (NodeIndex node = 0; node < referrer_.size(); ++node) {
        if (referrer_[node] != 0 && nodes.stack[node] != 0) {
            newest[{nodes.type[node], nodes.stack[node]}] = node;
        }
    }
    for (const auto& [call, found] : newest) {
        for_each_above(state, found, [&, call = call, found = found](NodeIndex node) {
            if (referrer_[node] == 0 && nodes.type[node] == call.first && nodes.stack[node] == call.second) {
                referrer_[node] = referrer_[found];
            }
        });
    }
}

const Referrer* EarlierRoots::referrer_above(NodeIndex node) const {
    const uint32_t position = referrer_.empty() ? 0 : referrer_[node];
    return position == 0 ? nullptr : &tables_.referrers[position - 1];
}

}  // namespace tidemark
