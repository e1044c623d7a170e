// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Arithmetic between axis units and pixels.
#pragma once

namespace tidemark::gui {

/// A linear map from an axis span onto pixels (device or logical, as the caller decides).
struct AxisMap {
    double from = 0, to = 1;     ///< axis units
    double first = 0, last = 1;  ///< pixels; last < first for an axis that grows upwards

    double pixel(double value) const { return first + (value - from) / (to - from) * (last - first); }
    double value(double pixel) const { return from + (pixel - first) / (last - first) * (to - from); }
};

/// Returns the rows, counted from the bottom, whose center lies in [bottom, top) bytes; clipped to [0, rows).
struct RowRun {
    int begin = 0, end = 0;
};
RowRun rows_between(double bottom, double top, double low, double bytes_per_row, int rows);

}  // namespace tidemark::gui
