// The whole run at a glance, always visible: the highest allocated bytes of every pixel column, reserved above,
// marks, out-of-memory flags, and a brush over what the other plots show.
#pragma once

#include "gui/plot/time_plot.h"

namespace tidemark::gui {

class OverviewPlot : public QWidget {
    Q_OBJECT
public:
    explicit OverviewPlot(QWidget* parent = nullptr);
    void set_session(Session* session);
    void render_to(QPainter& painter, QSize size);
    QSize sizeHint() const override { return {400, 78}; }

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    enum class Grip { none, left, right, inside, outside };

    QRect area() const;
    double pixel(double position) const;
    double position(double pixel) const;
    Grip grip_at(QPoint point) const;
    void drop_picture();
    void paint_run(QPainter& painter, double ratio) const;
    void paint_brush(QPainter& painter) const;
    static QString start_hint(const StartView& start);
    void paint_start_hint(QPainter& painter, double brush_left, double brush_right) const;
    bool has_data() const { return session_ && session_->has_device(); }

    QPointer<Session> session_;
    QPixmap run_;  ///< everything but the brush
    QSize size_;   ///< what is painted for: the widget's size, or an export's
    Grip grip_ = Grip::none;
    double press_ = 0, from_ = 0, to_ = 0;  ///< where the drag began, and the span then
};

}  // namespace tidemark::gui
