// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Arithmetic between axis units and pixels. A trace may contain any time and any size, so every position that Qt gets
// comes from an AxisMap, which clips it: Qt's own arithmetic overflows far outside a picture.
#pragma once

#include <QRectF>
#include <algorithm>
#include <cmath>

namespace tidemark::gui {

/// A linear map from an axis span onto pixels (device or logical, as the caller decides).
struct AxisMap {
    double from = 0, to = 1;     ///< axis units
    double first = 0, last = 1;  ///< pixels; last < first for an axis that grows upwards

    static constexpr double beyond = 4096;  ///< pixels: farther outside the span there is nothing to see

    /// Returns a finite position, at most `beyond` outside the span.
    double pixel(double value) const {
        const double at = first + (value - from) / (to - from) * (last - first);
        return std::isnan(at) ? first : std::clamp(at, std::min(first, last) - beyond, std::max(first, last) + beyond);
    }
    double value(double pixel) const { return from + (pixel - first) / (last - first) * (to - from); }
};

/// Returns the rows, counted from the bottom, whose center lies in [bottom, top) bytes; clipped to [0, rows).
struct RowRun {
    int begin = 0, end = 0;
};
RowRun rows_between(double bottom, double top, double low, double bytes_per_row, int rows);

/// A span of axis units that an image shows, left to right or bottom to top.
struct Span {
    double from = 0, to = 1;
};

/// Returns the part of an image of `pixels` pixels that shows `visible`, as its first pixel and its length; the length
/// is 0 if the image shows nothing of it. A part is at least one pixel, since Qt cannot enlarge less.
struct Part {
    double first = 0, length = 0;
    Span shown;  ///< the axis units of the part
};
Part visible_part(Span image, int pixels, Span visible);

}  // namespace tidemark::gui
