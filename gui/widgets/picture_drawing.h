// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Requests of plots for pictures, and the drawing of an older picture in the meantime.
#pragma once

#include <optional>

#include "gui/widgets/coordinates.h"
#include "gui/widgets/picture.h"
#include "gui/widgets/qcp.h"

namespace tidemark::gui {

/// Returns a request for the span and the bytes the axes show, over `area`, at `ratio` device pixels per pixel.
PictureRequest picture_request(const Session& session, const Theme& theme, QRect area, double ratio, double low,
                               double high);

/// Returns the shown span of time as a map onto the width of `area`, and a range of bytes as one onto its height.
AxisMap time_map(const TimeView& view, QRect area);
AxisMap byte_map(double low, double high, QRect area);

/// Draws an image where its span and bytes lie on the axes now: shifted and scaled until a new one arrives.
void draw_picture(QCPPainter& painter, QRect area, const QImage& image, const PictureRequest& painted,
                  const TimeView& view, double low, double high);

/// Returns the picture's column at an axis position; nothing if the picture does not cover it.
template <class Picture>
std::optional<size_t> column_at(const Picture& picture, double position) {
    const PictureRequest& r = picture.request;
    if (!picture.columns || picture.columns->empty() || position < r.from || position >= r.to) {
        return std::nullopt;
    }
    const size_t count = picture.columns->size();
    return std::min(static_cast<size_t>((position - r.from) / (r.to - r.from) * static_cast<double>(count)), count - 1);
}

}  // namespace tidemark::gui
