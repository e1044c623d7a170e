// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/tree/shown_tree.h"

#include <algorithm>
#include <vector>

#include "storage/replay/active_walk.h"

namespace tidemark::gui {

namespace {

bool is_wanted(const TreeRequest& request, AllocationIndex a) {
    switch (request.memory) {
        case TreeMemory::at_cursor: return true;
        case TreeMemory::of_finding: return contains(request.finding, a);
        case TreeMemory::grown_in_range:
            return !is_active_at(request.analysis->device().allocations, a, request.range->first);
    }
    return false;
}

}  // namespace

ShownTree make_tree(TreeRequest request) {
    const Analysis& analysis = *request.analysis;
    const TimePoint& point = request.memory == TreeMemory::grown_in_range ? request.range->second : request.cursor;
    std::vector<AllocationIndex> allocations;
    ActiveWalk(analysis.device(), analysis.live()).for_each_active(point, [&](const ActiveAllocation& active) {
        if (is_wanted(request, active.allocation)) {
            allocations.push_back(active.allocation);
        }
    });
    CallTree tree(analysis.trace(), analysis.device(), allocations, request.options);
    return {std::move(request), std::move(tree)};
}

uint32_t same_place(const CallTree& from, uint32_t n, const CallTree& to) {
    std::vector<uint32_t> path;
    for (; n != CallTree::root; n = from.node(n).parent) {
        path.push_back(n);
    }
    uint32_t place = CallTree::root;
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
        const CallNode& wanted = from.node(*step);
        uint32_t next = CallTree::root;
        to.for_each_child(place, [&](uint32_t child) {
            const CallNode& node = to.node(child);
            const bool is_same = node.kind == wanted.kind && node.frame == wanted.frame &&
                                 to.module(node.module) == from.module(wanted.module);
            next = is_same ? child : next;
        });
        if (next == CallTree::root) {
            break;
        }
        place = next;
    }
    return place;
}

}  // namespace tidemark::gui
