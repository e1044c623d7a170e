// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pictures inside the plots, painted by pixel columns from immutable data. Thread: any.
#pragma once

#include <QImage>
#include <QSize>
#include <limits>
#include <memory>
#include <vector>

#include "gui/model/column_cache.h"
#include "gui/model/palette.h"
#include "gui/model/session.h"

namespace tidemark::gui {

enum class ColorBy : uint8_t { group, stack, size, age, stream };

/// The input of a picture: a span of time and of bytes, and the size in device pixels.
struct PictureRequest {
    std::shared_ptr<const Analysis> analysis;
    std::shared_ptr<const Groups> groups;
    std::shared_ptr<ColumnCache> column_cache;       ///< may be null
    std::shared_ptr<const LazyBreakdown> breakdown;  ///< for the picture of the memory breakdown
    TimeAxis axis = TimeAxis::wall_clock;
    double from = 0, to = 1;                                    ///< axis units, left and right edge
    double known_to = std::numeric_limits<double>::infinity();  ///< the end of the recorded part; empty beyond
    double low = 0, high = 1;                                   ///< bytes, bottom and top edge
    QSize pixels;
    int line_width = 1;  ///< device pixels
    Theme theme;
    ColorBy color_by = ColorBy::group;
    AllocationIndex selected = no_allocation;
    StackId selected_stack = 0;              ///< 0: none
    AllocationSet memory{};                  ///< of the selected finding; highlighted instead of the stack
    int selected_group = -1;                 ///< -1: none
    std::vector<AllocationIndex> hovered{};  ///< ascending; if there are any, only they are highlighted

    bool anything_selected() const {
        return selected != no_allocation || selected_stack != 0 || memory || selected_group >= 0;
    }
};

struct TimelinePicture {
    PictureRequest request;
    QImage image;
    Columns columns;               ///< one per pixel column
    std::vector<int64_t> stacked;  ///< bytes: [column * groups + group], stacked from group 0 up
};
/// Paints active bytes stacked by group, under the envelopes of reserved, active and allocated: each column shows
/// the highest and the lowest value in it, so no peak is lost.
TimelinePicture paint_timeline(const PictureRequest& request);

struct AllocationsPicture {
    PictureRequest request;
    QImage image;
    Columns columns;
    /// The selected allocation in each column: bytes bottom and top; bottom < 0 where it is not alive.
    std::vector<std::pair<int64_t, int64_t>> selected_band;
};
/// Paints each allocation as a band over its lifetime. A pixel shows the allocation at its center.
AllocationsPicture paint_allocations(const PictureRequest& request);

/// Returns the color of an allocation in pictures.
QColor allocation_color(const PictureRequest& request, const ActiveAllocation& active);

}  // namespace tidemark::gui
