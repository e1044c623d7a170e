// The layers from requested bytes up to nvidia-smi's figure, over time.
#pragma once

#include "gui/plot/ledger_picture.h"
#include "gui/plot/picture_worker.h"
#include "gui/plot/time_plot.h"

namespace tidemark::gui {

class LedgerPlot : public TimePlot {
    Q_OBJECT
public:
    explicit LedgerPlot(QWidget* parent = nullptr);
    const LedgerPicture& picture() const { return picture_; }

signals:
    /// The layers that occur in the span shown, which have these colours.
    void layers_changed();

protected:
    void session_changed() override;
    void session_grown() override;
    void view_changed() override;
    void paint_picture(QCPPainter& painter) override;
    QString describe(QPoint point) override;
    void showEvent(QShowEvent* event) override;

private:
    double all_bytes() const;
    void take(LedgerPicture picture);
    void paint_line_name(QCPPainter& painter) const;

    LedgerPicture picture_;
    PictureWorker<PictureRequest, LedgerPicture> worker_;
};

}  // namespace tidemark::gui
