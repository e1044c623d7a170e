// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The curves of up to four processes of a job on one time axis: in one strip, or each in its own with the same scale.
#pragma once

#include "gui/widgets/qcp.h"
#include "storage/job/job_rows.h"

namespace tidemark::gui {

class RankCurves : public QCustomPlot {
    Q_OBJECT
public:
    explicit RankCurves(QWidget* parent = nullptr);
    /// Puts the time axis below that of another widget, which begins and ends at these distances from the sides.
    void align(int left, int right);
    /// `positions`: in Job::members.
    void show_curves(const JobRows& rows, const std::vector<size_t>& positions);
    void set_apart(bool apart);

protected:
    void changeEvent(QEvent* event) override;

private:
    void draw_curves();
    QCPAxisRect* add_strip();
    void add_curve(QCPAxisRect* strip, int number, int row);

    JobRows rows_;
    std::vector<size_t> positions_;
    bool apart_ = false;
    int left_ = 0, right_ = 0;  ///< margins of the strips
};

}  // namespace tidemark::gui
