// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Memory over time: active bytes stacked by group under the lines of allocated, active and reserved, then the process's
// memory outside the allocator up to nvidia-smi's line; annotations, marks, out-of-memory events and the peak on top.
#pragma once

#include "gui/timeline/annotation_rows.h"
#include "gui/timeline/plot_key.h"
#include "gui/timeline/process_bands.h"
#include "gui/widgets/picture.h"
#include "gui/widgets/picture_worker.h"
#include "gui/widgets/time_plot.h"

namespace tidemark::gui {

class TimelinePlot : public TimePlot {
    Q_OBJECT
public:
    explicit TimelinePlot(QWidget* parent = nullptr);
    /// Returns the picture painted last.
    const TimelinePicture& picture() const { return picture_; }
    /// Returns the memory outside the allocator painted last.
    const ProcessBands& process_bands() const { return bands_; }
    /// Returns the pixel of the peak, where the cursor goes as well; nothing if the plot does not show it.
    std::optional<QPointF> peak_place() const;
    QString describe_ends(std::pair<double, double> range) const override;

protected:
    void session_changed() override;
    void session_grown() override;
    void view_changed() override;
    void paint_picture(QCPPainter& painter) override;
    void paint_overlay(QCPPainter& painter) override;
    QRect key_area() const override;
    std::vector<QRectF> labels() const override { return labels_; }
    QString empty_reason() const override;
    QString describe(QPoint point) override;
    void clicked(QPoint point) override;

private:
    static constexpr int annotation_row_height = 17;  ///< pixels

    void find_highest();
    void take(ProcessBands bands);
    double fit_bytes() const;
    std::optional<int64_t> figure_in_reach() const;
    QString figure_name() const;
    std::vector<KeyEntry> key_of_lines() const;
    std::vector<KeyEntry> key() const;
    void lay_out_annotation_rows();
    void paint_vector(QCPPainter& painter) const;
    std::vector<QRectF> paint_process(QCPPainter& painter, std::vector<QRectF> taken) const;
    std::vector<QRectF> process_places() const;
    std::vector<QRectF> paint_band_labels(QCPPainter& painter) const;
    void paint_annotations(QCPPainter& painter) const;
    void paint_annotation_row(QCPPainter& painter, const std::vector<const Annotation*>& row, QRect strip) const;
    void paint_steps(QCPPainter& painter) const;
    void paint_marks(QCPPainter& painter, const std::vector<QRectF>& labels) const;
    void paint_oom_flags(QCPPainter& painter, const std::vector<QRectF>& labels) const;
    std::optional<QRectF> peak_label(QPointF peak) const;
    void paint_peak(QCPPainter& painter) const;
    QString describe_annotations(double position) const;
    QString describe_groups(size_t column) const;
    QString describe_process(const ProcessMemory& memory) const;

    AnnotationRows annotations_;
    std::vector<int64_t> step_ends_;  ///< ns since trace start, ascending
    TimelinePicture picture_;
    PictureWorker<TimelinePicture> worker_;
    TimePoint peak_;                   ///< of allocated bytes
    int64_t reserved_ = 0;             ///< most bytes
    std::optional<int64_t> figure_{};  ///< of nvidia-smi, if the plot reaches up to its line
    ProcessBands bands_;
    PictureWorker<ProcessBands> bands_worker_;  ///< by itself: the first ones of a trace take longer than a picture
    std::vector<QRectF> labels_;                ///< of bands: where they are
};

}  // namespace tidemark::gui
