// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The memory breakdown over time, from requested bytes up to nvidia-smi's figure.
#pragma once

#include "gui/breakdown/breakdown_picture.h"
#include "gui/widgets/picture_worker.h"
#include "gui/widgets/time_plot.h"

namespace tidemark::gui {

class BreakdownPlot : public TimePlot {
    Q_OBJECT
public:
    explicit BreakdownPlot(QWidget* parent = nullptr);
    const BreakdownPicture& picture() const { return picture_; }

signals:
    /// The components in the shown span, and so their colors, changed.
    void components_changed();

protected:
    void session_changed() override;
    void session_grown() override;
    void view_changed() override;
    void paint_picture(QCPPainter& painter) override;
    QRect key_area() const override;
    QString describe(QPoint point) override;
    void showEvent(QShowEvent* event) override;

private:
    double all_bytes() const;
    void take(BreakdownPicture picture);
    void paint_line_name(QCPPainter& painter) const;

    BreakdownPicture picture_;
    PictureWorker<BreakdownPicture> worker_;
};

}  // namespace tidemark::gui
