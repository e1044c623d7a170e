// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/breakdown/breakdown_picture.h"

#include <QBrush>
#include <algorithm>
#include <set>

#include "gui/model/lazy_breakdown.h"
#include "gui/widgets/column_canvas.h"
#include "storage/base/in_halves.h"
#include "storage/base/saturated.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

namespace {

/// Returns the time each column shows: that of highest active memory in it, or its middle if nothing happened, since
/// driver memory changes then too. Ascending.
std::vector<int64_t> times_of(const PictureRequest& r, const Columns& columns) {
    const DeviceHistory& device = r.analysis->device();
    std::vector<int64_t> times;
    times.reserve(columns->size());
    const double step = (r.to - r.from) / static_cast<double>(columns->size());
    for (size_t x = 0; x < columns->size(); ++x) {
        const Column& column = (*columns)[x];
        int64_t time = time_of(device, column.time_point);
        if (r.axis == TimeAxis::wall_clock) {
            const auto left = saturated<int64_t>(r.from + static_cast<double>(x) * step);
            const auto right = std::max(left, saturated<int64_t>(r.from + static_cast<double>(x + 1) * step) - 1);
            time = column.first == column.last && !column.time_point.repeated ? left + (right - left) / 2
                                                                              : std::clamp(time, left, right);
        }
        times.push_back(times.empty() ? time : std::max(time, times.back()));
    }
    return times;
}

std::vector<BreakdownRow> rows_of(const PictureRequest& r) {
    const Columns columns = columns_of(r);
    const Breakdown& breakdown = r.breakdown->get();
    const std::vector<int64_t> times = times_of(r, columns);
    std::vector<BreakdownRow> rows(times.size());
    in_halves(static_cast<int>(times.size()), [&](int first, int last) {
        std::vector<BreakdownRow> part = breakdown.band({times.begin() + first, times.begin() + last});
        for (size_t i = 0; i < part.size(); ++i) {
            // Clocks are coarser than events, so a peak between two events of one time is looked up by its event.
            const Column& column = (*columns)[static_cast<size_t>(first) + i];
            if (column.first != column.last && part[i].event != column.time_point.event) {
                part[i] = breakdown.at(column.time_point);
            }
        }
        std::move(part.begin(), part.end(), rows.begin() + first);
    });
    return rows;
}

std::vector<ComponentKey> components_of(const std::vector<BreakdownRow>& rows) {
    std::set<ComponentKey> keys;
    for (const BreakdownRow& row : rows) {
        for (const Component& component : row.components) {
            keys.insert({component.kind, component.name, component.pid});
        }
    }
    return {keys.begin(), keys.end()};
}

int64_t known_of(const BreakdownRow& row) {
    int64_t sum = 0;
    for (const Component& component : row.components) {
        sum += std::max<int64_t>(component.bytes, 0);
    }
    return sum;
}

/// Paints one column of a component; patterns are diagonal in device pixels.
void fill_component(ColumnCanvas& canvas, const PictureRequest& r, int x, RowRun run, ComponentKind kind, QRgb color) {
    const int period = 6 * r.line_width, line = 2 * r.line_width;
    const bool patterned = kind == ComponentKind::pending || kind == ComponentKind::unknown;
    if (!patterned) {
        canvas.fill_band(x, run, color, r);
        return;
    }
    const QRgb light = mixed(color, r.theme.plot_background.rgb(), kind == ComponentKind::unknown ? 0.8 : 0.55);
    for (int y = std::max(run.begin, 0); y < std::min(run.end, canvas.rows()); ++y) {
        canvas.column(x)[y] = (x + y) % period < line ? color : light;
    }
    canvas.separate(x, run, r);
}

std::vector<QRgb> component_colors(const BreakdownPicture& picture) {
    std::vector<QRgb> colors;
    for (const ComponentKey& key : picture.components) {
        colors.push_back(component_color(picture.request.theme, key.kind, nth_of_kind(picture.components, key)).rgb());
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

int nth_of_kind(const std::vector<ComponentKey>& components, const ComponentKey& key) {
    return static_cast<int>(std::count_if(components.begin(), components.end(), [&](const ComponentKey& other) {
        return other.kind == key.kind && other < key;
    }));
}

QBrush component_brush(const Theme& theme, ComponentKind kind, int nth) {
    const QColor color = component_color(theme, kind, nth);
    const bool striped = kind == ComponentKind::pending || kind == ComponentKind::unknown;
    return QBrush(color, striped ? Qt::BDiagPattern : Qt::SolidPattern);
}

BreakdownPicture paint_breakdown(const PictureRequest& request) {
    BreakdownPicture picture;
    picture.request = request;
    const PictureRequest& r = picture.request;
    picture.rows = rows_of(r);
    picture.components = components_of(picture.rows);
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
