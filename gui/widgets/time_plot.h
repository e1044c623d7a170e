// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The base of all plots over time: the shared axis, keys, wheel and mouse, cursor, selected range, export.
#pragma once

#include <QPointer>
#include <QTimer>

#include "gui/model/palette.h"
#include "gui/model/session.h"
#include "gui/widgets/hover_tip.h"
#include "gui/widgets/picture_drawing.h"
#include "gui/widgets/qcp.h"
#include "gui/widgets/tickers.h"
#include "gui/widgets/wheel_mode.h"

namespace tidemark::gui {

/// Returns the box inside of an area, moved sideways as little as needed so that it covers none of the labels.
QRectF moved_beside(QRectF box, const std::vector<QRectF>& labels, QRect area);

class TimePlot : public QCustomPlot {
    Q_OBJECT
public:
    explicit TimePlot(QWidget* parent = nullptr);
    ~TimePlot() override;

    /// With nullptr nothing is open, and the plot says so.
    void set_session(Session* session);
    /// False if another plot right below has the same axis.
    void set_time_labels(bool shown);
    /// Paints every change completely before the call returns.
    void set_synchronous(bool on) { synchronous_ = on; }
    void set_wheel_mode(WheelMode mode) { wheel_mode_ = mode; }
    /// Paints the complete plot, synchronously and at its best, onto an image or an SVG generator.
    void render_to(QPaintDevice& device, QSize size);
    /// Paints the complete plot on screen before it returns.
    void refresh_now();

    /// Zooms vertically; without effect on plots that always show everything.
    void zoom_bytes(double factor, double at_pixel);
    void show_bytes(double low, double high);
    void show_all_bytes() { show_bytes(0, whole_bytes_); }

    static constexpr int left_margin = 92, right_margin = 14, bottom_margin = 24;

signals:
    /// The user asks to zoom to the selection (double click).
    void focus_requested();
    /// The user asks what can be done at a point in time; `at` is on the screen.
    void menu_requested(const TimePoint& point, QPoint at);

protected:
    Session* session() const { return session_; }
    bool has_data() const { return session_ != nullptr && session_->has_device(); }
    const Theme& theme() const { return theme_; }
    QRect area() const { return axisRect()->rect(); }
    void set_top_margin(int pixels);
    /// For plots whose picture covers the grid: the same without a grid where they are exported.
    void hide_grid();
    /// Sets the purpose of the plot for screen readers, which follows the values at the cursor.
    void set_purpose(const QString& sentence);
    void repaint_picture() { replot(rpQueuedReplot); }
    void repaint_overlay();
    double pixel_ratio() const { return exporting_ ? export_ratio_ : bufferDevicePixelRatio(); }
    bool synchronous() const { return exporting_ || synchronous_; }
    AxisMap x_map() const { return time_map(session_->time_view(), area()); }
    AxisMap y_map() const { return byte_map(low(), high(), area()); }
    double position_at(double x) const { return x_map().value(x); }
    void paint_vertical(QCPPainter& painter, double position, const QPen& pen) const;
    /// Returns the table of a tooltip: the time at the pointer, and the values of the column there.
    QString describe_column(QPoint point, const Column& column) const;

    // For subclasses.
    virtual void session_changed() {}
    virtual void session_grown() {}                            ///< the same run, longer; view_changed() follows
    virtual void view_changed() {}                             ///< span, bytes, size, theme or selection
    virtual void paint_picture(QCPPainter& painter) = 0;       ///< below the axes
    virtual void paint_overlay(QCPPainter&) {}                 ///< above everything; cheap
    virtual QRect key_area() const { return {}; }              ///< of the lines' names, which the cursor does not cross
    virtual std::vector<QRectF> labels() const { return {}; }  ///< of the picture, which the range's does not cover
    virtual QString empty_reason() const { return {}; }        ///< the reason for an empty plot, else empty
    virtual QString describe(QPoint) { return {}; }            ///< rich text of the tooltip
    /// The values at both ends of the selected range; empty if another plot says them.
    virtual QString describe_ends(std::pair<double, double>) const { return {}; }
    virtual void clicked(QPoint point) { set_time_point_at(point); }
    virtual void double_clicked(QPoint) {}

    void set_time_point_at(QPoint point);
    /// Returns the point in time under the pointer: the nearest event, or the time itself if no event is near.
    TimePoint point_under(QPoint point) const;
    /// Returns the point that a column shows if events or a repeated step lie in it, else the one under the pointer.
    TimePoint point_under(QPoint point, const Column& column) const;
    /// Sets the vertical axis to 0 to `whole` bytes. Resets a vertical zoom.
    void set_whole_bytes(double whole);
    /// Raises the limit; a vertical zoom stays.
    void grow_whole_bytes(double whole);
    double low() const { return yAxis->range().lower; }
    double high() const { return yAxis->range().upper; }
    double whole_bytes() const { return whole_bytes_; }
    void pan_bytes(double pixels);

    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    class Painted;
    enum class Drag { none, undecided, range, pan, bytes, time_point };

    void apply_theme();
    void report_values();
    QString values_at_cursor() const;
    void follow_time_view();
    void paint_base(QCPPainter& painter);
    /// Paints straight onto the screen: a layer of its own would be cleared and blended as a whole in each frame.
    void paint_cursors(QCPPainter& painter);
    void export_cursors(QCPPainter& painter);
    void paint_range(QCPPainter& painter);
    void paint_range_label(QCPPainter& painter, const QString& text, double middle);
    void hover(QPoint point);
    void drag_to(QPoint point);
    bool on_cursor(QPoint point) const;

    QPointer<Session> session_;
    Theme theme_;
    WheelMode wheel_mode_ = WheelMode::scrolls;
    QString purpose_;
    QSharedPointer<TimeTicker> time_ticker_;
    QPointer<HoverTip> tip_;
    QTimer wheel_rest_;
    Drag drag_ = Drag::none;
    QPoint press_, last_;
    bool space_held_ = false;
    bool exporting_ = false, synchronous_ = false;
    double export_ratio_ = 1;
    int top_margin_ = 10, bottom_margin_ = bottom_margin;
    double whole_bytes_ = 1;
};

}  // namespace tidemark::gui
