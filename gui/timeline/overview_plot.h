// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The whole run, always visible: the highest allocated bytes of every pixel column, reserved above,
// marks, flags of out-of-memory events and of findings, bookmarks, and a brush over what the other plots show.
#pragma once

#include <QLabel>

#include "gui/model/notes_source.h"
#include "gui/timeline/finding_flags.h"
#include "gui/widgets/time_plot.h"

namespace tidemark::gui {

class HoverTip;

class OverviewPlot : public QWidget {
    Q_OBJECT
public:
    explicit OverviewPlot(QWidget* parent = nullptr);
    void set_session(Session* session);
    /// Shows its bookmarks. It must outlive the plot's last use of it; null: none.
    void set_notes(NotesSource* notes);
    void render_to(QPainter& painter, QSize size);
    QSize sizeHint() const override { return {400, 78}; }
    /// Returns the flags of the findings.
    const std::vector<FindingFlag>& flags() const { return flags_; }
    QRectF flag_box(const FindingFlag& flag) const;  ///< in the coordinates of the widget
    QRectF bookmark_box(const Note& note) const;     ///< in the coordinates of the widget

signals:
    void finding_selected(int finding);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    enum class Grip { none, left, right, inside, outside };
    /// A mark that the arrow keys reach: either a flag or a bookmark.
    struct Stop {
        QRectF box;
        const FindingFlag* flag;
        const Note* note;
    };

    QRect area() const;
    AxisMap x_map() const;
    double pixel(double position) const { return x_map().pixel(position); }
    double position(double pixel) const { return x_map().value(pixel); }
    Grip grip_at(QPoint point) const;
    void discard_picture();
    void paint_run(QPainter& painter, double ratio) const;
    void paint_brush(QPainter& painter) const;
    void update_flags();
    void update_busy_link();
    std::vector<QRectF> flag_boxes() const;
    void paint_flags(QPainter& painter) const;
    void paint_steps(QPainter& painter) const;
    const FindingFlag* flag_at(QPoint point) const;
    void paint_bookmarks(QPainter& painter) const;
    const Note* bookmark_at(QPoint point) const;
    QString bookmark_tip(QPoint point) const;  ///< rich text; empty: there is no bookmark
    void show_tip(QPoint point);
    std::vector<Stop> stops() const;  ///< by time
    void go_to_stop(int step);
    void open_stop();
    void leave_stop();
    void paint_stop(QPainter& painter) const;
    bool has_data() const { return session_ && session_->has_device(); }

    QPointer<Session> session_;
    QPointer<NotesSource> notes_;
    QPixmap run_;  ///< everything but the brush and the flags
    std::vector<FindingFlag> flags_;
    int stop_ = -1;  ///< the position in stops() that the keys have reached; -1: none
    HoverTip* tip_ = nullptr;
    QLabel* busy_link_;  ///< below the name of the plot, if the run has a short part with nearly all events
    QSize size_;         ///< the painted size: the widget's, or an export's
    Grip grip_ = Grip::none;
    double press_ = 0, from_ = 0, to_ = 0;  ///< the start of the drag, and the span at that time
};

}  // namespace tidemark::gui
