// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/band_labels.h"

#include <algorithm>
#include <cmath>

#include "gui/model/text.h"
#include "storage/timeline/band_place.h"

namespace tidemark::gui {

namespace {

constexpr int room = 4, longest = 220;  // pixels beside a label; of a label

/// Returns the part of a group's band that the plot shows.
PlotBand band_of(const TimelinePicture& picture, int group, const AxisMap& y, QRect area) {
    const auto groups = static_cast<size_t>(picture.request.groups->count());
    const auto visible = [&](int64_t bytes) {
        return std::clamp(y.pixel(static_cast<double>(bytes)), static_cast<double>(area.top()),
                          static_cast<double>(area.bottom()));
    };
    PlotBand band;
    for (size_t c = 0; c < picture.columns->size(); ++c) {
        int64_t bottom = 0;
        for (int g = 0; g < group; ++g) {
            bottom += picture.stacked[c * groups + static_cast<size_t>(g)];
        }
        band.bottoms.push_back(visible(bottom));
        band.tops.push_back(visible(bottom + picture.stacked[c * groups + static_cast<size_t>(group)]));
    }
    return band;
}

}  // namespace

std::vector<BandLabel> band_labels(const TimelinePicture& picture, const QFontMetrics& metrics, QRect area,
                                   const AxisMap& x, const AxisMap& y) {
    std::vector<BandLabel> labels;
    if (!picture.columns || picture.columns->empty()) {
        return labels;
    }
    const PictureRequest& r = picture.request;
    const double left = x.pixel(r.from), width = x.pixel(r.to) - left;
    const double pixels_per_column = width / static_cast<double>(picture.columns->size());
    if (pixels_per_column <= 0) {
        return labels;
    }
    for (int g = 0; g < r.groups->count(); ++g) {
        const QString name = to_qstring(r.groups->grouping.names[static_cast<size_t>(g)]);
        const QString text = elided_group_name(metrics, name, longest);
        const double wanted = metrics.horizontalAdvance(text) + 2 * room;
        const auto columns = static_cast<size_t>(std::ceil(wanted / pixels_per_column));
        if (const auto place = band_place(band_of(picture, g, y, area), columns, metrics.height())) {
            const QPointF corner(left + static_cast<double>(place->first) * pixels_per_column, place->top);
            const double label_width = static_cast<double>(columns) * pixels_per_column;
            labels.push_back({g, QRectF(corner, QSizeF(label_width, place->bottom - place->top)), text});
        }
    }
    return labels;
}

}  // namespace tidemark::gui
