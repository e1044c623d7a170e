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
constexpr double exceptions = 0.12;

/// The bottoms and tops of one group's band, in pixels of the plot, by column.
struct Band {
    std::vector<double> bottom, top;

    /// Returns how many of so many columns the band may be elsewhere in.
    static size_t skipped(size_t columns) { return static_cast<size_t>(exceptions * static_cast<double>(columns)); }

    /// Returns the rows that the band covers in nearly all of these columns: top and bottom; none if top >= bottom.
    std::pair<double, double> common(size_t from, size_t to) const {
        const size_t nth = skipped(to - from);
        const auto edge = [&](const std::vector<double>& values, auto before) {
            std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(from),
                                     values.begin() + static_cast<std::ptrdiff_t>(to));
            std::nth_element(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(nth), part.end(), before);
            return part[nth];
        };
        return {edge(top, std::greater<>()), edge(bottom, std::less<>())};
    }
};

/// The bottoms and tops of one group's band, in bytes by column; groups are visited from the lowest up.
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

    Band in_pixels(const AxisMap& y) const {
        Band band;
        band.bottom.reserve(top_.size());
        band.top.reserve(top_.size());
        for (size_t c = 0; c < top_.size(); ++c) {
            band.bottom.push_back(y.pixel(static_cast<double>(bottom_[c])));
            band.top.push_back(y.pixel(static_cast<double>(top_[c])));
        }
        return band;
    }

private:
    const TimelinePicture& picture_;
    std::vector<int64_t> bottom_, top_;
};

/// Returns where a label over so many of all columns may begin, the nearest to the middle first.
std::vector<size_t> places_from_middle(size_t all, size_t columns) {
    std::vector<size_t> places;
    const size_t last = all - columns, step = std::max<size_t>(last / places_tried, 1);
    for (size_t from = 0; from <= last; from += step) {
        places.push_back(from);
    }
    const auto distance = [&](size_t from) {
        return std::max(2 * from + columns, all) - std::min(2 * from + columns, all);
    };
    std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) { return distance(a) < distance(b); });
    return places;
}

/// Returns how many columns before each one have less than `least` of the band; the last number is that of all columns.
std::vector<size_t> lower_before(const Band& band, double least) {
    std::vector<size_t> before{0};
    before.reserve(band.top.size() + 1);
    for (size_t c = 0; c < band.top.size(); ++c) {
        before.push_back(before.back() + (band.bottom[c] - band.top[c] < least ? 1 : 0));
    }
    return before;
}

/// Returns where the band is high enough over so many columns, nearest to the middle; else where it is highest. Places
/// lower than `least` may be missed.
std::optional<QRectF> best_place(const Band& band, size_t columns, QRect area, double pixels_per_column, double least,
                                 double enough) {
    std::optional<QRectF> best;
    const std::vector<size_t> lower = lower_before(band, least);
    for (const size_t from : places_from_middle(band.top.size(), columns)) {
        // The rows that columns have in common reach beyond the top of some and beyond the bottom of as many; the
        // others are at least as high as these rows.
        if (lower[from + columns] - lower[from] > 2 * Band::skipped(columns)) {
            continue;
        }
        auto [top, bottom] = band.common(from, from + columns);
        top = std::max(top, static_cast<double>(area.top()));
        bottom = std::min(bottom, static_cast<double>(area.bottom()));
        const QRectF place(QPointF(static_cast<double>(from) * pixels_per_column, top),
                           QPointF(static_cast<double>(from + columns) * pixels_per_column, bottom));
        if (bottom > top && (!best || place.height() > best->height())) {
            best = place;
        }
        if (best && best->height() >= enough) {
            break;
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
        if (pixels_per_column <= 0 || columns > picture.columns->size()) {
            continue;
        }
        const double least = metrics.height(), enough = least * 1.2;
        const auto place = best_place(bytes.in_pixels(y), columns, area, pixels_per_column, least, enough);
        if (place && place->height() >= least) {
            labels.push_back({g, place->translated(left, 0), text});
        }
    }
    return labels;
}

}  // namespace tidemark::gui
