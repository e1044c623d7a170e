// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The curves of up to four processes of a job on one time axis.
#pragma once

#include "gui/widgets/qcp.h"
#include "storage/job/job_rows.h"

namespace tidemark::gui {

class RankCurves : public QCustomPlot {
    Q_OBJECT
public:
    explicit RankCurves(QWidget* parent = nullptr);
    /// `positions`: in Job::members.
    /// Puts the time axis below that of another widget, which begins and ends at these distances from the sides.
    void align(int left, int right);
    void show_curves(const JobRows& rows, const std::vector<size_t>& positions);

protected:
    void changeEvent(QEvent* event) override;

private:
    void apply_theme();

    JobRows rows_;
    std::vector<size_t> positions_;
};

}  // namespace tidemark::gui
