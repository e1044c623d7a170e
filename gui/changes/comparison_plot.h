// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Active memory of two runs, or of two steps, on one axis; below it the difference, on a scale of its own: what is
// small beside the whole memory can be seen.
#pragma once

#include <QPointer>
#include <QWidget>
#include <memory>
#include <vector>

#include "gui/changes/comparison.h"
#include "gui/model/latest_only.h"
#include "gui/model/palette.h"
#include "gui/widgets/coordinates.h"
#include "gui/widgets/hover_tip.h"
#include "gui/widgets/wheel_mode.h"

namespace tidemark::gui {

/// Thread: GUI. Two traces follow the zoom of the session; beyond the shown run B has room when the whole run is shown.
class ComparisonPlot : public QWidget {
    Q_OBJECT
public:
    explicit ComparisonPlot(QWidget* parent = nullptr);
    void set_session(Session* session);
    void set_wheel_mode(WheelMode mode) { wheel_mode_ = mode; }
    /// Null, or without runs: nothing to draw.
    void show_changes(std::shared_ptr<const ShownChanges> shown);
    const ComparedRuns* runs() const { return shown_ ? shown_->runs.get() : nullptr; }
    /// Returns the places at the left and the right edge. Requires runs.
    std::pair<double, double> span() const;
    /// Returns the place at a pixel, and where the plot shows a place. Requires runs.
    double place_at(double x) const { return x_map().value(x); }
    double pixel_of(double place) const { return x_map().pixel(place); }
    /// Puts the cursor of the session at a place. Requires runs.
    void go_to(double place);
    QSize sizeHint() const override { return {500, 220}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    using RunColumns = std::vector<std::optional<RunColumn>>;
    /// The columns of both between two places.
    struct PlotColumns {
        double from = 0, to = 1;
        RunColumns a, b;
        int64_t least_difference = 0, most_difference = 0;

        std::optional<int64_t> difference_of(size_t column) const;
    };
    static std::shared_ptr<const PlotColumns> make_columns(const ComparedRuns& runs, double from, double to, int count);

    QRect curves_area() const;
    QRect difference_area() const;
    AxisMap x_map() const;
    AxisMap y_map() const;
    AxisMap difference_map() const;
    void update_columns();
    void discard_columns();
    void follow_cursor();
    QRectF column_rect(size_t column, double top, double bottom) const;
    void paint_key(QPainter& painter) const;
    void paint_places(QPainter& painter) const;
    void paint_bytes(QPainter& painter) const;
    void paint_curves(QPainter& painter) const;
    void paint_run(QPainter& painter, const RunColumns& columns, const QColor& color, double thickness) const;
    void paint_difference(QPainter& painter) const;
    void paint_peaks(QPainter& painter) const;
    void paint_points(QPainter& painter) const;
    QString place_text(double place) const;
    QString axis_text() const;
    QString describe(double place) const;
    /// Returns in full what is written above and below the curves.
    QString describe_text_at(QPoint point) const;

    QPointer<Session> session_;
    std::shared_ptr<const ShownChanges> shown_;
    std::shared_ptr<const PlotColumns> columns_;  ///< of the runs; of an earlier span until those of the span arrive
    LatestOnly<PlotColumns> task_;
    std::optional<double> pointer_;  ///< place
    WheelMode wheel_mode_ = WheelMode::scrolls;
    QPointer<HoverTip> tip_;
};

}  // namespace tidemark::gui
