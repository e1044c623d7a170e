// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/coordinates.h"

#include <algorithm>
#include <cmath>

namespace tidemark::gui {

RowRun rows_between(double bottom, double top, double low, double bytes_per_row, int rows) {
    const auto first_center_above = [&](double bytes) {
        const double row = std::ceil((bytes - low) / bytes_per_row - 0.5);
        return static_cast<int>(std::clamp<double>(row, 0, rows));
    };
    return {first_center_above(bottom), first_center_above(top)};
}

}  // namespace tidemark::gui
