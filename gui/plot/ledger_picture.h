// The layers of the ledger over time, painted pixel column by pixel column. Thread: any.
#pragma once

#include <vector>

#include "gui/plot/picture.h"
#include "storage/ledger/ledger.h"

namespace tidemark::gui {

/// What tells layers apart over time.
struct LayerKey {
    LayerKind kind = LayerKind::unknown;
    std::string name;
    int64_t pid = 0;
    auto operator<=>(const LayerKey&) const = default;
};

struct LedgerPicture {
    PictureRequest request;
    QImage image;
    std::vector<LedgerRow> rows;   ///< one per pixel column
    std::vector<LayerKey> layers;  ///< that occur, from the innermost outwards
    int64_t highest = 0;           ///< bytes, of all layers together or of NVML's figure
};

/// Layers stacked from requested bytes up, NVML's figure as a line on top. Each column shows the moment of highest
/// active memory in it.
LedgerPicture paint_ledger(const PictureRequest& request);

/// Fills a bar or swatch as the picture does: waiting striped, what is not explained hatched.
QBrush layer_brush(const Theme& theme, LayerKind kind, int nth);
/// How many of the same kind come before it.
int nth_of_kind(const std::vector<LayerKey>& layers, const LayerKey& key);

}  // namespace tidemark::gui
