// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/timeline_plot.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "gui/timeline/band_labels.h"
#include "gui/timeline/band_shape.h"
#include "storage/timeline/time_point.h"

namespace tidemark::gui {

namespace {
constexpr int least_height = 132;  // pixels, without rows
}  // namespace

TimelinePlot::TimelinePlot(QWidget* parent)
    : TimePlot(parent),
      worker_(this, paint_timeline,
              [this](TimelinePicture picture) {
                  picture_ = std::move(picture);
                  repaint_picture();
              }),
      bands_worker_(this, find_process_bands, [this](ProcessBands bands) {
          take(std::move(bands));
          repaint_picture();
      }) {
    setObjectName(QStringLiteral("timeline"));
    hide_grid();
    setAccessibleName(tr("Timeline: memory over time"));
    set_purpose(tr("The same numbers are in the Summary and Table panes."));
}

void TimelinePlot::session_changed() {
    worker_.abandon();
    bands_worker_.abandon();
    picture_ = {};
    bands_ = {};
    figure_ = {};
    lay_out_annotation_rows();
    if (has_data()) {
        find_highest();
        set_whole_bytes(fit_bytes());
    }
}

void TimelinePlot::session_grown() {
    lay_out_annotation_rows();
    find_highest();
}

/// Returns nvidia-smi's highest figure, unless the memory below it is mostly not the allocator's: a small leak beside a
/// CUDA context would not be seen.
std::optional<int64_t> TimelinePlot::figure_in_reach() const {
    const int64_t reserved = session()->analysis().curves().peak(Series::reserved).max;
    const auto figure = highest_figure(session()->trace(), session()->device().device);
    const bool is_in_reach = figure && figure->bytes / 2 <= reserved;
    return is_in_reach ? std::optional(figure->bytes) : std::nullopt;
}

void TimelinePlot::find_highest() {
    const Curves& curves = session()->analysis().curves();
    peak_ = peak_time_point(session()->trace(), session()->device(), curves);
    reserved_ = curves.peak(Series::reserved).max;
    figure_ = std::max(figure_, figure_in_reach());  // the bands may have been higher
}

/// Takes bands that may be higher than nvidia-smi's samples, between which the program allocated and freed: they must
/// not reach into the key.
void TimelinePlot::take(ProcessBands bands) {
    bands_ = std::move(bands);
    const auto highest = bands_.highest();
    if (!figure_ || !highest || *highest <= *figure_) {
        return;
    }
    figure_ = highest;
    grow_whole_bytes(fit_bytes());
    if (!synchronous()) {
        view_changed();
    }
}

/// Returns the height of the plot, with room for the key. What it has no room for is only named in the key.
double TimelinePlot::fit_bytes() const {
    constexpr double room = 1.2, room_above_line = 1.3;
    const double height = area().height(), key = key_row_height(QFontMetrics(font()));
    const double room_for_key = height > 2 * key ? height / (height - key) : room;
    return std::max(static_cast<double>(reserved_) * std::max(room, room_for_key),
                    static_cast<double>(figure_.value_or(0)) * std::max(room_above_line, room_for_key));
}

void TimelinePlot::lay_out_annotation_rows() {
    annotations_ = has_data() ? lay_out_annotations(session()->trace(), session()->device().device) : AnnotationRows{};
    step_ends_.clear();
    for (const Step& step : has_data() ? session()->trace().steps : std::vector<Step>()) {
        if (step.end) {
            step_ends_.push_back(*step.end);
        }
    }
    std::sort(step_ends_.begin(), step_ends_.end());
    const auto rows = static_cast<int>(annotations_.rows.size());
    const int height = rows ? rows * annotation_row_height + 4 : 0;
    set_top_margin(8 + height);
    // In a low window the other plots give it their room, and it gives some to further rows.
    setMinimumHeight(least_height + std::min(height, 2 * annotation_row_height + 4));
}

void TimelinePlot::view_changed() {
    if (!has_data() || area().width() < 2 || area().height() < 2) {
        return;
    }
    grow_whole_bytes(fit_bytes());
    const auto to_paint = [this] { return picture_request(*session(), theme(), area(), pixel_ratio(), low(), high()); };
    if (synchronous()) {
        take(find_process_bands(to_paint()));
    } else {
        bands_worker_.request(to_paint());
    }
    PictureRequest request = to_paint();
    if (synchronous() || picture_.image.isNull()) {
        picture_ = paint_timeline(request);
    } else {
        worker_.request(std::move(request));
    }
}

QString TimelinePlot::empty_reason() const {
    return session()->device().event_count() == 0 && whole_bytes() <= 512
               ? tr("This device has neither events nor segments in the trace.")
               : QString();
}

void TimelinePlot::paint_picture(QCPPainter& painter) {
    painter.save();
    if (painter.modes().testFlag(QCPPainter::pmVectorized)) {
        paint_vector(painter);
    } else {
        draw_picture(painter, area(), picture_.image, picture_.request, session()->time_view(), low(), high());
    }
    painter.restore();
    paint_annotations(painter);
    labels_ = paint_band_labels(painter);
    std::vector<QRectF> of_peak;
    const auto peak = peak_place();
    if (const auto label = peak ? peak_label(*peak) : std::nullopt) {
        of_peak.push_back(*label);
    }
    const std::vector<QRectF> of_process = paint_process(painter, of_peak);
    labels_.insert(labels_.end(), of_process.begin(), of_process.end());
    std::vector<QRectF> labels = labels_;
    labels.insert(labels.end(), of_peak.begin(), of_peak.end());
    const std::vector<QRectF> bands = process_places();
    labels.insert(labels.end(), bands.begin(), bands.end());
    paint_steps(painter);
    paint_marks(painter, labels);
    paint_oom_flags(painter, labels);
    paint_peak(painter);
    paint_key(painter, key(), area(), theme());
}

namespace {

/// Returns the bytes of these allocations in each column.
std::vector<int64_t> bytes_in_columns(const Allocations& all, const std::vector<AllocationIndex>& allocations,
                                      const std::vector<Column>& columns) {
    std::vector<int64_t> bytes(columns.size() + 1);
    const auto after = [&](EventNumber event) {
        const auto found =
            std::upper_bound(columns.begin(), columns.end(), event,
                             [](EventNumber e, const Column& column) { return e < column.time_point.event; });
        return static_cast<size_t>(found - columns.begin());
    };
    for (const AllocationIndex a : allocations) {
        bytes[after(all.alloc_event[a])] += static_cast<int64_t>(all.block_size[a]);
        bytes[after(all.free_completed[a])] -= static_cast<int64_t>(all.block_size[a]);
    }
    std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
    bytes.pop_back();
    return bytes;
}

}  // namespace

/// Paints the allocations under the pointer in another pane as an area from the bottom up.
void TimelinePlot::paint_overlay(QCPPainter& painter) {
    const std::vector<AllocationIndex>& hovered = session()->selection().hovered();
    if (hovered.empty() || !picture_.columns || picture_.request.axis != session()->time_view().axis()) {
        return;
    }
    const PictureRequest& r = picture_.request;
    const std::vector<int64_t> bytes = bytes_in_columns(session()->device().allocations, hovered, *picture_.columns);
    const AxisMap x = x_map(), y = y_map();
    QPolygonF shape;
    for (size_t c = 0; c < bytes.size(); ++c) {
        const double column = (r.to - r.from) / static_cast<double>(bytes.size());
        const double top = y.pixel(static_cast<double>(bytes[c]));
        shape << QPointF(x.pixel(r.from + column * static_cast<double>(c)), top)
              << QPointF(x.pixel(r.from + column * static_cast<double>(c + 1)), top);
    }
    shape << QPointF(shape.back().x(), y.pixel(0)) << QPointF(shape.front().x(), y.pixel(0));
    QColor fill = theme().selection;
    fill.setAlpha(110);
    painter.save();
    painter.setClipRect(area(), Qt::IntersectClip);
    painter.setPen(QPen(theme().selection, 1.5));
    painter.setBrush(fill);
    painter.drawPolygon(shape);
    painter.restore();
}

/// Paints the same columns as shapes, for SVG.
void TimelinePlot::paint_vector(QCPPainter& painter) const {
    painter.setClipRect(area());
    const PictureRequest& r = picture_.request;
    const auto groups = static_cast<size_t>(r.groups->count());
    const AxisMap x = x_map(), y = y_map();
    const size_t count = picture_.columns->size();
    std::vector<int64_t> bottoms(count, 0), tops(count, 0);
    for (size_t g = 0; g < groups; ++g) {
        for (size_t c = 0; c < count; ++c) {
            tops[c] = bottoms[c] + picture_.stacked[c * groups + g];
        }
        const QColor color = color_of_group(r.theme, *r.groups, static_cast<int>(g));
        const BandShape shape = band_shape(bottoms, tops, {r.from, r.to}, x, y);
        if (is_unknown(*r.groups, static_cast<int>(g))) {
            paint_unknown_band(painter, shape, color, r.theme.plot_background, y.pixel(0));
        } else {
            paint_band(painter, shape, color, r.theme.plot_background, y.pixel(0));
        }
        bottoms = tops;
    }
    painter.setBrush(Qt::NoBrush);
    const std::array<std::pair<Series, QColor>, 3> lines = {{{Series::reserved, theme().reserved_line},
                                                             {Series::active, theme().active_line},
                                                             {Series::allocated, theme().allocated_line}}};
    for (const auto& [series, color] : lines) {
        QPolygonF line;
        for (size_t c = 0; c < count; ++c) {
            const double at = r.from + (r.to - r.from) * static_cast<double>(c) / static_cast<double>(count);
            const int64_t bytes = (*picture_.columns)[c].max[static_cast<size_t>(series)];
            line << QPointF(x.pixel(at), y.pixel(static_cast<double>(bytes)));
        }
        painter.setPen(QPen(color, 1));
        painter.drawPolyline(line);
    }
}

/// `taken`: where labels come. Returns where the names of bands are.
std::vector<QRectF> TimelinePlot::paint_process(QCPPainter& painter, std::vector<QRectF> taken) const {
    if (!figure_ || bands_.columns.empty() || bands_.request.axis != session()->time_view().axis()) {
        return {};
    }
    painter.save();
    painter.setClipRect(area(), Qt::IntersectClip);
    taken.emplace_back(key_area());
    auto names = paint_process_bands(painter, bands_, {area(), x_map(), y_map(), std::move(taken)});
    painter.restore();
    return names;
}

/// Returns where the bands of the process are, in strips.
std::vector<QRectF> TimelinePlot::process_places() const {
    constexpr int strip = 8;  // pixels
    std::vector<QRectF> places;
    const AxisMap x = x_map(), y = y_map();
    for (int left = area().left(); figure_ && left < area().right(); left += strip) {
        const ProcessMemory* memory = bands_.at(x.value(left + strip / 2.0));
        if (memory != nullptr && !memory->outside.empty()) {
            const double top = y.pixel(static_cast<double>(memory->top()));
            places.emplace_back(left, top, strip, y.pixel(static_cast<double>(memory->reserved)) - top);
        }
    }
    return places;
}

/// Returns where the labels are.
std::vector<QRectF> TimelinePlot::paint_band_labels(QCPPainter& painter) const {
    std::vector<QRectF> places;
    const PictureRequest& r = picture_.request;
    if (!r.groups || r.axis != session()->time_view().axis()) {
        return places;
    }
    for (const BandLabel& label : band_labels(picture_, QFontMetrics(painter.font()), area(), x_map(), y_map())) {
        if (r.selected_group >= 0 && r.selected_group != label.group) {
            continue;
        }
        const QColor color = color_of_group(theme(), *r.groups, label.group);
        QRectF behind(0, 0, painter.fontMetrics().horizontalAdvance(label.text) + 6, painter.fontMetrics().height());
        behind.moveCenter(label.place.center());
        painter.fillRect(behind, color);
        painter.setPen(text_color_on(color));
        painter.drawText(label.place, Qt::AlignCenter, label.text);
        places.push_back(behind);
    }
    return places;
}

QString TimelinePlot::figure_name() const {
    return bands_.of == FigureOf::process ? tr("nvidia-smi, this process") : tr("nvidia-smi, whole GPU");
}

std::vector<KeyEntry> TimelinePlot::key_of_lines() const {
    std::vector<KeyEntry> lines = {{tr("reserved"), theme().reserved_line, KeySample::line, 2},
                                   {tr("active"), theme().active_line, KeySample::line, 2},
                                   {tr("allocated"), theme().allocated_line, KeySample::line, 1}};
    if (const auto highest = bands_.highest()) {
        const bool is_above = !figure_ || static_cast<double>(*highest) > high();
        const QString name = figure_name();
        lines.insert(lines.begin(), {is_above ? tr("%1: %2").arg(name, bytes_text(*highest)) : name,
                                     theme().allocated_line, is_above ? KeySample::above : KeySample::line, 3});
    }
    return lines;
}

/// Names the bands of the process, of which most are too low for a name in the plot, and the lines.
std::vector<KeyEntry> TimelinePlot::key() const {
    const std::vector<KeyEntry> lines = key_of_lines();
    if (!figure_) {
        return lines;
    }
    const QFontMetrics metrics(font());
    const double of_pixel = (high() - low()) / std::max(area().height(), 1);
    std::vector<KeyEntry> all =
        key_of_bands(bands_, of_pixel, metrics, area().width() - key_place(lines, metrics, area()).width());
    all.insert(all.end(), lines.begin(), lines.end());
    return all;
}

QRect TimelinePlot::key_area() const { return key_place(key(), QFontMetrics(font()), area()); }

}  // namespace tidemark::gui
