// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The heat map of a job: a row per process, time from left to right, color for bytes.
#pragma once

#include <QAbstractScrollArea>
#include <QImage>

#include "gui/model/palette.h"
#include "gui/widgets/hover_tip.h"
#include "storage/job/job_rows.h"

namespace tidemark::gui {

class HeatMap : public QAbstractScrollArea {
    Q_OBJECT
public:
    static constexpr int most_selected = 4;

    explicit HeatMap(QWidget* parent = nullptr);
    void show_rows(const JobRows& rows);
    const JobRows& rows() const { return rows_; }
    /// Selects processes by their position in Job::members; at most `most_selected`.
    void select(const std::vector<size_t>& positions);
    const std::vector<size_t>& selected() const { return selected_; }
    /// Returns the area of the cells, within the viewport.
    QRect plot() const;
    /// Returns the height at which all rows have their greatest height.
    int height_for_rows() const;

signals:
    void selection_changed(const std::vector<size_t>& positions);
    void open_requested(size_t position);
    void arranged();  ///< the area of the cells may have changed

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void arrange();
    void paint_cells();
    void paint_names(QPainter& painter, const Theme& theme) const;
    void paint_marks(QPainter& painter, const Theme& theme, const std::vector<Severity>& severities,
                     const QRect& box) const;
    void paint_axis(QPainter& painter, const Theme& theme) const;
    void paint_key(QPainter& painter, const Theme& theme) const;
    void paint_selection(QPainter& painter, const Theme& theme) const;
    QString tip(int row, int64_t time) const;
    QString time_text(int64_t time) const;
    QString name(int row) const;
    QString peak(int row) const;
    int row_at(QPoint point) const;
    int row_top(int row) const;
    int64_t time_at(int x) const;
    void choose(int row, bool add);

    JobRows rows_;
    std::vector<size_t> selected_;
    QImage cells_;         ///< one pixel high per row, as wide as the plot
    int row_height_ = 0;   ///< pixels
    int names_width_ = 0;  ///< with the peaks and the marks
    int peaks_width_ = 0;
    HoverTip tip_;
};

}  // namespace tidemark::gui
