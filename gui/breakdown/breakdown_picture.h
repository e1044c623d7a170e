// The layers of the ledger over time, painted pixel column by pixel column. Thread: any.
#pragma once

#include <vector>

#include "gui/widgets/picture.h"
#include "storage/breakdown/breakdown.h"

namespace tidemark::gui {

/// What tells layers apart over time.
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
    std::vector<ComponentKey> components;  ///< that occur, from the innermost outwards
    int64_t highest = 0;                   ///< bytes, of all layers together or of NVML's figure
};

/// Layers stacked from requested bytes up, NVML's figure as a line on top. Each column shows the moment of highest
/// active memory in it.
BreakdownPicture paint_breakdown(const PictureRequest& request);

/// Fills a bar or swatch as the picture does: waiting striped, what is not explained hatched.
QBrush component_brush(const Theme& theme, ComponentKind kind, int nth);
/// How many of the same kind come before it.
int nth_of_kind(const std::vector<ComponentKey>& components, const ComponentKey& key);

}  // namespace tidemark::gui
