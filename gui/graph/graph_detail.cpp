// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_detail.h"

namespace tidemark::gui {

GraphDetail::GraphDetail(const GraphScene& scene, double scale, double line) {
    const size_t count = scene.boxes.size();
    shown_.resize(count);
    collapsed_.resize(count);
    open_.resize(count);
    std::vector<bool> has_content(count);  // something inside has room for text
    for (size_t b = count; b-- > 0;) {     // content before its frame
        const GraphBox& box = scene.boxes[b];
        const bool room = has_room(box.rect.size() * scale, line);
        open_[b] = box.open;
        collapsed_[b] = box.open && !has_content[b];
        has_text_ = has_text_ || room;
        if (box.parent >= 0 && (room || has_content[b])) {
            has_content[static_cast<size_t>(box.parent)] = true;
        }
    }
    for (size_t b = 0; b < count; ++b) {
        const int frame = scene.boxes[b].parent;
        const bool hidden = frame >= 0 && (!is_drawn(frame) || is_collapsed(frame));
        shown_[b] = hidden ? shown(frame) : static_cast<int>(b);
    }
}

}  // namespace tidemark::gui
