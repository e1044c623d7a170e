// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The plots with one time axis, one below the other. The lowest one has the labels of the axis.
#pragma once

#include <QSplitter>

namespace tidemark::gui {

class AllocationsPlot;
class FindingPlot;
class TimelinePlot;

/// In a low window the allocations give their room to the plots above: those show the same memory, by group.
class PlotColumn : public QSplitter {
    Q_OBJECT
public:
    struct Plots {
        TimelinePlot* timeline;
        FindingPlot* finding;
        AllocationsPlot* allocations;
    };
    /// Takes ownership of the plots.
    explicit PlotColumn(const Plots& plots, QWidget* parent = nullptr);

    /// Returns the size without the allocations.
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;
    /// Follows the plot of the finding, which shows and hides itself.
    bool event(QEvent* event) override;

private:
    int least_height_without_allocations() const;
    void share_room();

    Plots plots_;
    bool shows_allocations_ = false;
};

}  // namespace tidemark::gui
