// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The components of the memory breakdown in the pixel columns of pictures. Thread: any.
#pragma once

#include <compare>
#include <string>
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

/// Returns the breakdown in each pixel column: at the time of highest active memory, or in its middle if nothing
/// happens in it.
std::vector<BreakdownRow> breakdown_rows(const PictureRequest& request);

/// Fills a bar or swatch as the picture does: pending free striped, the unexplained rest hatched.
QBrush component_brush(const Theme& theme, ComponentKind kind, int nth);
/// Returns the number of components of the same kind that have more bytes: the largest library has the same color in
/// every view. Of processes, returns the number of those before it, so that neighbors in the stack differ. `most`: the
/// highest bytes of each component.
int nth_of_kind(const std::vector<ComponentKey>& components, const std::vector<int64_t>& most, const ComponentKey& key);

}  // namespace tidemark::gui
