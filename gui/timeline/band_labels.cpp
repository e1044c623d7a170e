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

/// The bottom and top of one group's band, in bytes by column; groups are visited from the lowest up.
class GroupBytes {
public:
    explicit GroupBytes(const TimelinePicture& picture)
        : picture_(picture), bottom_(picture.columns->size(), 0), top_(picture.columns->size(), 0) {}

    void move_up_to(int group) {
        const auto groups = static_cast<size_t>(picture_.request.groups->count());
        bottom_.swap(top_);
        for (size_t c = 0; c < top_.size(); ++c) {
            top_[c] = bottom_[c] + picture_.stacked[c * groups + static_cast<size_t>(group)];
        }
    }

    int64_t most() const {
        int64_t most = 0;
        for (size_t c = 0; c < top_.size(); ++c) {
            most = std::max(most, top_[c] - bottom_[c]);
        }
        return most;
    }

    /// Returns the part of the band that the plot shows.
    PlotBand in_pixels(const AxisMap& y, QRect area) const {
        const auto visible = [&](int64_t bytes) {
            return std::clamp(y.pixel(static_cast<double>(bytes)), static_cast<double>(area.top()),
                              static_cast<double>(area.bottom()));
        };
        PlotBand band;
        band.tops.reserve(top_.size());
        band.bottoms.reserve(top_.size());
        for (size_t c = 0; c < top_.size(); ++c) {
            band.tops.push_back(visible(top_[c]));
            band.bottoms.push_back(visible(bottom_[c]));
        }
        return band;
    }

private:
    const TimelinePicture& picture_;
    std::vector<int64_t> bottom_, top_;
};

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
    const double pixels_per_byte = (y.first - y.last) / (y.to - y.from);
    GroupBytes bytes(picture);
    for (int g = 0; g < r.groups->count(); ++g) {
        bytes.move_up_to(g);
        if (static_cast<double>(bytes.most()) * pixels_per_byte < metrics.height()) {
            continue;  // Most bands are thin, and every frame needs the labels.
        }
        const QString name = to_qstring(r.groups->grouping.names[static_cast<size_t>(g)]);
        const QString text = elided_group_name(metrics, name, longest);
        const double wanted = metrics.horizontalAdvance(text) + 2 * room;
        const auto columns = static_cast<size_t>(std::ceil(wanted / pixels_per_column));
        if (const auto place = band_place(bytes.in_pixels(y, area), columns, metrics.height())) {
            const QPointF corner(left + static_cast<double>(place->first) * pixels_per_column, place->top);
            const double label_width = static_cast<double>(columns) * pixels_per_column;
            labels.push_back({g, QRectF(corner, QSizeF(label_width, place->bottom - place->top)), text});
        }
    }
    return labels;
}

}  // namespace tidemark::gui
