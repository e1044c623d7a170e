// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/tree/tree_layout.h"

#include <algorithm>
#include <limits>
#include <span>

namespace tidemark::gui {

namespace {

constexpr double narrowest_box = 3;      // pixels: narrower ones show neither color nor edge
constexpr double narrowest_rest = 0.75;  // pixels
constexpr double edge = 2;               // pixels between a box of a treemap and its children
constexpr double least_area = 30;        // square pixels of a box of a treemap

/// A child, or the rest of the children, with the area it needs.
struct Tile {
    uint32_t node = 0;
    double area = 0;
    bool is_rest = false;
};

/// Returns the worst ratio of the sides if these tiles fill a row along a side.
double worst_ratio(std::span<const Tile> row, double sum, double side) {
    const double across = sum / side;
    double worst = 1;
    for (const Tile& tile : row) {
        const double along = tile.area / across;
        worst = std::max(worst, std::max(along / across, across / along));
    }
    return worst;
}

/// Fills a rectangle with tiles, largest first, row by row along its shorter side, so that they are nearly square
/// (Bruls, Huizing and van Wijk: Squarified treemaps). Calls place(tile, rectangle).
template <class Place>
void squarify(std::span<const Tile> tiles, QRectF room, Place&& place) {
    while (!tiles.empty()) {
        const bool is_wide = room.width() >= room.height();
        const double side = is_wide ? room.height() : room.width();
        if (side <= 0) {
            return;  // rounding has used up the room
        }
        size_t count = 0;
        double sum = 0, ratio = std::numeric_limits<double>::infinity();
        while (count < tiles.size()) {
            const double more = sum + tiles[count].area;
            const double next = worst_ratio(tiles.first(count + 1), more, side);
            if (next > ratio) {
                break;
            }
            ratio = next;
            sum = more;
            ++count;
        }
        const double across = sum / side;
        double along = 0;
        for (const Tile& tile : tiles.first(count)) {
            const double length = tile.area / across;
            place(tile, is_wide ? QRectF(room.left(), room.top() + along, across, length)
                                : QRectF(room.left() + along, room.top(), length, across));
            along += length;
        }
        is_wide ? room.setLeft(room.left() + across) : room.setTop(room.top() + across);
        tiles = tiles.subspan(count);
    }
}

/// Returns the children that are large enough, largest first, and one tile for all others.
std::vector<Tile> tiles_of(const CallTree& tree, uint32_t node, double pixels_per_byte) {
    std::vector<Tile> tiles;
    double rest = 0;
    tree.for_each_child(node, [&](uint32_t child) {
        const double area = static_cast<double>(tree.node(child).total) * pixels_per_byte;
        if (area >= least_area) {
            tiles.push_back({child, area, false});
        } else if (area > 0) {
            rest += area;
            if (tiles.empty() || !tiles.back().is_rest) {
                tiles.push_back({child, 0, true});
            }
            tiles.back().area = rest;
        }
    });
    return tiles;
}

/// Returns the box of a node and of those inside of it that fill it: what is beside them would be too thin to be seen.
TreeBox shared_box(const CallTree& tree, uint32_t first, const QRectF& rect) {
    const auto whole = static_cast<double>(tree.node(first).total);
    const double longer_side = std::max(rect.width(), rect.height());
    uint32_t last = first;
    while (last != CallTree::root && last + 1 < tree.node(last).end) {
        const double beside = (whole - static_cast<double>(tree.node(last + 1).total)) / whole * longer_side;
        if (beside >= narrowest_box) {
            break;
        }
        ++last;  // the largest child is the first one
    }
    return {last, rect, false, first};
}

}  // namespace

void TreeLayout::add(const CallTree& tree, const TreeBox& box) {
    for (uint32_t n = box.node; !box.is_rest; n = tree.node(n).parent) {
        place_of_.emplace(n, boxes_.size());
        if (n == box.first) {
            break;
        }
    }
    boxes_.push_back(box);
    height_ = std::max(height_, box.rect.bottom());
}

TreeLayout TreeLayout::icicle(const CallTree& tree, uint32_t zoomed, double width, double row_height) {
    TreeLayout layout;
    std::vector<uint32_t> path;
    for (uint32_t n = zoomed; n != CallTree::root; n = tree.node(n).parent) {
        path.push_back(n);
    }
    path.push_back(CallTree::root);
    for (auto n = path.rbegin(); n != path.rend(); ++n) {
        layout.add(tree, {*n, QRectF(0, layout.height_, width, row_height), false});
    }
    const uint64_t bytes = tree.node(zoomed).total;
    const double pixels_per_byte = bytes == 0 ? 0 : width / static_cast<double>(bytes);
    // Row by row: a row is complete before the turn of its first box.
    for (size_t i = layout.boxes_.size() - 1; i < layout.boxes_.size(); ++i) {
        if (const TreeBox box = layout.boxes_[i]; !box.is_rest) {
            layout.place_row_below(tree, box, pixels_per_byte);
        }
    }
    return layout;
}

void TreeLayout::place_row_below(const CallTree& tree, const TreeBox& box, double pixels_per_byte) {
    const uint32_t end = tree.node(box.node).end;
    const double top = box.rect.bottom(), height = box.rect.height();
    double left = box.rect.left();
    uint64_t rest = tree.node(box.node).total - tree.node(box.node).self;
    for (uint32_t child = box.node + 1; child < end; child = tree.node(child).end) {
        const double width = static_cast<double>(tree.node(child).total) * pixels_per_byte;
        if (width < narrowest_box) {
            const double rest_width = static_cast<double>(rest) * pixels_per_byte;
            if (rest_width >= narrowest_rest) {
                add(tree, {child, QRectF(left, top, rest_width, height), true});
            }
            return;  // the other children are not wider
        }
        add(tree, {child, QRectF(left, top, width, height), false});
        left += width;
        rest -= tree.node(child).total;
    }
}

TreeLayout TreeLayout::treemap(const CallTree& tree, uint32_t zoomed, QSizeF size, double header) {
    TreeLayout layout;
    layout.add(tree, shared_box(tree, zoomed, QRectF(QPointF(0, 0), size)));
    for (size_t i = 0; i < layout.boxes_.size(); ++i) {
        if (const TreeBox box = layout.boxes_[i]; !box.is_rest) {
            layout.place_inside(tree, box, header);
        }
    }
    return layout;
}

/// Places the children below the header. What the node allocated itself stays free.
void TreeLayout::place_inside(const CallTree& tree, const TreeBox& box, double header) {
    const QRectF room = box.rect.adjusted(edge, header, -edge, -edge);
    const uint64_t bytes = tree.node(box.node).total;
    if (bytes == 0 || room.width() < header || room.height() < header) {
        return;
    }
    std::vector<Tile> tiles = tiles_of(tree, box.node, room.width() * room.height() / static_cast<double>(bytes));
    squarify(tiles, room, [&](const Tile& tile, const QRectF& rect) {
        add(tree, tile.is_rest ? TreeBox{tile.node, rect, true} : shared_box(tree, tile.node, rect));
    });
}

std::optional<TreeBox> TreeLayout::box_at(QPointF place) const {
    const auto found = std::find_if(boxes_.rbegin(), boxes_.rend(), [&](const TreeBox& box) {
        return box.rect.left() <= place.x() && place.x() < box.rect.right() && box.rect.top() <= place.y() &&
               place.y() < box.rect.bottom();
    });
    return found == boxes_.rend() ? std::nullopt : std::optional(*found);
}

std::optional<TreeBox> TreeLayout::box_of(uint32_t node) const {
    const auto found = place_of_.find(node);
    return found == place_of_.end() ? std::nullopt : std::optional(boxes_[found->second]);
}

}  // namespace tidemark::gui
