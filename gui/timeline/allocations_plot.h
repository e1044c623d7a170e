// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Every allocation as a band over its lifetime, with those never freed at the bottom. Zooms until every
// allocation can be seen, named and selected.
#pragma once

#include "gui/widgets/picture.h"
#include "gui/widgets/picture_worker.h"
#include "gui/widgets/time_plot.h"

namespace tidemark::gui {

class AllocationsPlot : public TimePlot {
    Q_OBJECT
public:
    explicit AllocationsPlot(QWidget* parent = nullptr);
    ColorBy color_by() const { return color_by_; }
    void set_color_by(ColorBy by);
    /// Zooms time and bytes to the selected allocation's lifetime; returns false if none is selected.
    bool focus_selected();
    /// Returns the allocation drawn at a point of the plot, or no_allocation.
    AllocationIndex allocation_at(QPoint point) const;
    const AllocationsPicture& picture() const { return picture_; }

protected:
    void session_changed() override;
    void session_grown() override;
    void view_changed() override;
    void paint_picture(QCPPainter& painter) override;
    void paint_overlay(QCPPainter& painter) override;
    QString empty_reason() const override;
    QString describe(QPoint point) override;
    void clicked(QPoint point) override;
    void double_clicked(QPoint point) override;

private:
    double all_bytes() const;
    QString lifetime_text(AllocationIndex a) const;

    ColorBy color_by_ = ColorBy::group;
    AllocationsPicture picture_;
    PictureWorker<AllocationsPicture> worker_;
};

}  // namespace tidemark::gui
