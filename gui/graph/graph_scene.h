// The picture of an outline with some of its groups open: boxes within frames, and what leads from one to another.
#pragma once

#include <QPolygonF>
#include <QRectF>
#include <memory>
#include <unordered_map>
#include <vector>

#include "gui/graph/graph_outline.h"

namespace tidemark::gui {

/// A closed group, a node, or, open, the frame around what is in it.
struct GraphBox {
    GroupIndex group = no_group;  ///< no_group: a node
    NodeIndex node = no_node;     ///< a group's face
    uint64_t key = 0;
    int parent = -1;  ///< the frame it lies in; -1: none
    bool open = false;
    uint32_t saved = 0;  ///< tensors a node saved: drawn beside it
    int64_t bytes = 0;   ///< kept: own bytes
    QRectF rect;         ///< of the box itself, without what is drawn beside it
    bool is_node() const { return group == no_group; }
};

/// Edges from one box to another, together. Within a frame also from its upper edge and to its lower one (-1).
struct GraphLink {
    int from = -1, to = -1;  ///< boxes
    uint32_t edges = 0;
    bool upward = false;
    QPolygonF route;
};

/// Immutable once made; scene units are pixels at scale 1. Thread: any.
struct GraphScene {
    std::vector<GraphBox> boxes;  ///< frames before what they hold
    std::vector<GraphLink> links;
    QSizeF size;
    int64_t most_bytes = 0;  ///< of a box that is no frame

    int find(uint64_t key) const;  ///< box, or -1
    /// The innermost box at a point, or -1.
    int box_at(QPointF point) const;
    /// The box, not a frame, that is or holds the node; -1: none.
    int box_of(const GraphOutline& outline, NodeIndex node) const;

    std::unordered_map<uint64_t, int> by_key;
    std::unordered_map<NodeIndex, int> by_node;  ///< boxes that are nodes
};

/// Sizes that depend on the font.
struct BoxMetrics {
    double line = 14;  ///< height of a line of text
    double width = 190;
    double title() const { return line + 8; }  ///< of a frame
};

uint64_t node_key(const GraphTables& tables, NodeIndex node);

/// Groups with a key in `opened` are open; the whole always is. Null when cancelled. Thread: any.
std::shared_ptr<const GraphScene> make_scene(const GraphIndex& index, const GraphState& time_point,
                                             const GraphOutline& outline, const std::vector<uint64_t>& opened,
                                             const BoxMetrics& metrics, const Progress& progress);

/// Boxes a scene of the outline would have.
uint32_t count_boxes(const GraphOutline& outline, const std::vector<uint64_t>& opened);
/// `opened` and `key`; if that were more than most_boxes, without those opened first.
std::vector<uint64_t> with_opened(const GraphOutline& outline, std::vector<uint64_t> opened, uint64_t key);

}  // namespace tidemark::gui
