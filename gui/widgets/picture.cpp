// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "gui/model/grouping.h"
#include "gui/widgets/column_canvas.h"
#include "gui/widgets/coordinates.h"
#include "storage/base/in_halves.h"
#include "storage/base/saturated.h"

namespace tidemark::gui {

namespace {

// ---- timeline -------------------------------------------------------------------------------------------------

/// Computes the stacks of columns first to last.
void stack_columns(TimelinePicture& picture, int first, int last) {
    const PictureRequest& r = picture.request;
    const auto columns =
        std::span(*picture.columns).subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
    const auto part =
        stacked_bytes(r.analysis->device(), r.analysis->live(), columns, r.groups->grouping, r.groups->lasting);
    std::copy(part.begin(), part.end(), picture.stacked.begin() + static_cast<ptrdiff_t>(first) * r.groups->count());
}

std::vector<QRgb> group_colors(const PictureRequest& r) {
    std::vector<QRgb> colors;
    const int count = r.groups->count();
    const QRgb background = r.theme.plot_background.rgb();
    for (int g = 0; g < count; ++g) {
        const QRgb color = color_of_group(r.theme, *r.groups, g).rgb();
        const bool dim = r.selected_group >= 0 && g != r.selected_group;
        colors.push_back(dim ? mixed(color, background, 0.72) : color);
    }
    return colors;
}

void paint_stacks(ColumnCanvas& canvas, const TimelinePicture& picture, const std::vector<QRgb>& colors, int first,
                  int last) {
    const PictureRequest& r = picture.request;
    const size_t groups = colors.size();
    const int last_group = static_cast<int>(groups) - 1;
    const int unknown = is_unknown(*r.groups, last_group) ? last_group : -1;  // always the last
    for (int x = first; x < last; ++x) {
        double bottom = 0;
        for (size_t g = 0; g < groups; ++g) {
            const double top = bottom + static_cast<double>(picture.stacked[static_cast<size_t>(x) * groups + g]);
            const RowRun run = rows_between(bottom, top, r.low, bytes_per_row(r), canvas.rows());
            if (static_cast<int>(g) == unknown) {
                canvas.fill_hatched(x, run, colors[g], light_of_unknown, r);
            } else {
                canvas.fill_band(x, run, colors[g], r);
            }
            bottom = top;
        }
    }
}

/// Paints a line through the maxima of columns first to last. The joints between maxima are fainter, so that hundreds
/// of peaks side by side stay visible as peaks.
void paint_maxima(ColumnCanvas& canvas, const TimelinePicture& picture, Series series, QRgb color, int first,
                  int last) {
    const PictureRequest& r = picture.request;
    const int rows = canvas.rows();
    const AxisMap row = row_map(r);
    const auto row_at = [&](int x) {
        const Column& c = (*picture.columns)[static_cast<size_t>(x)];
        return static_cast<int>(std::floor(row.pixel(static_cast<double>(c.max[static_cast<size_t>(series)]))));
    };
    int before = row_at(std::max(first - 1, 0));
    for (int x = first; x < last; ++x) {
        const int top = row_at(x);
        QRgb* pixels = canvas.column(x);
        // Below a joint are few colors, in long runs.
        QRgb below = color, faint = color;
        for (int y = std::max(std::min(before, top) + 1, 0); y <= std::min(std::max(before, top) - 1, rows - 1); ++y) {
            if (pixels[y] != below) {
                below = pixels[y];
                faint = mixed(below, color, 0.3);
            }
            pixels[y] = faint;
        }
        for (int y = std::max(top - r.line_width + 1, 0); y <= std::min(top, rows - 1); ++y) {
            pixels[y] = color;
        }
        before = top;
    }
}

// ---- allocations ----------------------------------------------------------------------------------------------

/// Colors allocations; everything that does not depend on the single allocation is prepared once.
class BandColors {
public:
    explicit BandColors(const PictureRequest& r) : r_(r), all_(r.analysis->device().allocations) {
        background_ = r.theme.plot_background.rgb();
        const int count = r.groups->count();
        for (int g = 0; g < count; ++g) {
            const QRgb color = color_of_group(r.theme, *r.groups, g).rgb();
            std::array<QRgb, shades> row{};
            for (size_t shade = 0; shade < shades; ++shade) {
                row[shade] = mixed(color, r.theme.dark ? 0xff000000 : 0xffffffff, 0.09 * static_cast<double>(shade));
            }
            group_.push_back(row);
        }
    }

