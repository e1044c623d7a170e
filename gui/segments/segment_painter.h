// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Draws the segment map: bars, blocks, marks, legend. The cost depends on the pixels shown, not on the blocks.
#pragma once

#include <QHash>
#include <QImage>
#include <QPainter>
#include <optional>

#include "gui/model/block_ref.h"
#include "gui/segments/block_colors.h"
#include "gui/segments/segment_layout.h"
#include "gui/segments/texture.h"

namespace tidemark::gui {

/// The input of a frame.
struct MapScene {
    const Session* session = nullptr;
    const MemoryState* state = nullptr;
    const SegmentLayout* layout = nullptr;
    Theme theme;
    MapColors color_by = MapColors::group;
    bool has_selected_stack = true;  ///< the state; else the stack of a refused request would only dim everything
    std::optional<BlockRef> hovered, focused;
    QFont font;
};

class SegmentPainter {
public:
    /// Paints the part of the map inside `visible` (map coordinates; the painter's origin is the map's).
    void paint(QPainter& painter, const MapScene& scene, const QRect& visible);

private:
    struct Column {
        QRgb fill = 0, stripe = 0;
        Texture texture = Texture::plain;
        bool lit = false;  ///< selected
    };
    struct Mix {
        float red = 0, green = 0, blue = 0, share = 0;
        bool pending = false, lit = false;
    };

    void paint_header(QPainter& painter, const PlacedGroup& group) const;
    void paint_segment(QPainter& painter, const PlacedSegment& placed, const QRect& visible);
    void paint_line(QPainter& painter, const PlacedSegment& placed, int line);
    Column free_column(const SegmentState& segment) const;
    void fill_columns(const SegmentState& segment, double first_byte, double columns_per_byte);
    void add_block(const Block& block, double begin, double end, double columns_per_byte);
    void add_sliver(const Block& block, double begin, double end);
    void resolve_slivers();
    void blit(QPainter& painter, const QRectF& bar);
    void underline_lit(QPainter& painter, const QRectF& bar) const;
    void paint_label(QPainter& painter, const Block& block, const QRectF& rect);
    void paint_frame(QPainter& painter, const PlacedSegment& placed, const QRectF& bar, int line) const;
    void paint_marks(QPainter& painter) const;
    void mark_block(QPainter& painter, BlockRef ref, const QPen& pen, bool strong) const;
    QRectF rect_of_line(const PlacedSegment& placed, int line) const;
    bool lit(const Block& block) const;
    QRgb color_of(const Block& block) const;

    const MapScene* scene_ = nullptr;
    BlockColors colors_;
    QRect visible_;
    int selected_group_ = -1;
    const Grouping* grouping_ = nullptr;
    const std::vector<AllocationIndex>* hovered_ = nullptr;
    bool dimming_ = false;
    double ratio_ = 1;
    bool vector_ = false;
    QRgb free_ = 0, dim_ = 0, edge_ = 0;
    std::vector<Column> columns_;
    std::vector<Mix> mixes_;
    QImage line_image_;
    QHash<StackId, QString> stack_names_;  ///< of the trace shown last; one painter serves one session
};

}  // namespace tidemark::gui
