// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// How much of a scene is drawn at a scale: text does not become smaller than can be read, so a frame whose content has
// no room for text is drawn as one box.
#pragma once

#include <vector>

#include "gui/graph/graph_scene.h"

namespace tidemark::gui {

class GraphDetail {
public:
    /// `line`: the height on the screen of the smallest line of text.
    GraphDetail(const GraphScene& scene, double scale, double line);

    /// Returns whether a size on the screen has room for a line of text.
    static bool has_room(QSizeF size, double line) { return size.height() >= line + 3 && size.width() >= 4 * line; }

    bool is_collapsed(int box) const { return collapsed_[static_cast<size_t>(box)]; }
    /// Returns the box that is drawn in place of this one: itself, or the outermost collapsed frame around it.
    int shown(int box) const { return shown_[static_cast<size_t>(box)]; }
    bool is_drawn(int box) const { return shown(box) == box; }
    /// Returns whether the box is drawn as a frame around others.
    bool is_frame(int box) const { return open_[static_cast<size_t>(box)] && !is_collapsed(box); }
    /// Returns whether any box has room for text.
    bool has_text() const { return has_text_; }

private:
    std::vector<int> shown_;
    std::vector<bool> collapsed_, open_;
    bool has_text_ = false;
};

}  // namespace tidemark::gui
