// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/timeline_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "gui/model/component_text.h"
#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "gui/timeline/band_labels.h"
#include "gui/timeline/band_shape.h"
#include "storage/allocator/rules.h"
#include "storage/base/units.h"

namespace tidemark::gui {

namespace {

constexpr int row_height = 17, least_height = 132;  // pixels; the latter without rows
constexpr QPointF above_mark(0, -4);                ///< from the peak

/// Returns the height of the row with the names of the lines, which has no other labels.
int legend_row(const QFontMetrics& metrics) { return metrics.height() + 5; }

QString shown_text(const QFontMetrics& metrics, QRect area, const QString& text) {
    return metrics.elidedText(text, Qt::ElideRight, area.width() / 2);
}

/// Returns the place of a label beside and above its anchor.
QRectF label_box(const QFontMetrics& metrics, QRect area, QPointF anchor, const QString& text) {
    QRectF box(0, 0, metrics.horizontalAdvance(shown_text(metrics, area, text)) + 8, metrics.height() + 2);
    box.moveBottomLeft(anchor + QPointF(6, -2));
    if (box.right() > area.right()) {
        box.moveRight(anchor.x() - 6);
    }
    const double highest = area.top() + legend_row(metrics);
    box.moveTop(std::clamp(box.top(), highest, std::max(area.bottom() - box.height(), highest)));
    return box;
}

/// Paints a label on a background, so that it is readable over any picture.
void paint_label(QCPPainter& painter, const Theme& theme, QRect area, const QRectF& box, const QString& text,
                 QColor color) {
    const QFontMetrics metrics(painter.font());
    QColor back = theme.plot_background;
    back.setAlpha(215);
    painter.fillRect(box, back);
    painter.setPen(color);
    painter.drawText(box, Qt::AlignCenter, shown_text(metrics, area, text));
}

QString peak_text(const Session& session) {
    return TimelinePlot::tr("peak %1 allocated")
        .arg(bytes_text(session.analysis().curves().peak(Series::allocated).max));
}

QString oom_text(const Trace& trace, const OtherEvent& oom) {
    const QString requested = bytes_text(static_cast<int64_t>(oom.size));
    return segment_size(AllocatorSettings::from_text(trace.settings), oom.size) <= oom.address
               ? TimelinePlot::tr("out of memory: %1 refused by the process's own limit").arg(requested)
               : TimelinePlot::tr("out of memory: %1 requested, %2 free")
                     .arg(requested, bytes_text(static_cast<int64_t>(oom.address)));
}

/// Returns the name as far as there is room; nothing instead of a few letters: "3…" would be read as a number.
QString annotation_text(const QFontMetrics& metrics, const Annotation& annotation, int width) {
    constexpr int fewest_letters = 8;
    const QString name = name_text(annotation.name) + (annotation.closed ? QString() : QStringLiteral(" …"));
    const QString shown = metrics.elidedText(name, Qt::ElideRight, width);
    return shown == name || shown.size() > fewest_letters ? shown : QString();
}

/// Returns the place nearest to the anchor, above or below it, where a label covers none of the others; the anchor if
/// there is none.
QPointF free_anchor(const QFontMetrics& metrics, QRect area, QPointF anchor, const QString& text,
                    const std::vector<QRectF>& others) {
    for (int distance = 0; distance < area.height(); distance += 2) {
        for (const int at : {distance, -distance}) {
            const QPointF candidate = anchor + QPointF(0, at);
            const QRectF box = label_box(metrics, area, candidate, text);
            if (std::none_of(others.begin(), others.end(),
                             [&](const QRectF& other) { return other.intersects(box); })) {
                return candidate;
            }
        }
    }
    return anchor;
}

}  // namespace

TimelinePlot::TimelinePlot(QWidget* parent)
    : TimePlot(parent),
      worker_(this, paint_timeline,
              [this](TimelinePicture picture) {
                  picture_ = std::move(picture);
                  repaint_picture();
              }),
      bands_worker_(this, find_process_bands, [this](ProcessBands bands) {
          bands_ = std::move(bands);
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
    lay_out_annotation_rows();
    if (has_data()) {
        find_heights();
        set_whole_bytes(fit_bytes());
    }
}

void TimelinePlot::session_grown() {
    lay_out_annotation_rows();
    find_heights();
}

/// Returns nvidia-smi's highest figure, unless the memory below it is mostly not the allocator's: a small leak beside a
/// CUDA context would not be seen.
std::optional<int64_t> TimelinePlot::figure_in_reach() const {
    const int64_t reserved = session()->analysis().curves().peak(Series::reserved).max;
    const auto figure = highest_figure(session()->trace(), session()->device().device);
    const bool is_in_reach = figure && figure->bytes / 2 <= reserved;
    return is_in_reach ? std::optional(figure->bytes) : std::nullopt;
}

void TimelinePlot::find_heights() {
    reserved_ = session()->analysis().curves().peak(Series::reserved).max;
    figure_ = figure_in_reach();
}

/// Returns the height of the plot, with room for the key. What it has no room for is only named in the key.
double TimelinePlot::fit_bytes() const {
    constexpr double room = 1.2, room_above_line = 1.3;
    const double height = area().height(), key = legend_row(QFontMetrics(font()));
    const double room_for_key = height > 2 * key ? height / (height - key) : room;
    return std::max(static_cast<double>(reserved_) * std::max(room, room_for_key),
                    static_cast<double>(figure_.value_or(0)) * std::max(room_above_line, room_for_key));
}

QString TimelinePlot::describe_ends(std::pair<double, double> range) const {
    const TimeView& view = session()->time_view();
    const auto allocated = [&](double at) {
        return bytes_text(session()->analysis().curves().value(Series::allocated, view.point_at(at)));
    };
    return tr("%1 · allocated %2 → %3")
        .arg(duration_text(view.time_at(range.second) - view.time_at(range.first)), allocated(range.first),
             allocated(range.second));
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
    const int height = rows ? rows * row_height + 4 : 0;
    set_top_margin(8 + height);
    // In a low window the other plots give it their room, and it gives some to further rows.
    setMinimumHeight(least_height + std::min(height, 2 * row_height + 4));
}

void TimelinePlot::view_changed() {
    if (!has_data() || area().width() < 2 || area().height() < 2) {
        return;
    }
    grow_whole_bytes(fit_bytes());
    PictureRequest request = picture_request(*session(), theme(), area(), pixel_ratio(), low(), high());
    if (synchronous()) {
        bands_ = find_process_bands(request);
    } else {
        bands_worker_.request(request);
    }
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

// ---- annotations, marks, flags ------------------------------------------------------------------------------------

void TimelinePlot::paint_annotations(QCPPainter& painter) const {
    int top = area().top() - 4 - static_cast<int>(annotations_.rows.size()) * row_height;
    for (const auto& row : annotations_.rows) {
        paint_annotation_row(painter, row, QRect(area().left(), top, area().width(), row_height - 2));
        top += row_height;
    }
}

void TimelinePlot::paint_annotation_row(QCPPainter& painter, const std::vector<const Annotation*>& row,
                                        QRect strip) const {
    painter.save();
    painter.setClipRect(strip);
    const TimeView& view = session()->time_view();
    const AxisMap x = x_map();
    const int64_t from = view.time_at(view.from()), to = view.time_at(view.to());
    auto it = std::partition_point(row.begin(), row.end(), [from](const Annotation* a) { return a->end < from; });
    const QFontMetrics metrics(painter.font());
    QColor fill = theme().faint_text;
    while (it != row.end() && (*it)->start <= to) {
        const Annotation& a = **it;
        const double left = std::max(x.pixel(view.position_of_time(a.start)), strip.left() - 1.0);
        const double right = std::min(x.pixel(view.position_of_time(a.end)), strip.right() + 2.0);
        const bool odd = (it - row.begin()) % 2;
        fill.setAlpha(odd ? 62 : 96);
        if (right - left < 2) {
            // Too many to distinguish: one pixel represents all that end in it.
            painter.fillRect(QRectF(std::floor(left), strip.top(), 2, strip.height()), fill);
            const auto pixel_end = view.time_at(x.value(std::floor(left) + 2));
            const auto next =
                std::partition_point(it, row.end(), [&](const Annotation* b) { return b->end <= pixel_end; });
            it = next == it ? it + 1 : next;
            continue;
        }
        painter.fillRect(QRectF(left, strip.top(), std::max(right - left - 1, 1.0), strip.height()), fill);
        const QString name =
            right - left > 28 ? annotation_text(metrics, a, static_cast<int>(right - left) - 8) : QString();
        if (!name.isEmpty()) {
            painter.setPen(theme().text);
            painter.drawText(QRectF(left + 4, strip.top(), right - left - 8, strip.height()), Qt::AlignVCenter, name);
        }
        ++it;
    }
    painter.restore();
}

/// Paints the ends of steps as lines, unless so many lines would hide the plot. Of a million steps it visits only those
/// that it paints.
void TimelinePlot::paint_steps(QCPPainter& painter) const {
    constexpr double least_distance = 24;
    const TimeView& view = session()->time_view();
    const AxisMap x = x_map();
    QColor color = theme().faint_text;
    color.setAlpha(90);
    painter.setPen(QPen(color, 1, Qt::DotLine));
    const QRect shown = area();
    const auto first_at = [&](double pixel) {
        return std::lower_bound(step_ends_.begin(), step_ends_.end(), view.time_at(x.value(pixel)));
    };
    for (auto end = first_at(shown.left()); end != step_ends_.end();) {
        const double at = std::round(x.pixel(view.position_of_time(*end)));
        if (at > shown.right()) {
            break;
        }
        painter.drawLine(QPointF(at, shown.top()), QPointF(at, shown.bottom()));
        end = std::max(end + 1, first_at(at + least_distance));
    }
}

/// `labels`: where others are, and what labels must not hide.
void TimelinePlot::paint_marks(QCPPainter& painter, const std::vector<QRectF>& labels) const {
    const TimeView& view = session()->time_view();
    const AxisMap x = x_map();
    const int device = session()->device().device;
    double last = -1, label_free_from = -1;
    const QFontMetrics metrics(painter.font());
    for (const Mark& mark : session()->trace().marks) {
        const auto event = mark.events.find(device);
        const double position =
            event != mark.events.end() ? view.position_of(event->second) : view.position_of_time(mark.time);
        const double at = std::round(x.pixel(position));
        if (at < area().left() || at > area().right() || at == last) {
            continue;
        }
        last = at;
        QColor color = theme().faint_text;
        color.setAlpha(150);
        painter.setPen(QPen(color, 1, Qt::DashLine));
        painter.drawLine(QPointF(at, area().top()), QPointF(at, area().bottom()));
        if (at > label_free_from) {
            const QString name = metrics.elidedText(name_text(mark.name), Qt::ElideRight, area().width() / 2);
            const QPointF wanted(at - 4, area().top() + metrics.height() + 4);
            const QPointF anchor = free_anchor(metrics, area(), wanted, name, labels);
            paint_label(painter, theme(), area(), label_box(metrics, area(), anchor, name), name, theme().faint_text);
            label_free_from = at + metrics.horizontalAdvance(name) + 16;
        }
    }
}

/// Labels the last error that is shown; the others often follow each other closely. `labels`: as of marks.
void TimelinePlot::paint_oom_flags(QCPPainter& painter, const std::vector<QRectF>& labels) const {
    const AxisMap x = x_map();
    double last = -10;
    const OtherEvent* labeled = nullptr;
    for (const OtherEvent& other : session()->device().others) {
        const double at = std::round(x.pixel(session()->time_view().position_of(other.event + 1)));
        if (other.action != Action::oom || at < area().left() || at > area().right()) {
            continue;
        }
        labeled = &other;
        if (at - last < 2) {
            continue;
        }
        last = at;
        painter.setPen(QPen(theme().oom, 2));
        painter.drawLine(QPointF(at, area().top()), QPointF(at, area().bottom()));
        painter.setBrush(theme().oom);
        painter.setPen(Qt::NoPen);
        const double top = area().top();
        painter.drawPolygon(QPolygonF({{at, top}, {at + 11, top + 5}, {at, top + 10}}));
    }
    if (labeled != nullptr) {
        const QString text = oom_text(session()->trace(), *labeled);
        const QFontMetrics metrics(painter.font());
        const QPointF anchor = free_anchor(metrics, area(), QPointF(last, area().center().y()), text, labels);
        paint_label(painter, theme(), area(), label_box(metrics, area(), anchor, text), text, theme().oom);
    }
}

/// Returns the peak's pixel; nothing if the plot does not show it.
std::optional<QPointF> TimelinePlot::peak_place() const {
    const Extremes peak = session()->analysis().curves().peak(Series::allocated);
    const double at = x_map().pixel(session()->time_view().position_of(peak.max_event));
    const double y = y_map().pixel(static_cast<double>(peak.max));
    const bool is_shown =
        peak.max > 0 && at >= area().left() && at <= area().right() && y >= area().top() && y <= area().bottom();
    return is_shown ? std::optional(QPointF(at, y)) : std::nullopt;
}

/// Returns the place of the peak's label: above nvidia-smi's line, which it must not hide. Nothing in a plot too low
/// for both: the header names the peak, too.
std::optional<QRectF> TimelinePlot::peak_label(QPointF peak) const {
    const QFontMetrics metrics(font());
    const QString text = peak_text(*session());
    const QRectF box = label_box(metrics, area(), peak + above_mark, text);
    const AxisMap x = x_map();
    const auto figure = figure_ ? bands_.highest_between(x.value(box.left()), x.value(box.right())) : std::nullopt;
    const double line = figure ? y_map().pixel(static_cast<double>(*figure)) : area().bottom();
    const QRectF above = label_box(metrics, area(), {peak.x(), std::min(peak.y() + above_mark.y(), line)}, text);
    return above.bottom() < line ? std::optional(above) : std::nullopt;
}

void TimelinePlot::paint_peak(QCPPainter& painter) const {
    const auto place = peak_place();
    if (!place) {
        return;
    }
    painter.setPen(QPen(theme().plot_background, 1));
    painter.setBrush(theme().allocated_line);
    painter.drawPolygon(QPolygonF({*place + QPointF(0, -1), *place + QPointF(-5, -9), *place + QPointF(5, -9)}));
    if (const auto box = peak_label(*place)) {
        paint_label(painter, theme(), area(), *box, peak_text(*session()), theme().text);
    }
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

// ---- pointer ------------------------------------------------------------------------------------------------------

QString TimelinePlot::describe_annotations(double position) const {
    QStringList names;
    for (const Annotation* a : annotations_.at(session()->time_view().time_at(position))) {
        names << name_text(a->name).toHtmlEscaped();
    }
    return names.join(QStringLiteral(" › "));
}

QString TimelinePlot::describe_groups(size_t column) const {
    constexpr size_t most = 6;
    const Groups& groups = *picture_.request.groups;
    const auto count = static_cast<size_t>(groups.count());
    const int64_t* bytes = &picture_.stacked[column * count];
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
    QString html = QStringLiteral("<table cellspacing=0>");
    for (size_t i = 0; i < std::min(most, count) && bytes[order[i]] > 0; ++i) {
        const auto g = static_cast<int>(order[i]);
        html += QStringLiteral("<tr><td>%1%2&nbsp;&nbsp;</td><td align=right>%3</td></tr>")
                    .arg(swatch(color_of_group(theme(), groups, g)),
                         to_qstring(groups.grouping.names[order[i]]).toHtmlEscaped(), bytes_text(bytes[order[i]]));
    }
    return html + QStringLiteral("</table>");
}

/// Describes the memory above the groups, from nvidia-smi's figure inwards.
QString TimelinePlot::describe_process(const ProcessMemory& memory) const {
    QString html;
    const auto line = [&](const QString& mark, const QString& name, int64_t bytes) {
        html += QStringLiteral("<tr><td>%1%2&nbsp;&nbsp;</td><td align=right>%3</td></tr>")
                    .arg(mark, name.toHtmlEscaped(), bytes_text(bytes));
    };
    if (memory.figure) {
        line({}, figure_name(), *memory.figure);
    }
    for (auto component = memory.outside.rbegin(); component != memory.outside.rend(); ++component) {
        line(swatch(bands_.color(*component)), component_name(*component), component->bytes);
    }
    return QStringLiteral("<table cellspacing=0>%1</table>").arg(html);
}

QString TimelinePlot::describe(QPoint point) {
    const QRect strip(area().left(), 0, area().width(), area().top());
    const double position = position_at(point.x());
    if (strip.contains(point)) {
        return describe_annotations(position);
    }
    const auto column = column_at(picture_, position);
    if (!area().contains(point) || !column) {
        return {};
    }
    const QString open = describe_annotations(position);
    const ProcessMemory* memory = bands_.at(position);
    const QString process = memory != nullptr ? describe_process(*memory) : QString();
    return (open.isEmpty() ? QString() : open + QStringLiteral("<br>")) +
           describe_column(point, (*picture_.columns)[*column]) + describe_groups(*column) + process;
}

void TimelinePlot::clicked(QPoint point) {
    const auto column = column_at(picture_, position_at(point.x()));
    if (column && area().contains(point)) {
        // The time the column shows, not the one a fraction of a pixel away.
        session()->selection().set_time_point(point_under(point, (*picture_.columns)[*column]));
    } else {
        set_time_point_at(point);
    }
}

}  // namespace tidemark::gui