    bool lit(const ActiveAllocation& active) const {
        const AllocationIndex a = active.allocation;
        if (!r_.hovered.empty()) {
            return std::binary_search(r_.hovered.begin(), r_.hovered.end(), a);
        }
        if (!r_.anything_selected() || a == r_.selected) {
            return true;
        }
        if (r_.memory) {
            return contains(r_.memory, a);
        }
        if (r_.selected_stack != 0) {
            return all_.stack[a] == r_.selected_stack;
        }
        return r_.selected_group >= 0 && r_.groups->grouping.group_at(a, active.state) == r_.selected_group;
    }

    QRgb operator()(const ActiveAllocation& active) const {
        const QRgb color = plain(active);
        return lit(active) ? color : mixed(color, background_, 0.72);
    }

    /// Returns whether its color is that of memory of unknown role.
    bool is_hatched(const ActiveAllocation& active) const {
        return r_.color_by == ColorBy::group &&
               is_unknown(*r_.groups, r_.groups->grouping.group_at(active.allocation, active.state));
    }

    QRgb separator(QRgb color) const { return mixed(color, r_.theme.dark ? 0xff000000 : 0xffffffff, 0.45); }

private:
    static constexpr size_t shades = 4;

    QRgb plain(const ActiveAllocation& active) const {
        const AllocationIndex a = active.allocation;
        switch (r_.color_by) {
            case ColorBy::group:
                // Shades distinguish neighbors of one group; the hue stays the group's.
                return group_[r_.groups->grouping.group_at(a, active.state)][(a * 2654435761u >> 20) % shades];
            case ColorBy::stack: return id_color(r_.theme, all_.stack[a]).rgb();
            case ColorBy::size:
                return scale_color(r_.theme, (std::log2(static_cast<double>(all_.block_size[a] + 1)) - 9) / 24).rgb();
            case ColorBy::age: {
                const double age = active.state - std::max<double>(all_.alloc_event[a], 0);
                const double whole = std::max<double>(r_.analysis->device().event_count(), 2);
                return scale_color(r_.theme, std::log2(1 + age) / std::log2(1 + whole)).rgb();
            }
            case ColorBy::stream: {
                const uint32_t segment = all_.segment[a];
                const auto& segments = r_.analysis->device().segments;
                return id_color(r_.theme, segment < segments.size() ? segments[segment].stream : 0).rgb();
            }
        }
        return background_;
    }

