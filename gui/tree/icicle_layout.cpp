// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/tree/icicle_layout.h"

#include <algorithm>

namespace tidemark::gui {

namespace {
constexpr double narrowest_box = 3;      // pixels: narrower ones show neither color nor edge
constexpr double narrowest_rest = 0.75;  // pixels
}  // namespace

IcicleLayout::IcicleLayout(const CallTree& tree, uint32_t zoomed, double width) {
    std::vector<uint32_t> path;
    for (uint32_t n = zoomed; n != CallTree::root; n = tree.node(n).parent) {
        path.push_back(n);
    }
    path.push_back(CallTree::root);
    for (auto n = path.rbegin(); n != path.rend(); ++n) {
        rows_.push_back({{*n, 0, width, false}});
    }
    const uint64_t bytes = tree.node(zoomed).total;
    const double pixels_per_byte = bytes == 0 ? 0 : width / static_cast<double>(bytes);
    // Row by row: place_children() adds to the row below, which is complete before its turn.
    for (size_t r = rows_.size() - 1; r < rows_.size(); ++r) {
        const std::vector<IcicleBox> parents = rows_[r];
        for (const IcicleBox& box : parents) {
            if (!box.is_rest) {
                place_children(tree, box, pixels_per_byte);
            }
        }
    }
}

void IcicleLayout::place_children(const CallTree& tree, const IcicleBox& box, double pixels_per_byte) {
    const size_t below = tree.node(box.node).depth + 1;
    const auto add = [&](const IcicleBox& child) {
        if (rows_.size() == below) {
            rows_.emplace_back();
        }
        rows_[below].push_back(child);
    };
    const uint32_t end = tree.node(box.node).end;
    double left = box.left;
    uint64_t rest = tree.node(box.node).total - tree.node(box.node).self;
    for (uint32_t child = box.node + 1; child < end; child = tree.node(child).end) {
        const double width = static_cast<double>(tree.node(child).total) * pixels_per_byte;
        if (width < narrowest_box) {
            const double rest_width = static_cast<double>(rest) * pixels_per_byte;
            if (rest_width >= narrowest_rest) {
                add({child, left, left + rest_width, true});
            }
            return;  // the other children are not wider
        }
        add({child, left, left + width, false});
        left += width;
        rest -= tree.node(child).total;
    }
}

std::optional<IcicleBox> IcicleLayout::box_at(int r, double x) const {
    if (r < 0 || r >= row_count()) {
        return std::nullopt;
    }
    const std::vector<IcicleBox>& boxes = row(r);
    const auto after =
        std::upper_bound(boxes.begin(), boxes.end(), x, [](double at, const IcicleBox& box) { return at < box.left; });
    if (after == boxes.begin() || x >= std::prev(after)->right) {
        return std::nullopt;
    }
    return *std::prev(after);
}

std::optional<IcicleBox> IcicleLayout::box_of(const CallTree& tree, uint32_t node) const {
    const auto r = static_cast<int>(tree.node(node).depth);
    if (r >= row_count()) {
        return std::nullopt;
    }
    // From left to right the nodes of a row have ascending numbers.
    const auto found = std::lower_bound(row(r).begin(), row(r).end(), node,
                                        [](const IcicleBox& box, uint32_t n) { return box.node < n; });
    return found == row(r).end() || found->node != node || found->is_rest ? std::nullopt : std::optional(*found);
}

}  // namespace tidemark::gui
