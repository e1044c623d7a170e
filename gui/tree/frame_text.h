// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The words and colors of the call tree's frames.
#pragma once

#include <QColor>
#include <QFontMetrics>
#include <QString>
#include <vector>

#include "gui/model/palette.h"
#include "gui/tree/shown_tree.h"

namespace tidemark::gui {

/// Returns the text of a box: "forward (train.py:42)", the name of a module, or words for another node.
QString node_text(const ShownTree& shown, uint32_t node);
/// Returns the text of a box within `width` pixels: the line number stays readable as long as the function does.
QString elided_frame(const QFontMetrics& metrics, const QString& text, int width);
/// Returns the texts of the nodes from `first` inward to `node`, which share a box. Omits the first of them if not all
/// have room.
QString path_text(const ShownTree& shown, uint32_t first, uint32_t node, const QFontMetrics& metrics, int width);
/// Returns the tooltip, as HTML: function, file and line, bytes, allocations, shares; above it the names of those from
/// `first` on that share the box.
QString node_tip(const ShownTree& shown, uint32_t first, uint32_t node);
/// Returns a sentence for screen readers.
QString node_summary(const ShownTree& shown, uint32_t node);
/// Returns the tooltip, as HTML, of the children of a node from `first` on, which are too small to be drawn.
QString rest_tip(const ShownTree& shown, uint32_t first);

/// Returns the color of a frame's file or of a module's name, the same in every run; library frames are muted.
QColor node_color(const Theme& theme, const ShownTree& shown, uint32_t node);
/// Returns whether the color is only that of a hatching: nothing is known about the node's calls.
inline bool is_hatched(const CallNode& node) {
    return node.kind == CallNodeKind::no_stack || node.kind == CallNodeKind::no_frames ||
           node.kind == CallNodeKind::no_module;
}

/// The frames whose function, or file and line, contain a text, and the modules whose name does.
struct FoundFrames {
    std::vector<bool> is_found;  ///< by node; empty: no search
    uint64_t bytes = 0;          ///< under these frames; a found frame below another one does not count twice
    uint32_t count = 0;          ///< of nodes
};
/// Upper and lower case are the same. An empty text is no search.
FoundFrames find_frames(const ShownTree& shown, const QString& text);

}  // namespace tidemark::gui