    const PictureRequest& r_;
    const Allocations& all_;
    QRgb background_ = 0;
    std::vector<std::array<QRgb, shades>> group_;
};

void paint_column(ColumnCanvas& canvas, AllocationsPicture& picture, const BandColors& colors, int x, ActiveWalk& live,
                  std::vector<Band>& bands) {
    const PictureRequest& r = picture.request;
    const TimePoint& time_point = (*picture.columns)[static_cast<size_t>(x)].time_point;
    const int separator_from = 5 * r.line_width;
    const double row_bytes = bytes_per_row(r), rows_per_byte = 1 / row_bytes;
    const AxisMap rows = row_map(r);
    const auto exact_row = [&](int64_t bytes) {
        return static_cast<int>(
            std::clamp(rows.pixel(static_cast<double>(bytes)) + 0.5, 0.0, static_cast<double>(canvas.rows())));
    };
    // A product is far faster than the map and as good, unless the edge of a row is near.
    const auto row = [&](int64_t bytes) {
        constexpr double near_edge = 1e-6;
        const double at = (static_cast<double>(bytes) - r.low) * rows_per_byte + 0.5;
        const bool inside = at > 0 && at < canvas.rows();
        const int whole = inside ? static_cast<int>(at) : 0;
        const bool is_sure = inside && at - whole > near_edge && at - whole < 1 - near_edge;
        return is_sure ? whole : exact_row(bytes);
    };
    // Up to so many bytes, everything is certainly in `at` rows: most bands are thinner than a row, and a
    // comparison skips them without a division.
    const auto bytes_within = [&](int at) { return saturated<int64_t>(r.low + (at + 0.5) * row_bytes - 1); };
    bands.clear();
    const BandsWanted wanted{saturated<int64_t>(std::floor(r.low)), saturated<int64_t>(std::ceil(r.high)), row_bytes,
                             r.selected};
    bands_at(r.analysis->device(), live, time_point, wanted, bands);
    int begin = bands.empty() ? 0 : row(bands.front().bottom);
    int64_t within = bytes_within(begin);
    for (const Band& band : bands) {
        if (band.active.allocation == r.selected) {
            picture.selected_band[static_cast<size_t>(x)] = {band.bottom, band.top};
        }
        if (band.top < within) {
            continue;
        }
        const int end = row(band.top);
        if (begin < end) {
            const QRgb color = colors(band.active);
            if (colors.is_hatched(band.active)) {
                canvas.hatch(x, {begin, end}, color, light_of_unknown, r);
            } else {
                canvas.fill(x, {begin, end}, color);
            }
            if (end - begin >= separator_from && static_cast<double>(band.bottom) >= r.low) {
                canvas.fill(x, {begin, begin + r.line_width}, colors.separator(color));
            }
        }
        begin = end;
        within = bytes_within(begin);
    }
}

/// Paints columns first to last; a column of the same time as its left neighbor is a copy of it.
void paint_columns(ColumnCanvas& canvas, AllocationsPicture& picture, const BandColors& colors, int first, int last) {
    const std::vector<Column>& columns = *picture.columns;
    std::vector<Band> bands;
    ActiveWalk live(picture.request.analysis->device(), picture.request.analysis->live());
    for (int x = first; x < last; ++x) {
        const auto at = static_cast<size_t>(x);
        if (x > first && columns[at].time_point == columns[at - 1].time_point) {
            std::copy_n(canvas.column(x - 1), canvas.rows(), canvas.column(x));
            picture.selected_band[at] = picture.selected_band[at - 1];
        } else {
            paint_column(canvas, picture, colors, x, live, bands);
        }
    }
}

}  // namespace

TimelinePicture paint_timeline(const PictureRequest& request) {
    TimelinePicture picture;
    picture.request = request;
    const PictureRequest& r = picture.request;
    picture.columns = columns_of(r);
    const std::vector<QRgb> colors = group_colors(r);
    picture.stacked.resize(picture.columns->size() * colors.size());
    ColumnCanvas canvas(r.pixels, r.theme.plot_background.rgb());
    in_halves(r.pixels.width(), [&](int first, int last) {
        stack_columns(picture, first, last);
        paint_stacks(canvas, picture, colors, first, last);
        paint_maxima(canvas, picture, Series::reserved, r.theme.reserved_line.rgb(), first, last);
        paint_maxima(canvas, picture, Series::active, r.theme.active_line.rgb(), first, last);
        paint_maxima(canvas, picture, Series::allocated, r.theme.allocated_line.rgb(), first, last);
    });
    clear_future(canvas, r);
    picture.image = canvas.to_image();
    return picture;
}

AllocationsPicture paint_allocations(const PictureRequest& request) {
    AllocationsPicture picture;
    picture.request = request;
    const PictureRequest& r = picture.request;
    picture.columns = columns_of(r);
    picture.selected_band.assign(picture.columns->size(), {-1, -1});
    ColumnCanvas canvas(r.pixels, r.theme.plot_background.rgb());
    const BandColors colors(r);
    in_halves(r.pixels.width(), [&](int first, int last) { paint_columns(canvas, picture, colors, first, last); });
    clear_future(canvas, r);
    picture.image = canvas.to_image();
    return picture;
}

QColor allocation_color(const PictureRequest& request, const ActiveAllocation& active) {
    PictureRequest plain = request;
    plain.selected = no_allocation;
    plain.selected_stack = 0;
    plain.memory.reset();
    plain.selected_group = -1;
    plain.hovered.clear();
    return QColor::fromRgb(BandColors(plain)(active));
}

}  // namespace tidemark::gui
