// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The boxes of an icicle: the root on top, a row per frame, as wide as its bytes. No painting.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/attribution/call_tree.h"

namespace tidemark::gui {

struct IcicleBox {
    uint32_t node = 0;
    double left = 0, right = 0;  ///< pixels
    bool is_rest = false;        ///< stands for `node` and all its smaller siblings, which are too narrow
};

/// Places what is inside of one node, the zoomed one. Its ancestors fill the rows above it. Copies nothing of the tree
/// and keeps no reference.
class IcicleLayout {
public:
    IcicleLayout() = default;
    IcicleLayout(const CallTree& tree, uint32_t zoomed, double width);

    /// A row is as deep as its number: row 0 is the root.
    int row_count() const { return static_cast<int>(rows_.size()); }
    /// From left to right.
    const std::vector<IcicleBox>& row(int r) const { return rows_[static_cast<size_t>(r)]; }
    /// Returns the box of a row at a pixel.
    std::optional<IcicleBox> box_at(int r, double x) const;
    /// Returns a node's own box; nothing if the node is outside of the zoomed one or too narrow.
    std::optional<IcicleBox> box_of(const CallTree& tree, uint32_t node) const;

private:
    void place_children(const CallTree& tree, const IcicleBox& box, double pixels_per_byte);

    std::vector<std::vector<IcicleBox>> rows_;
};

}  // namespace tidemark::gui
