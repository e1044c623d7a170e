// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/breakdown/breakdown_picture.h"

#include <algorithm>
#include <map>

#include "gui/widgets/column_canvas.h"
#include "storage/base/in_halves.h"

namespace tidemark::gui {

namespace {

void find_components(BreakdownPicture& picture) {
    std::map<ComponentKey, int64_t> most;
    for (const BreakdownRow& row : picture.rows) {
        for (const Component& component : row.components) {
            int64_t& bytes = most[{component.kind, component.name, component.pid}];
            bytes = std::max(bytes, component.bytes);
        }
    }
    for (const auto& [key, bytes] : most) {
        picture.components.push_back(key);
        picture.most.push_back(bytes);
    }
}

int64_t known_of(const BreakdownRow& row) {
    int64_t sum = 0;
    for (const Component& component : row.components) {
        sum += std::max<int64_t>(component.bytes, 0);
    }
    return sum;
}

/// Paints one column of a component.
void fill_component(ColumnCanvas& canvas, const PictureRequest& r, int x, RowRun run, ComponentKind kind, QRgb color) {
    switch (kind) {
        case ComponentKind::pending: canvas.fill_hatched(x, run, color, 0.55, r); break;
        case ComponentKind::unknown: canvas.fill_hatched(x, run, color, light_of_unknown, r); break;
        default: canvas.fill_band(x, run, color, r); break;
    }
}

std::vector<QRgb> component_colors(const BreakdownPicture& picture) {
    std::vector<QRgb> colors;
    colors.reserve(picture.components.size());
    for (const ComponentKey& key : picture.components) {
        colors.push_back(picture.color(key).rgb());
    }
    return colors;
}

void paint_components(ColumnCanvas& canvas, const BreakdownPicture& picture, const std::vector<QRgb>& colors, int x) {
    const PictureRequest& r = picture.request;
    double bottom = 0;
    for (const Component& component : picture.rows[static_cast<size_t>(x)].components) {
        if (component.bytes <= 0) {
            continue;
        }
        const auto key = std::lower_bound(picture.components.begin(), picture.components.end(),
                                          ComponentKey{component.kind, component.name, component.pid});
        const double top = bottom + static_cast<double>(component.bytes);
        fill_component(canvas, r, x, rows_between(bottom, top, r.low, bytes_per_row(r), canvas.rows()), component.kind,
                       colors[static_cast<size_t>(key - picture.components.begin())]);
        bottom = top;
    }
}

/// Paints NVML's figure; no line where there is no sample.
void paint_device_line(ColumnCanvas& canvas, const BreakdownPicture& picture) {
    const PictureRequest& r = picture.request;
    const int thickness = 2 * r.line_width;
    const AxisMap row = row_map(r);
    std::optional<int> before;
    for (int x = 0; x < r.pixels.width(); ++x) {
        const auto used = picture.rows[static_cast<size_t>(x)].device_used;
        if (!used) {
            before.reset();
            continue;
        }
        const int at = static_cast<int>(row.pixel(static_cast<double>(*used)));
        const int low = std::min(at, before.value_or(at)), high = std::max(at, before.value_or(at));
        for (int y = std::max(low - thickness / 2, 0); y < std::min(high + thickness - thickness / 2, canvas.rows());
             ++y) {
            canvas.column(x)[y] = r.theme.allocated_line.rgb();
        }
        before = at;
    }
}

}  // namespace

QColor BreakdownPicture::color(const ComponentKey& key) const {
    return component_color(request.theme, key.kind, nth_of_kind(components, most, key));
}

BreakdownPicture paint_breakdown(const PictureRequest& request) {
    BreakdownPicture picture;
    picture.request = request;
    const PictureRequest& r = picture.request;
    picture.rows = breakdown_rows(r);
    find_components(picture);
    for (const BreakdownRow& row : picture.rows) {
        picture.highest = std::max({picture.highest, known_of(row), row.device_used.value_or(0)});
    }
    ColumnCanvas canvas(r.pixels, r.theme.plot_background.rgb());
    const std::vector<QRgb> colors = component_colors(picture);
    in_halves(r.pixels.width(), [&](int first, int last) {
        for (int x = first; x < last; ++x) {
            paint_components(canvas, picture, colors, x);
        }
    });
    paint_device_line(canvas, picture);
    clear_future(canvas, r);
    picture.image = canvas.to_image();
    return picture;
}

}  // namespace tidemark::gui
