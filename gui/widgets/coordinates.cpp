// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/coordinates.h"

#include "storage/base/saturated.h"

namespace tidemark::gui {

RowRun rows_between(double bottom, double top, double low, double bytes_per_row, int rows) {
    const auto first_center_above = [&](double bytes) {
        return std::clamp(saturated<int>(std::ceil((bytes - low) / bytes_per_row - 0.5)), 0, rows);
    };
    return {first_center_above(bottom), first_center_above(top)};
}

Part visible_part(Span image, int pixels, Span visible) {
    const Span shown{std::max(image.from, visible.from), std::min(image.to, visible.to)};
    if (!(shown.from < shown.to) || pixels < 1) {
        return {};
    }
    const AxisMap map{image.from, image.to, 0, static_cast<double>(pixels)};
    const double first = std::clamp(map.pixel(shown.from), 0.0, pixels - 1.0);
    return {first, std::clamp(map.pixel(shown.to) - first, 1.0, pixels - first), shown};
}

}  // namespace tidemark::gui
