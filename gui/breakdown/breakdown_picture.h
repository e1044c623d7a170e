// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The components of the memory breakdown over time, painted by pixel columns. Thread: any.
#pragma once

#include <vector>

#include "gui/widgets/picture.h"
#include "storage/breakdown/breakdown.h"

namespace tidemark::gui {

/// Identifies a component over time.
struct ComponentKey {
    ComponentKind kind = ComponentKind::unknown;
    std::string name;
    int64_t pid = 0;
    auto operator<=>(const ComponentKey&) const = default;
};

struct BreakdownPicture {
    PictureRequest request;
    QImage image;
    std::vector<BreakdownRow> rows;        ///< one per pixel column
    std::vector<ComponentKey> components;  ///< those that occur, innermost first
    int64_t highest = 0;                   ///< bytes of all components together or of NVML's figure
};

/// Stacks components from requested bytes up, with NVML's figure as a line on top. A column shows the time of highest
/// active memory in it.
BreakdownPicture paint_breakdown(const PictureRequest& request);

/// Fills a bar or swatch as the picture does: pending free striped, the unexplained rest hatched.
QBrush component_brush(const Theme& theme, ComponentKind kind, int nth);
/// Returns the number of components of the same kind before it.
int nth_of_kind(const std::vector<ComponentKey>& components, const ComponentKey& key);

}  // namespace tidemark::gui
