// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Reserved memory over time, as recorded and in the model with other settings, above the allocated memory.
#pragma once

#include <memory>
#include <utility>

#include "gui/whatif/shown_replay.h"
#include "gui/widgets/time_plot.h"

namespace tidemark::gui {

class ReservedPlot : public TimePlot {
    Q_OBJECT
public:
    explicit ReservedPlot(QWidget* parent = nullptr);
    /// Null: nothing to draw yet, on the scale of the recorded memory. The replay is of the session's device.
    void show_replay(std::shared_ptr<const ShownReplay> replay);
    QSize sizeHint() const override { return {500, 140}; }
    QStringList key() const;

protected:
    void paint_picture(QCPPainter& painter) override;
    void paint_overlay(QCPPainter& painter) override;
    QString describe(QPoint point) override;

private:
    EventNumber state_at(double position) const;
    void paint_key(QCPPainter& painter);

    std::shared_ptr<const ShownReplay> replay_;
};

}  // namespace tidemark::gui
