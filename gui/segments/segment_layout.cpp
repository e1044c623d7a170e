// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/segments/segment_layout.h"

#include <algorithm>
#include <cmath>

namespace tidemark::gui {

namespace {

constexpr double shortest_bar = 6;  // pixels: the smallest segment stays visible and clickable
constexpr double gap_between_bars = 4;
constexpr int tallest_bar = 34, lowest_bar = 12;
constexpr int gap_after_group = 8;
constexpr int most_lines = 32'000'000;  // of all segments, so that heights fit into an int at any zoom

const Segment& segment_of(const DeviceHistory& device, const SegmentState& s) { return device.segments[s.segment]; }

bool same_group(const Segment& a, const Segment& b) { return a.pool == b.pool && a.stream == b.stream; }

}  // namespace

void SegmentLayout::clear() {
    groups_.clear();
    segments_.clear();
    placed_of_.clear();
    height_ = 0;
}

void SegmentLayout::arrange(const MemoryState& state, const DeviceHistory& device, const LayoutOptions& options) {
    clear();
    options_ = options;
    options_.line_width = std::max(options_.line_width, 4 * shortest_bar);
    const auto most_lines_each = static_cast<double>(most_lines / std::max<size_t>(state.segments.size(), 1) + 1);
    segments_.reserve(state.segments.size());
    for (uint32_t i = 0; i < state.segments.size(); ++i) {
        const SegmentState& s = state.segments[i];
        const Segment& segment = segment_of(device, s);
        if (groups_.empty() || !same_group(segment_of(device, state.segments[i - 1]), segment)) {
            groups_.push_back({segment.pool, segment.stream, true, 0, i, 0, 0, 0});
        }
        PlacedGroup& group = groups_.back();
        ++group.count;
        group.pool_known &= segment.pool_known;
        group.size += s.size;
        group.active += s.allocated + s.pending;
        PlacedSegment placed;
        placed.index = i;
        placed.bytes = static_cast<double>(std::max<uint64_t>(s.size, 1));
        const double natural = placed.bytes / options_.bytes_per_pixel;
        placed.length = options_.same_width ? options_.line_width * options_.zoom : std::max(natural, shortest_bar);
        placed.length = std::min(placed.length, options_.line_width * most_lines_each);
        segments_.push_back(placed);
    }
    int y = 0;
    for (PlacedGroup& group : groups_) {
        const auto rank = [&](const PlacedSegment& p) {
            const SegmentState& s = state.segments[p.index];
            const Segment& segment = segment_of(device, s);
            const uint64_t by = options_.order == SegmentOrder::age    ? s.segment
                                : options_.order == SegmentOrder::size ? ~s.size
                                                                       : s.address;
            // The two kinds never share memory, so segments of small blocks come together before those of large ones.
            return std::tuple(options_.order == SegmentOrder::age && segment.is_large, by, s.address);
        };
        std::sort(segments_.begin() + group.first, segments_.begin() + group.first + group.count,
                  [&](const PlacedSegment& a, const PlacedSegment& b) { return rank(a) < rank(b); });
        place_group(group, y);
    }
    height_ = y;
    placed_of_.resize(state.segments.size());
    for (uint32_t i = 0; i < segments_.size(); ++i) {
        placed_of_[segments_[i].index] = i;
    }
}

void SegmentLayout::place_group(PlacedGroup& group, int& y) {
    group.top = y;
    y += options_.header_height;
    double x = 0;
    for (uint32_t i = group.first; i < group.first + group.count; ++i) {
        PlacedSegment& s = segments_[i];
        if (x > 0 && x + s.length > options_.line_width + 0.01) {
            y += options_.pitch();
            x = 0;
        }
        s.left = options_.left + x;
        s.top = y;
        s.lines = std::max(1, static_cast<int>(std::ceil(s.length / options_.line_width - 1e-9)));
        if (s.lines > 1) {
            y += s.lines * options_.pitch();
        } else {
            x += s.length + gap_between_bars;
        }
    }
    y += (x > 0 ? options_.pitch() : 0) + gap_after_group;
}

std::optional<SegmentLayout::Hit> SegmentLayout::hit(QPointF point) const {
    const int y = static_cast<int>(std::floor(point.y()));
    const auto [first, last] = visible(y, y);
    for (uint32_t i = first; i < last; ++i) {
        const PlacedSegment& s = segments_[i];
        const int line = (y - s.top) / options_.pitch();
        if (y < s.top || line >= s.lines || (y - s.top) % options_.pitch() >= options_.bar_height) {
            continue;
        }
        const double along = point.x() - s.left + line * options_.line_width;
        if (point.x() >= s.left && point.x() <= options_.left + options_.line_width && along < s.length) {
            return Hit{i, along / s.pixels_per_byte()};
        }
    }
    return std::nullopt;
}

std::optional<uint32_t> SegmentLayout::placed_of(uint32_t state_index) const {
    return state_index < placed_of_.size() ? std::optional(placed_of_[state_index]) : std::nullopt;
}

QPointF SegmentLayout::position(const PlacedSegment& segment, double offset) const {
    const double along = std::clamp(offset * segment.pixels_per_byte(), 0.0, segment.length);
    const int line = std::clamp(static_cast<int>(along / options_.line_width), 0, segment.lines - 1);
    return {segment.left + along - line * options_.line_width,
            static_cast<double>(segment.top) + line * options_.pitch()};
}

std::vector<QRectF> SegmentLayout::pieces(const PlacedSegment& segment, double from, double to, double min_width,
                                          const QRect& visible) const {
    const double width = options_.line_width;
    const double begin = std::clamp(from * segment.pixels_per_byte(), 0.0, segment.length);
    const double end = std::clamp(to * segment.pixels_per_byte(), begin, segment.length);
    const int first = std::clamp(static_cast<int>(begin / width), 0, segment.lines - 1);
    const int last = std::clamp(static_cast<int>(std::ceil(end / width)) - 1, first, segment.lines - 1);
    std::vector<QRectF> rects;
    const int first_shown = std::max(first, (visible.top() - segment.top) / options_.pitch() - 1);
    const int last_shown = std::min(last, (visible.bottom() - segment.top) / options_.pitch() + 1);
    for (int line = first_shown; line <= last_shown; ++line) {
        const double x0 = std::max(begin - line * width, 0.0);
        const double x1 = std::min(end - line * width, width);
        QRectF rect(segment.left + x0, segment.top + line * options_.pitch(), x1 - x0, options_.bar_height);
        if (first == last && rect.width() < min_width) {
            const double missing = min_width - rect.width();
            rect.adjust(-missing / 2, 0, missing / 2, 0);
        }
        rects.push_back(rect);
    }
    return rects;
}

std::pair<uint32_t, uint32_t> SegmentLayout::visible(int top, int bottom) const {
    const auto above = [&](const PlacedSegment& s, int y) { return s.top + s.lines * options_.pitch() <= y; };
    const auto first = std::lower_bound(segments_.begin(), segments_.end(), top, above);
    const auto last =
        std::upper_bound(first, segments_.end(), bottom, [](int y, const PlacedSegment& s) { return y < s.top; });
    return {static_cast<uint32_t>(first - segments_.begin()), static_cast<uint32_t>(last - segments_.begin())};
}

namespace {

/// Returns the size below which half of the active bytes lie; blocks of this size should be more than a sliver.
double typical_block(const MemoryState& state) {
    std::vector<uint64_t> sizes;
    uint64_t total = 0;
    for (const SegmentState& s : state.segments) {
        for (const Block& b : s.blocks) {
            if (b.state != BlockState::inactive) {
                sizes.push_back(b.size);
                total += b.size;
            }
        }
    }
    std::sort(sizes.begin(), sizes.end());
    uint64_t below = 0;
    for (const uint64_t size : sizes) {
        below += size;
        if (2 * below >= total) {
            return static_cast<double>(std::max<uint64_t>(size, 1));
        }
    }
    return 1 << 20;
}

uint64_t largest_segment(const MemoryState& state) {
    uint64_t largest = 1;
    for (const SegmentState& s : state.segments) {
        largest = std::max(largest, s.size);
    }
    return largest;
}

}  // namespace

namespace {

/// Returns the finest scale between `finest` and some coarser ones whose height fits. If not even bars an eighth as
/// long fit, scrolling is better than tiny bars, unless tiny bars save much scrolling.
template <class HeightWith>
double fitting_scale(HeightWith&& height_with, double height, double finest, double usual) {
    constexpr double most_coarsening = 8;
    constexpr double worthwhile_saving = 0.6;
    double coarsest = usual * most_coarsening;
    const int lowest = height_with(coarsest);
    if (lowest > height) {
        return lowest < worthwhile_saving * height_with(usual) ? coarsest : usual;
    }
    for (int step = 0; step < 16; ++step) {
        const double middle = std::sqrt(finest * coarsest);
        (height_with(middle) > height ? finest : coarsest) = middle;
    }
    return coarsest;
}

}  // namespace

LayoutOptions fitted(const MemoryState& reference, const DeviceHistory& device, QSizeF area, LayoutOptions options) {
    constexpr int usual_bar = 18;
    constexpr double wanted_block_width = 8;
    SegmentLayout layout;
    options.bar_height = usual_bar;
    options.zoom = 1;
    const auto height_with = [&](double bytes_per_pixel) {
        options.bytes_per_pixel = bytes_per_pixel;
        layout.arrange(reference, device, options);
        return layout.height();
    };
    if (!options.same_width) {
        const double one_line = static_cast<double>(largest_segment(reference)) / options.line_width;
        double finest = std::max(16.0, std::min(one_line, typical_block(reference) / wanted_block_width));
        if (height_with(finest) > area.height()) {
            finest = fitting_scale(height_with, area.height(), finest, std::max(one_line, finest));
        }
        height_with(finest);
    } else {
        height_with(1);
    }
    // Spare height makes the bars taller, missing height a little lower; beyond that the map scrolls.
    const int headers = static_cast<int>(layout.groups().size()) * (options.header_height + gap_after_group);
    const int lines = std::max(1, (layout.height() - headers) / options.pitch());
    const int pitch = (static_cast<int>(area.height()) - headers) / lines;
    const int bar = pitch - options.line_gap;
    options.bar_height = bar < lowest_bar ? usual_bar : std::min(bar, tallest_bar);
    return options;
}

}  // namespace tidemark::gui
