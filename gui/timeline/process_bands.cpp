// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/process_bands.h"

#include <QBrush>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "gui/model/component_text.h"
#include "gui/model/lazy_breakdown.h"
#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/timeline/band_shape.h"
#include "storage/timeline/band_place.h"

namespace tidemark::gui {

namespace {

ComponentKey key_of(const Component& component) { return {component.kind, component.name, component.pid}; }

/// The bottom and top of one band, in bytes by column.
struct BandBytes {
    std::vector<int64_t> bottoms, tops;

    explicit BandBytes(const std::vector<ProcessMemory>& columns) {
        for (const ProcessMemory& column : columns) {
            tops.push_back(column.reserved);
        }
        bottoms = tops;
    }
    void move_up_to(const ComponentKey& key, const std::vector<ProcessMemory>& columns) {
        bottoms = tops;
        for (size_t c = 0; c < columns.size(); ++c) {
            for (const Component& component : columns[c].outside) {
                tops[c] += key_of(component) == key ? component.bytes : 0;
            }
        }
    }
};

Span shown_columns(const ProcessBands& bands) {
    const PictureRequest& r = bands.request;
    const double width = (r.to - r.from) / std::max(r.pixels.width(), 1);
    return {r.from, r.from + width * static_cast<double>(bands.columns.size())};
}

PlotBand in_pixels(const BandBytes& band, QRect area, const AxisMap& y) {
    const auto visible = [&](int64_t bytes) {
        return std::clamp(y.pixel(static_cast<double>(bytes)), static_cast<double>(area.top()),
                          static_cast<double>(area.bottom()));
    };
    PlotBand pixels;
    for (size_t c = 0; c < band.tops.size(); ++c) {
        pixels.tops.push_back(visible(band.tops[c]));
        pixels.bottoms.push_back(visible(band.bottoms[c]));
    }
    return pixels;
}

/// Names a band where it has room.
std::optional<QRectF> paint_name(QCPPainter& painter, const QString& name, const QColor& color, const BandBytes& band,
                                 Span columns, const PlotPlace& plot) {
    const QFontMetrics metrics = painter.fontMetrics();
    const double width = metrics.horizontalAdvance(name) + 8, left = plot.x.pixel(columns.from);
    const double per_column = (plot.x.pixel(columns.to) - left) / static_cast<double>(band.tops.size());
    if (per_column <= 0) {
        return std::nullopt;
    }
    const auto wanted = static_cast<size_t>(std::ceil(width / per_column));
    const auto place = band_place(in_pixels(band, plot.area, plot.y), wanted, metrics.height());
    if (!place) {
        return std::nullopt;
    }
    QRectF box(0, 0, width, metrics.height());
    box.moveCenter({left + (static_cast<double>(place->first) + static_cast<double>(wanted) / 2) * per_column,
                    (place->top + place->bottom) / 2});
    if (std::any_of(plot.taken.begin(), plot.taken.end(), [&](const QRectF& other) { return other.intersects(box); })) {
        return std::nullopt;
    }
    painter.fillRect(box, color);
    painter.setPen(text_color_on(color));
    painter.drawText(box, Qt::AlignCenter, name);
    return box;
}

/// Paints a line through the columns; no line where there is no value.
void paint_line(QCPPainter& painter, const ProcessBands& bands,
                const std::function<std::optional<int64_t>(const ProcessMemory&)>& value, const AxisMap& x,
                const AxisMap& y) {
    const Span columns = shown_columns(bands);
    const double width = (columns.to - columns.from) / static_cast<double>(bands.columns.size());
    QPolygonF line;
    for (size_t c = 0; c < bands.columns.size(); ++c) {
        const std::optional<int64_t> bytes = value(bands.columns[c]);
        if (!bytes) {
            painter.drawPolyline(std::exchange(line, {}));
            continue;
        }
        const double at = y.pixel(static_cast<double>(*bytes));
        const double right = x.pixel(columns.from + width * static_cast<double>(c + 1));
        if (!line.empty() && line.back().y() == at) {
            line.back().setX(right);
        } else {
            line << QPointF(x.pixel(columns.from + width * static_cast<double>(c)), at) << QPointF(right, at);
        }
    }
    painter.drawPolyline(line);
}

}  // namespace

const ProcessMemory* ProcessBands::at(double position) const {
    const double column = (position - request.from) / (request.to - request.from) * request.pixels.width();
    return column >= 0 && column < static_cast<double>(columns.size()) ? &columns[static_cast<size_t>(column)]
                                                                       : nullptr;
}

std::optional<int64_t> ProcessBands::highest() const {
    std::optional<int64_t> highest;
    for (const ProcessMemory& column : columns) {
        highest = std::max(highest, column.figure);
    }
    return highest;
}

std::optional<int64_t> ProcessBands::highest_between(double from, double to) const {
    std::optional<int64_t> highest;
    const double width = (request.to - request.from) / std::max(request.pixels.width(), 1);
    for (size_t c = 0; c < columns.size(); ++c) {
        const double left = request.from + width * static_cast<double>(c);
        if (left + width >= from && left <= to) {
            highest = std::max(highest, columns[c].figure);
        }
    }
    return highest;
}

QColor ProcessBands::color(const Component& component) const {
    return component_color(request.theme, component.kind, nth_of_kind(components, most, key_of(component)));
}

ProcessBands find_process_bands(const PictureRequest& request) {
    ProcessBands bands;
    bands.request = request;
    const PictureRequest& r = bands.request;
    bands.of = r.breakdown->get().lists_process() ? FigureOf::process : FigureOf::device;
    const double width = (r.to - r.from) / std::max(r.pixels.width(), 1);
    std::map<ComponentKey, int64_t> most;
    for (const BreakdownRow& row : breakdown_rows(r)) {
        if (r.from + width * static_cast<double>(bands.columns.size()) >= r.known_to) {
            break;
        }
        bands.columns.push_back(process_memory(row, bands.of));
        for (const Component& component : bands.columns.back().outside) {
            int64_t& bytes = most[key_of(component)];
            bytes = std::max(bytes, component.bytes);
        }
    }
    for (const auto& [key, bytes] : most) {
        bands.components.push_back(key);
        bands.most.push_back(bytes);
    }
    return bands;
}

std::vector<QRectF> paint_process_bands(QCPPainter& painter, const ProcessBands& bands, const PlotPlace& place) {
    const AxisMap &x = place.x, &y = place.y;
    std::vector<QRectF> names;
    if (bands.columns.empty()) {
        return names;
    }
    const Theme& theme = bands.request.theme;
    const Span columns = shown_columns(bands);
    const bool dim = bands.request.selected_group >= 0;
    BandBytes band(bands.columns);
    for (const ComponentKey& key : bands.components) {
        band.move_up_to(key, bands.columns);
        const BandShape shape = band_shape(band.bottoms, band.tops, columns, x, y);
        const Component component{key.kind, key.name, 0, 0, key.pid};
        const QColor plain = bands.color(component);
        const QColor color = dim ? mixed(plain, theme.plot_background, 0.72) : plain;
        const bool is_unknown = key.kind == ComponentKind::unknown;
        const QColor base = is_unknown ? mixed(color, theme.plot_background, light_of_unknown) : color;
        if (is_unknown) {
            paint_unknown_band(painter, shape, color, theme.plot_background, y.pixel(0));
        } else {
            paint_band(painter, shape, color, theme.plot_background, y.pixel(0));
        }
        if (!dim) {
            if (const auto name = paint_name(painter, component_name(component), base, band, columns, place)) {
                names.push_back(*name);
            }
        }
    }
    // The lowest band covers the picture's line.
    painter.setPen(QPen(theme.reserved_line, 1));
    const auto reserved = [](const ProcessMemory& column) {
        return column.outside.empty() ? std::nullopt : std::optional(column.reserved);
    };
    paint_line(painter, bands, reserved, x, y);
    painter.setPen(QPen(theme.allocated_line, 2));
    paint_line(
        painter, bands, [](const ProcessMemory& column) { return column.figure; }, x, y);
    return names;
}

}  // namespace tidemark::gui
