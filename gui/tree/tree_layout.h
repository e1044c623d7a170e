// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The boxes of a tree's picture. No painting.
#pragma once

#include <QRectF>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "storage/attribution/call_tree.h"

namespace tidemark::gui {

enum class TreeShape : uint8_t {
    icicle,   ///< the root on top, a row per level, each box as wide as its bytes
    treemap,  ///< each box as large as its bytes, inside of its parent
};

struct TreeBox {
    uint32_t node = 0;
    QRectF rect;            ///< pixels
    bool is_rest = false;   ///< stands for `node` and all its smaller siblings, which are too small
    uint32_t first = node;  ///< `node`, or its outermost ancestor in the same box
};

/// Places what is inside of one node, the zoomed one. Of an icicle, its ancestors fill the rows above it. Copies
/// nothing of the tree and keeps no reference.
class TreeLayout {
public:
    TreeLayout() = default;
    static TreeLayout icicle(const CallTree& tree, uint32_t zoomed, double width, double row_height);
    /// `header`: the height of the line with a box's name, above its children. Nodes of which each has nearly all bytes
    /// of the one around it share a box and so a header: TreeBox::first to TreeBox::node. The root has its own.
    static TreeLayout treemap(const CallTree& tree, uint32_t zoomed, QSizeF size, double header);

    /// Parents first; those of one level from left to right, or in the order of their bytes.
    const std::vector<TreeBox>& boxes() const { return boxes_; }
    double height() const { return height_; }
    /// Returns the innermost box at a place.
    std::optional<TreeBox> box_at(QPointF place) const;
    /// Returns the box of a node; nothing if the node is outside of the zoomed one or too small.
    std::optional<TreeBox> box_of(uint32_t node) const;

private:
    void add(const CallTree& tree, const TreeBox& box);
    void place_row_below(const CallTree& tree, const TreeBox& box, double pixels_per_byte);
    void place_inside(const CallTree& tree, const TreeBox& box, double header);

    std::vector<TreeBox> boxes_;
    std::unordered_map<uint32_t, size_t> place_of_;  ///< of a node's box
    double height_ = 0;
};

}  // namespace tidemark::gui
