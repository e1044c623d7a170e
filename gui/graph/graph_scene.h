// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The picture of an outline with some of its groups open: boxes within frames, and the links between them.
#pragma once

#include <QPolygonF>
#include <QRectF>
#include <QString>
#include <memory>
#include <unordered_map>
#include <vector>

#include "gui/graph/graph_outline.h"

namespace tidemark::gui {

/// What refers to roots of the graph, such as a variable; drawn above them.
struct RootReferrer {
    QString text;
    std::vector<NodeIndex> roots;  ///< largest retained size first
    int64_t retained_bytes = 0;    ///< of the roots
};

/// Members of a group that have one box together, because the group is open only to show others.
struct RestOfGroup {
    std::vector<NodeIndex> nodes;
    uint32_t members = 0;  ///< groups and nodes
    GroupTotals totals;    ///< shallow size: at most this
};

/// A closed group, a node, the frame of an open group, the rest of an open group, or a referrer of roots.
struct GraphBox {
    GroupIndex group = no_group;  ///< no_group: a node or a referrer; of a rest, the open group
    NodeIndex node = no_node;     ///< a group's representative; a referrer's first root
    int referrer = -1;            ///< position in GraphScene::referrers
    int rest = -1;                ///< position in GraphScene::rests
    uint64_t key = 0;
    int parent = -1;  ///< the frame around it; -1: none
    bool open = false;
    uint32_t saved = 0;  ///< number of tensors a node saved, drawn beside it
    int64_t bytes = 0;   ///< shallow size
    QRectF rect;         ///< of the box itself, without what is drawn beside it
    bool is_node() const { return group == no_group && referrer < 0; }
    bool is_group() const { return group != no_group; }
};

/// All edges from one box to another. Within a frame, -1 is the frame's upper or lower edge.
struct GraphLink {
    int from = -1, to = -1;  ///< boxes
    uint32_t edges = 0;
    bool upward = false;
    QPolygonF route;
};

/// Immutable once made; scene units are pixels at scale 1. Thread: any.
struct GraphScene {
    std::vector<GraphBox> boxes;  ///< frames before their content
    std::vector<GraphLink> links;
    std::vector<RootReferrer> referrers;  ///< those with a box
    std::vector<RestOfGroup> rests;
    QSizeF size;
    int64_t most_bytes = 0;  ///< the largest of a box that is no frame

    int find(uint64_t key) const;  ///< box, or -1
    /// Returns the innermost box at a point, or -1.
    int box_at(QPointF point) const;
    /// Returns the box, not a frame, that contains the node; -1: none.
    int box_of(const GraphOutline& outline, NodeIndex node) const;

    std::unordered_map<uint64_t, int> by_key;
    std::unordered_map<NodeIndex, int> by_node;  ///< boxes that are nodes
    std::unordered_map<NodeIndex, int> by_root;  ///< boxes of referrers
};

/// Sizes that depend on the font.
struct BoxMetrics {
    double line = 14;  ///< height of a line of text
    double width = 190;
    double title() const { return line + 8; }  ///< of a frame
};

uint64_t node_key(const GraphTables& tables, NodeIndex node);

struct SceneContent {
    std::vector<uint64_t> opened;         ///< keys of open groups; the whole is always open
    std::vector<NodeIndex> shown;         ///< groups around them are open, too, with one box for most other members
    std::vector<RootReferrer> referrers;  ///< drawn if one of their roots is in the region
};

/// Returns null if canceled. Thread: any.
std::shared_ptr<const GraphScene> make_scene(const GraphIndex& index, const GraphState& time_point,
                                             const GraphOutline& outline, const SceneContent& content,
                                             const BoxMetrics& metrics, const Progress& progress);

}  // namespace tidemark::gui
