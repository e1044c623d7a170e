// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/earlier_roots.h"

#include <algorithm>

namespace tidemark {
namespace {

bool has_alive_parent(const GraphIndex& index, NodeIndex node, int64_t time) {
    const auto parents = index.parents(node);
    return std::any_of(parents.begin(), parents.end(),
                       [&](NodeIndex parent) { return is_alive(index.state(parent, time)); });
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
    for (const NodeIndex node : state.parents_first()) {
        for (const NodeIndex child : index.children(node)) {
            if (referrer_[child] == 0) {
                referrer_[child] = referrer_[node];
            }
        }
    }
}

const Referrer* EarlierRoots::referrer_above(NodeIndex node) const {
    const uint32_t position = referrer_.empty() ? 0 : referrer_[node];
    return position == 0 ? nullptr : &tables_.referrers[position - 1];
}

}  // namespace tidemark
