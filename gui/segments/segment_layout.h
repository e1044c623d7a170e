// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The places of all segments in the segment map. Pure geometry in logical pixels, without painting.
//
// Segments are grouped by pool and stream. A segment is a bar whose length shows its bytes; a bar longer than a
// line continues in the next line, like text, so there is no horizontal scrolling.
#pragma once

#include <QRect>
#include <QRectF>
#include <optional>
#include <vector>

#include "storage/replay/memory_state.h"

namespace tidemark::gui {

enum class SegmentOrder { age, size, address };

struct LayoutOptions {
    double line_width = 800;
    double left = 0;                ///< the left edge of lines
    double bytes_per_pixel = 4096;  ///< the common scale
    bool same_width = false;        ///< instead: every segment is `zoom` lines long
    double zoom = 1;
    int bar_height = 18;
    int line_gap = 5;
    int header_height = 30;
    SegmentOrder order = SegmentOrder::age;
    int pitch() const { return bar_height + line_gap; }
};

struct PlacedSegment {
    uint32_t index = 0;  ///< into MemoryState::segments
    int top = 0;         ///< of its first line
    int lines = 1;
    double left = 0;    ///< of its first line; longer bars begin at the line's start
    double length = 0;  ///< along all its lines
    double bytes = 1;   ///< its size
    double pixels_per_byte() const { return length / bytes; }
};

/// Segments of one pool and stream.
struct PlacedGroup {
    uint32_t pool = 0, stream = 0;
    bool pool_known = true;  ///< of all its segments
    int top = 0;
    uint32_t first = 0, count = 0;  ///< range in SegmentLayout::segments()
    uint64_t size = 0, active = 0;
};

class SegmentLayout {
public:
    void arrange(const MemoryState& state, const DeviceHistory& device, const LayoutOptions& options);
    void clear();

    const LayoutOptions& options() const { return options_; }
    const std::vector<PlacedGroup>& groups() const { return groups_; }
    const std::vector<PlacedSegment>& segments() const { return segments_; }
    int height() const { return height_; }

    struct Hit {
        uint32_t placed = 0;  ///< index into segments()
        double offset = 0;    ///< bytes from the segment's start
    };
    std::optional<Hit> hit(QPointF point) const;
    /// Returns the position of a segment of the state; nothing if the state has no such segment.
    std::optional<uint32_t> placed_of(uint32_t state_index) const;
    /// Returns the top left of a byte's place in its bar.
    QPointF position(const PlacedSegment& segment, double offset) const;
    /// Returns the rectangles, one per line, that the bytes [from, to) of a segment cover in the lines that meet
    /// `visible`. A single piece is at least `min_width` wide.
    std::vector<QRectF> pieces(const PlacedSegment& segment, double from, double to, double min_width,
                               const QRect& visible) const;
    /// Returns the range of segments() that may touch the lines between two heights.
    std::pair<uint32_t, uint32_t> visible(int top, int bottom) const;

private:
    void place_group(PlacedGroup& group, int& y);

    LayoutOptions options_;
    std::vector<PlacedGroup> groups_;
    std::vector<PlacedSegment> segments_;  ///< by top, then left
    std::vector<uint32_t> placed_of_;      ///< by index in the state
    int height_ = 0;
};

/// Returns scale and line height that show `reference` (the state at the peak of reserved memory) as large as the area
/// allows: no bar longer than a line, unless its blocks would be too thin to see.
LayoutOptions fitted(const MemoryState& reference, const DeviceHistory& device, QSizeF area, LayoutOptions options);

}  // namespace tidemark::gui
