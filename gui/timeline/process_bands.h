// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The memory of the process outside the allocator, stacked on what the allocator has reserved, up to nvidia-smi's line.
#pragma once

#include <QRectF>
#include <optional>
#include <vector>

#include "gui/widgets/component_columns.h"
#include "gui/widgets/coordinates.h"
#include "gui/widgets/qcp.h"
#include "storage/breakdown/process_memory.h"

namespace tidemark::gui {

/// Immutable data of the columns of a request.
struct ProcessBands {
    PictureRequest request;
    FigureOf of = FigureOf::process;
    std::vector<ProcessMemory> columns;    ///< up to the end of what is known
    std::vector<ComponentKey> components;  ///< those that occur, from the inside out
    std::vector<int64_t> most;             ///< bytes of each of them in a column

    /// Returns the memory at an axis position; nullptr where it is not known.
    const ProcessMemory* at(double position) const;
    /// Returns nvidia-smi's highest figure of the columns.
    std::optional<int64_t> highest() const;
    /// Returns that of the columns between two axis positions.
    std::optional<int64_t> highest_between(double from, double to) const;
    QColor color(const Component& component) const;
};
/// Thread: any. The first call of a trace visits every event.
ProcessBands find_process_bands(const PictureRequest& request);

/// The area of a plot, its axes, and where labels are that no name of a band covers.
struct PlotPlace {
    QRect area;
    AxisMap x, y;
    std::vector<QRectF> taken{};
};
/// Paints the bands and nvidia-smi's line. Returns where the names of bands are.
std::vector<QRectF> paint_process_bands(QCPPainter& painter, const ProcessBands& bands, const PlotPlace& place);

}  // namespace tidemark::gui
