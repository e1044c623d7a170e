// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Arithmetic between axis units and pixels, and the round numbers of axis labels.
#pragma once

#include <QString>
#include <cstdint>

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

/// Returns the distance between ticks: a power of two bytes, at most about `count` ticks over `span`.
double byte_tick_step(double span, int count);
/// Returns 1, 2 or 5 times a power of ten.
double decimal_tick_step(double span, int count);

/// Returns "0", "512 MiB" or "1.5 GiB": exact for multiples of `step`.
QString byte_tick_label(double bytes, double step);
/// Returns seconds with as many decimals as `step_ns` needs: "12.5 s", "0.000 250 s".
QString time_tick_label(double ns, double step_ns);

}  // namespace tidemark::gui
