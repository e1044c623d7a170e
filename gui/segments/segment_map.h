// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane with the allocator's memory at the cursor: every segment with its blocks in place.
#pragma once

#include <QWidget>

#include "gui/model/cursor_state.h"
#include "gui/segments/segment_canvas.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;

namespace tidemark::gui {

class MapLegend;
class SteadyText;

class SegmentMap : public QWidget {
    Q_OBJECT
public:
    explicit SegmentMap(QWidget* parent = nullptr);

    /// With nullptr nothing is open, and the pane says so.
    void set_session(Session* session);
    /// Paints figures, map and legend as one picture of any size, for export.
    void render_to(QPainter& painter, QSize size);

    /// Shows the block at an address; the field's label names the block, or the reason if there is none.
    void find_address(const QString& text);
    SegmentCanvas& canvas() { return *canvas_; }
    CursorState& cursor_state() { return state_; }

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* make_toolbar();
    void show_state();
    void show_figures();
    void follow_selection();
    void measure_reference();
    void follow_growth();
    void show_search_result(const QString& text, bool problem);

    QPointer<Session> session_;
    CursorState state_{this};
    bool follow_later_ = false;
    LatestOnly<MemoryState> reference_task_;
    EventNumber reserved_peak_ = -1;  ///< its state sets the scale of the bars
    SteadyText* figures_;
    SteadyText* fragmentation_;
    QLabel* found_;
    QComboBox* colors_;
    QComboBox* order_;
    QCheckBox* same_width_;
    QLineEdit* address_;
    SegmentCanvas* canvas_;
    MapLegend* legend_;
};

/// Returns the header figures of a state as rich text.
QString figures_text(const Trace& trace, const MemoryState& state);
/// Returns the effect of fragmentation on the next large request. Empty for driver allocations: each has memory of its
/// own.
QString fragmentation_text(const Session& session, const MemoryState& state);

}  // namespace tidemark::gui
