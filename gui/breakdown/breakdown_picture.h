// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The components of the memory breakdown over time, painted by pixel columns. Thread: any.
#pragma once

#include <vector>

#include "gui/widgets/component_columns.h"

namespace tidemark::gui {

struct BreakdownPicture {
    PictureRequest request;
    QImage image;
    std::vector<BreakdownRow> rows;        ///< one per pixel column
    std::vector<ComponentKey> components;  ///< those that occur, innermost first
    std::vector<int64_t> most;             ///< highest bytes of each of them
    int64_t highest = 0;                   ///< bytes of all components together or of NVML's figure

    QColor color(const ComponentKey& key) const;
};

/// Stacks components from requested bytes up, with NVML's figure as a line on top. A column shows the time of highest
/// active memory in it.
BreakdownPicture paint_breakdown(const PictureRequest& request);

}  // namespace tidemark::gui
