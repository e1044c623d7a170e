// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/band_labels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

constexpr int room = 4, longest = 220;  // pixels beside a label; of a label
constexpr size_t places_tried = 48;

/// Part of the columns below a label in which the band may be elsewhere: short evaluations between long steps.
constexpr double most_exceptions = 0.12;

/// The bottoms and tops of one group's band, in pixels of the plot, by column.
struct Band {
    std::vector<double> bottom, top;

    /// Returns the rows that the band covers in these columns, but for a part of them: top and bottom; none if
    /// top >= bottom.
    std::pair<double, double> common(size_t from, size_t to, double exceptions) const {
        const auto skipped = static_cast<std::ptrdiff_t>(exceptions * static_cast<double>(to - from));
        const auto edge = [&](const std::vector<double>& values, auto before) {
            std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(from),
                                     values.begin() + static_cast<std::ptrdiff_t>(to));
            std::nth_element(part.begin(), part.begin() + skipped, part.end(), before);
            return part[static_cast<size_t>(skipped)];
        };
        return {edge(top, std::greater<>()), edge(bottom, std::less<>())};
    }
};

Band band_of(const TimelinePicture& picture, int group, const AxisMap& y) {
    const auto groups = static_cast<size_t>(picture.request.groups->count());
    Band band;
    for (size_t c = 0; c < picture.columns->size(); ++c) {
        int64_t bottom = 0;
        for (int g = 0; g < group; ++g) {
            bottom += picture.stacked[c * groups + static_cast<size_t>(g)];
        }
        const int64_t top = bottom + picture.stacked[c * groups + static_cast<size_t>(group)];
        band.bottom.push_back(y.pixel(static_cast<double>(bottom)));
        band.top.push_back(y.pixel(static_cast<double>(top)));
    }
    return band;
}

/// Returns the height of the band where it is highest, which limits that of every place in it.
double greatest_height(const Band& band) {
    double height = 0;
    for (size_t c = 0; c < band.top.size(); ++c) {
        height = std::max(height, band.bottom[c] - band.top[c]);
    }
    return height;
}

/// Returns where the band is high enough over so many columns, nearest to the middle; else where it is highest.
std::optional<QRectF> best_place(const Band& band, size_t columns, QRect area, double pixels_per_column, double enough,
                                 double exceptions) {
    std::optional<QRectF> best;
    const double middle = static_cast<double>(band.top.size()) * pixels_per_column / 2;
    const auto rank = [&](const QRectF& place) {
        return std::pair(std::min(place.height(), enough), -std::abs(place.center().x() - middle));
    };
    const size_t last = band.top.size() - columns, step = std::max<size_t>(last / places_tried, 1);
    for (size_t from = 0; from <= last; from += step) {
        auto [top, bottom] = band.common(from, from + columns, exceptions);
        top = std::max(top, static_cast<double>(area.top()));
        bottom = std::min(bottom, static_cast<double>(area.bottom()));
        const QRectF place(QPointF(static_cast<double>(from) * pixels_per_column, top),
                           QPointF(static_cast<double>(from + columns) * pixels_per_column, bottom));
        if (bottom > top && (!best || rank(place) > rank(*best))) {
            best = place;
        }
    }
    return best;
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
    for (int g = 0; g < r.groups->count(); ++g) {
        const Band band = band_of(picture, g, y);
        if (greatest_height(band) < metrics.height()) {
            continue;  // Most bands are thin, and every frame needs the labels.
        }
        const QString name = to_qstring(r.groups->grouping.names[static_cast<size_t>(g)]);
        const QString text = elided_group_name(metrics, name, longest);
        const double wanted = metrics.horizontalAdvance(text) + 2 * room;
        const auto columns = static_cast<size_t>(std::ceil(wanted / pixels_per_column));
        if (pixels_per_column <= 0 || columns > picture.columns->size()) {
            continue;
        }
        const double enough = metrics.height() * 1.2;
        for (const double exceptions : {0.0, most_exceptions}) {
            const auto place = best_place(band, columns, area, pixels_per_column, enough, exceptions);
            if (place && place->height() >= metrics.height()) {
                labels.push_back({g, place->translated(left, 0), text});
                break;
            }
        }
    }
    return labels;
}

}  // namespace tidemark::gui
